// What the searches see: value, reason, line, candidates and tree of each, and the game's curve.

import { draw, make, short, signed } from "./line.js";

const WORDS = { 1: "win", 0: "draw", "-1": "loss" };
const CLASSES = { 1: "won", 0: "drawn", "-1": "lost" };
const SHOWN = 40; // candidates

export class SearchPanel {
  // `tell` sends; `peek(side, actions)` shows a line's board.
  constructor(side, tell, peek, pick) {
    this.side = side;
    this.tell = tell;
    this.peek = peek;
    this.nodes = new Map(); // of the tree, by their actions
    this.search = make("select", { onchange: () => this.changed(), "aria-label": `Search ${side}` });
    this.evaluator = make("select", { onchange: () => this.changed(), "aria-label": `Evaluator ${side}` });
    this.evaluations = make("input", { type: "number", min: 1, onchange: () => this.changed(), "aria-label": `Evaluations ${side}` });
    this.chosen = make("input", { type: "radio", name: "shown", value: side, onchange: () => pick(side) });
    this.name = make("h2", {}, make("label", {}, this.chosen, ` Program ${side.toUpperCase()}`));
    this.seen = make("div", { class: "seen", "aria-label": `What program ${side.toUpperCase()} sees` });
    this.tree = make("div", { class: "tree" });
    this.place = make(
      "div", { class: "search", id: `search-${side}` }, this.name,
      make("div", { class: "setup" },
        make("label", {}, "Search", this.search), make("label", {}, "Evaluator", this.evaluator),
        make("label", {}, "Evaluations an action", this.evaluations)),
      this.seen,
      make("details", { ontoggle: (event) => event.target.open && this.openTree() },
        make("summary", {}, "The tree, node by node"), this.tree),
    );
  }

  changed() {
    this.tell({
      do: "players",
      [this.side]: {
        search: this.search.value, evaluator: this.evaluator.value,
        evaluations: Math.max(1, Math.round(+this.evaluations.value || 1)),
      },
    });
  }

  setUp(player, searches, evaluators, most) {
    fillSelect(this.search, searches.map(({ name }) => [name, name]), player?.search);
    fillSelect(this.evaluator, evaluators.map((name) => [name, { rollout: "random games", zero: "none (zero)" }[name] || name]), player?.evaluator);
    this.evaluations.max = most;
    if (player && document.activeElement !== this.evaluations) this.evaluations.value = player.evaluations;
    const about = searches.find(({ name }) => name === player?.search)?.about;
    if (about) this.search.title = about;
  }

  clear() {
    this.thought = null;
    this.seen.replaceChildren();
    this.tree.replaceChildren();
    this.nodes.clear();
  }

  show(thought, players, bound) {
    this.thought = thought;
    this.bound = bound;
    if (!thought.children) return;
    const scroll = this.seen.querySelector(".candidates")?.scrollTop ?? 0;
    this.seen.replaceChildren(
      score(thought, players, bound), bar(thought, players, bound), this.reason(thought),
      this.line(thought, players), this.candidates(thought),
    );
    this.seen.querySelector(".candidates").scrollTop = scroll;
    if (thought.over && this.tree.closest("details").open) this.openTree();
  }

  reason(thought) {
    const chosen = thought.children.find((child) => child[0] === thought.action);
    if (!chosen) return make("p", { class: "why" }, thought.why.sentence);
    return make("p", { class: "why" }, "Why ", make("b", {}, chosen[1]), `: ${thought.why.sentence}.`);
  }

  line(thought, players) {
    return make(
      "div", { class: "pv", role: "group", "aria-label": "The line it expects" },
      ...thought.line.slice(0, 24).map(([, text, mover], i) =>
        make("button", { onclick: () => this.peek(this.side, thought.line.slice(0, i + 1).map(([a]) => a)), title: "look at the board there" },
          dot(players[mover]), text)),
    );
  }

  candidates(thought) {
    const rows = thought.children.slice(0, SHOWN).map((child) => {
      const [action, text, value, completion, selections, resolved, plies] = child;
      const proven = resolved ? `${WORDS[completion]}${plies !== null ? ` in ${plies}` : ""}` : "";
      return make(
        "tr", { "data-action": action, class: action === thought.action ? "picked" : null, onclick: () => this.peek(this.side, [action]) },
        make("td", {}, text), make("td", { class: resolved ? CLASSES[completion] : null }, proven),
        make("td", {}, signed(value, this.bound)), make("td", {}, selections.toLocaleString("en")),
      );
    });
    const hidden = thought.children.length - rows.length;
    return make(
      "div", { class: "candidates", tabindex: 0 },
      make("table", { "aria-label": "Candidates, the best first" },
        make("thead", {}, make("tr", {}, make("th", {}, "action"), make("th", { title: "c: what is proven, with the plies to the end" }, "proven c"),
          make("th", { title: "v: in the view of who moves" }, "value v"), make("th", { title: "n: how often it was selected" }, "selections n"))),
        make("tbody", {}, ...rows)),
      hidden > 0 ? make("small", {}, `and ${hidden} more`) : null,
    );
  }

  // ---- The tree ---------------------------------------------------------------------------------

  openTree() {
    this.nodes.clear();
    this.tell({ do: "look", for: "tree", side: this.side, actions: [] });
  }

  grow(message) {
    const { actions, thought } = message;
    const list = make("ul", {});
    if (!thought || !thought.children || !thought.children.length) {
      list.append(make("li", {}, make("small", {}, "nothing below is in the tree")));
    } else {
      for (const [action, text, value, completion, selections, resolved, plies] of thought.children.slice(0, 60)) {
        const path = [...actions, action];
        const proven = resolved ? `${WORDS[completion]}${plies !== null ? ` in ${plies}` : ""}` : `v ${signed(value, this.bound)}`;
        const below = make("li", {});
        const toggle = make("button", {
          "aria-expanded": "false",
          onclick: () => {
            const open = below.querySelector("ul");
            if (open) { open.remove(); toggle.setAttribute("aria-expanded", "false"); return; }
            this.nodes.set(path.join(), [below, toggle]);
            this.tell({ do: "look", for: "tree", side: this.side, actions: path });
          },
        }, `▸ ${text}  `, make("span", { class: resolved ? CLASSES[completion] : null }, proven), `  n ${short(selections)}`);
        below.append(toggle, make("button", { title: "look at the board there", "aria-label": `Look at ${text}`, onclick: () => this.peek(this.side, path) }, "⌕"));
        list.append(below);
      }
    }
    if (!actions.length) { this.tree.replaceChildren(list); return; }
    const [below, toggle] = this.nodes.get(actions.join()) || [];
    if (below) { below.querySelector("ul")?.remove(); below.append(list); toggle.setAttribute("aria-expanded", "true"); }
  }
}

export function fillSelect(select, entries, value) {
  const key = JSON.stringify(entries);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...entries.map(([name, text]) => make("option", { value: name }, text)));
  }
  if (value !== undefined && value !== null) select.value = value;
}

export function dot(player) {
  const made = make("span", { class: "dot" });
  made.style.background = player?.colour ?? "#888";
  return made;
}

function score(thought, players, bound) {
  const mover = players[thought.mover];
  const words = { 1: "wins", 0: "draws", "-1": "loses" };
  const sign = Math.round(thought.completion);
  const headline = thought.resolved
    ? make("b", { class: CLASSES[sign] }, `${mover.name} ${words[sign]}${thought.plies !== null && thought.plies !== undefined ? ` in ${thought.plies}` : ""}`)
    : make("b", {}, signed(thought.own, bound));
  const detail = thought.resolved ? "proven" : `for ${mover.name}, who moves${bound > 2 ? `, from −${Math.round(bound)} to ${Math.round(bound)}` : ""}`;
  return make("div", { class: "score" }, headline, make("small", {}, detail),
    make("small", {}, `${thought.evaluations.toLocaleString("en")} evaluations, ${thought.seconds} s${thought.over ? "" : " …"}`));
}

// How much of the bar is whose.
function bar(thought, players, bound) {
  const values = Array.isArray(thought.value) ? thought.value : [thought.value, -thought.value];
  const shares = values.map((value) => Math.max(0.02, (value / (bound || 1) + 1) / 2));
  const all = shares.reduce((a, b) => a + b, 0);
  return make("div", { class: "bar", role: "img", "aria-label": "Who is ahead" }, ...shares.map((share, i) => {
    const part = make("i");
    part.style.width = `${(100 * share) / all}%`;
    part.style.background = players[i]?.colour ?? "#888";
    return part;
  }));
}

// The values along a game; a click goes there.
export function curve(place, values, at, plies, players, bound, go) {
  place.replaceChildren();
  if (!values.some((value) => value !== null && value !== undefined)) return;
  const [width, height, top] = [Math.max(280, place.clientWidth), 112, 12];
  const x = (ply) => 12 + (plies ? (ply / plies) * (width - 24) : 0);
  const y = (value) => top + ((1 - value / (bound || 1)) / 2) * (height - 2 * top);
  const several = values.some(Array.isArray);
  const parts = [draw("line", { x1: 12, x2: width - 12, y1: y(0), y2: y(0), stroke: "#8888", "stroke-dasharray": "3 4" }),
    draw("line", { x1: x(at), x2: x(at), y1: 4, y2: height - 4, stroke: "#ff8a00", "stroke-width": 2 })];
  for (let player = 0; player < (several ? players.length : 1); player += 1) {
    const points = values.map((value, ply) => (value === null || value === undefined ? null : [x(ply), y(several ? value[player] : value)])).filter(Boolean);
    const colour = several ? players[player].colour : "var(--accent)";
    parts.push(draw("polyline", { points: points.map((p) => p.join()).join(" "), fill: "none", stroke: colour, "stroke-width": 2.5, "stroke-linejoin": "round" }),
      ...points.map(([px, py]) => draw("circle", { cx: px, cy: py, r: 3, fill: colour })));
  }
  if (!several) parts.push(draw("text", { x: 14, y: 14 }, `${players[0].name} ahead`), draw("text", { x: 14, y: height - 5 }, `${players[1].name} ahead`));
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Values along the game; click to go there" }, ...parts);
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * width - 12) / (width - 24);
    go(Math.max(0, Math.min(plies, Math.round(share * plies))));
  });
  place.append(svg);
}
