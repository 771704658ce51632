// The page: what the server tells goes to its parts, what the visitor does goes to the server.

import { BoardView } from "./board.js";
import { Exhibits } from "./exhibits.js";
import { byId, connect, make } from "./line.js";
import { curve, dot, fillSelect, SearchPanel } from "./searches.js";

const page = { catalogue: null, game: null, position: null, thoughts: {}, shown: "a", peek: null, waiting: false };

const tell = connect(hear, (reason) => notice(reason || "The server has gone; load the page again to go on.", true));
const view = new BoardView(byId("board"), act, showChoices);
const panels = { a: panel("a"), b: panel("b") };
const exhibits = new Exhibits(tell);

function panel(side) {
  return new SearchPanel(side, tell, (from, actions) => tell({ do: "look", for: "peek", side: from, actions }), (shown) => {
    page.shown = shown;
    showSearch();
  });
}

function hear(message) {
  const kinds = {
    catalogue: setCatalogue, game: setGame, position: setPosition, thought: setThought,
    look: setLook, games: (m) => exhibits.listGames(m), run: (m) => exhibits.showRun(m),
    error: (m) => { notice(m.sentence); if (page.position) showPosition(); },
    refused: (m) => notice(m.sentence, true), waiting: () => { page.waiting = true; showStatus(); },
  };
  kinds[message.type]?.(message);
}

let hiding = 0;
function notice(sentence, stays = false) {
  byId("notice").textContent = sentence;
  byId("notice").hidden = !sentence;
  clearTimeout(hiding);
  if (!stays) hiding = setTimeout(() => { byId("notice").hidden = true; }, 6000);
}

// ---- The game -----------------------------------------------------------------------------------

function setCatalogue(catalogue) {
  const first = !page.catalogue;
  page.catalogue = catalogue;
  fillSelect(byId("game"), catalogue.games.map(({ name, title }) => [name, title]), first ? catalogue.game : undefined);
  exhibits.setUp(catalogue);
  if (first) tell({ do: "new", game: location.hash.slice(1) || catalogue.game });
}

function setGame(game) {
  const same = page.game && JSON.stringify(page.game.board) === JSON.stringify(game.board);
  page.game = game;
  page.thoughts = {};
  page.peek = null;
  if (!same) view.setBoard(game.board);
  byId("game").value = game.game;
  const title = page.catalogue.games.find(({ name }) => name === game.game)?.title ?? game.game;
  document.title = `${title} – athenan`;
  byId("analyse").checked = game.analysing;
  byId("compare").checked = Boolean(game.players.b);
  Object.values(panels).forEach((one) => one.clear());
  showSeats();
  showSearches();
}

function showSeats() {
  const { board, seats, goals } = page.game;
  const alike = new Set(goals).size === 1; // one sentence is enough
  const aim = alike && goals[0] ? make("p", { class: "goal" }, `${goals[0][0].toUpperCase()}${goals[0].slice(1)}.`) : "";
  byId("seats").replaceChildren(aim, ...board.players.map((player, i) => {
    const choice = make("select", {
      "aria-label": `Who plays ${player.name}`,
      onchange: () => tell({ do: "seats", seats: [...byId("seats").querySelectorAll("select")].map((s) => s.value) }),
    }, ...[["you", "You"], ["a", "Program A"], ["b", "Program B"]].map(([value, text]) => make("option", { value, selected: seats[i] === value }, text)));
    const goal = goals[i] && !alike ? make("small", {}, goals[i]) : null;
    return make("div", { class: "seat" }, dot(player), make("span", { class: "who" }, player.name, goal), choice);
  }));
}

function showSearches() {
  const { players, evaluators } = page.game;
  const { searches, most_evaluations: most } = page.catalogue;
  const sides = ["a", "b"].filter((side) => players[side]);
  document.querySelector("main").classList.toggle("comparing", sides.length > 1);
  byId("searches").replaceChildren(...sides.map((side) => panels[side].place));
  for (const side of sides) panels[side].setUp(players[side], searches, evaluators, most);
  if (!sides.includes(page.shown)) page.shown = "a";
  for (const side of sides) {
    panels[side].chosen.checked = side === page.shown;
    panels[side].chosen.hidden = sides.length < 2;
  }
}

function setPosition(position) {
  page.position = position;
  page.thoughts = {};
  page.peek = null;
  page.waiting = false;
  for (const side of ["a", "b"]) {
    panels[side].clear();
    if ((mover() === side && !position.paused) || (page.game.analysing && !position.outcomes)) panels[side].seen.textContent = "…";
  }
  view.setValues(null);
  showPosition();
}

function mover() {
  const { outcomes, to_move: player } = page.position;
  return outcomes ? null : page.game.seats[player];
}

function showPosition() {
  const { position, peek, game } = page;
  const shown = peek ? peek.position : position;
  const yours = !peek && (mover() === "you" || position.paused);
  view.show(shown, peek ? [] : position.last, yours);
  byId("peek").hidden = !peek;
  if (peek) byId("peek-words").textContent = `Looking ahead: ${peek.words.join(" ")}`;
  const end = position.line.length;
  byId("first").disabled = byId("back").disabled = position.at === 0;
  byId("last").disabled = byId("forth").disabled = position.at === end;
  byId("undo").disabled = position.at === 0;
  byId("hurry").hidden = !["a", "b"].includes(mover()) || position.paused;
  byId("resume").hidden = !position.paused || mover() === "you" || position.outcomes !== null;
  byId("typed-action").disabled = !yours || Boolean(position.outcomes);
  byId("line").replaceChildren(...position.line.map(([text, player], i) => make("li", {},
    make("button", { "aria-current": position.at === i + 1 ? "step" : null, onclick: () => go(i + 1) },
      dot(game.board.players[player]), text))));
  const current = byId("line").querySelector("[aria-current]");
  if (current) byId("line").scrollTop = current.offsetTop - byId("line").offsetTop - 60; // the page stays
  showCurve();
  showSearch();
  showStatus();
}

function showCurve() {
  const { position, game } = page;
  curve(byId("curve"), position.values, position.at, position.line.length, game.board.players, game.bounds.a ?? 1, go);
}

function showStatus() {
  const { position, game, peek } = page;
  const shown = peek ? peek.position : position;
  const player = game.board.players[shown.to_move];
  const parts = [];
  if (shown.outcomes) {
    const winners = shown.outcomes.flatMap((outcome, i) => (outcome > 0 ? [i] : []));
    const yours = winners.some((i) => game.seats[i] === "you") && game.seats.some((seat) => seat !== "you");
    const words = winners.length ? `${winners.map((i) => game.board.players[i].name).join(" and ")} won` : "A draw";
    if (winners.length) parts.push(dot(game.board.players[winners[0]]));
    parts.push(`${words[0].toUpperCase()}${words.slice(1)}${yours ? ": you win!" : "."}`);
    if (shown.score !== null) parts.push(make("small", {}, ` score ${[shown.score].flat().join(", ")}`));
  } else {
    const seat = mover();
    const who = peek || seat === "you" || position.paused ? `${player.name} to move` : `Program ${seat.toUpperCase()} thinks for ${player.name}`;
    parts.push(dot(player), who);
    if (shown.part) parts.push(make("small", {}, ` – ${shown.part}`));
    if (page.waiting) parts.push(make("small", {}, " – waiting for its turn on this machine"));
  }
  if (game.title) parts.push(make("small", {}, ` – ${game.title}`));
  byId("status").replaceChildren(...parts);
}

function showChoices(texts) {
  byId("choices").replaceChildren(...texts.map((text) => make("button", { onclick: () => view.click(text) }, text)));
}

function act(action) {
  tell({ do: "play", action, at: page.position.at });
}

function go(at) {
  tell({ do: "go", at });
}

// ---- The search ---------------------------------------------------------------------------------

function setThought(thought) {
  if (thought.at !== page.position.at) return;
  page.waiting = false;
  page.thoughts[thought.side] = thought;
  if (thought.side === "a" && thought.value !== undefined) {
    page.position.values[thought.at] = thought.value;
    showCurve();
  }
  panels[thought.side].show(thought, page.game.board.players, page.game.bounds[thought.side]);
  showSearch();
}

function showSearch() {
  if (!page.position) return;
  const side = page.thoughts[page.shown] ? page.shown : Object.keys(page.thoughts)[0];
  const thought = page.peek ? page.peek.thought : page.thoughts[side];
  const visible = byId("values").checked && thought;
  view.setValues(visible ? thought : null, page.game.bounds[side]);
}

function setLook(message) {
  if (message.at !== page.position.at) return;
  if (message.for === "tree") {
    panels[message.side].grow(message);
    return;
  }
  page.peek = message;
  showPosition();
}

function endPeek() {
  page.peek = null;
  showPosition();
}

// ---- What the visitor does ----------------------------------------------------------------------

const on = (id, kind, listener) => byId(id).addEventListener(kind, listener);
on("new", "click", () => tell({ do: "new", game: byId("game").value }));
on("game", "change", () => tell({ do: "new", game: byId("game").value }));
on("undo", "click", () => tell({ do: "undo" }));
on("first", "click", () => go(0));
on("back", "click", () => go(page.position.at - 1));
on("forth", "click", () => go(page.position.at + 1));
on("last", "click", () => go(page.position.line.length));
on("hurry", "click", () => tell({ do: "stop" }));
on("resume", "click", () => tell({ do: "resume" }));
on("analyse", "change", () => tell({ do: "analyse", on: byId("analyse").checked }));
on("values", "change", showSearch);
on("compare", "change", () => tell({ do: "players", b: byId("compare").checked ? {} : null }));
on("peek-back", "click", endPeek);
on("peek-play", "click", () => tell({ do: "line", actions: page.peek.actions, at: page.position.at }));
on("typed", "submit", (event) => {
  event.preventDefault();
  const text = byId("typed-action").value.trim();
  if (text) tell({ do: "type", text });
  byId("typed-action").value = "";
});
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && page.peek) endPeek();
  if (event.key === "u" && !byId("undo").disabled) byId("undo").click();
  if (event.key === "[" && !byId("back").disabled) byId("back").click();
  if (event.key === "]" && !byId("forth").disabled) byId("forth").click();
});

tell({ do: "hello" });
