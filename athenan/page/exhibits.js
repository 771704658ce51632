// Games that were played, and runs that train.

import { byId, draw, make } from "./line.js";
import { fillSelect } from "./searches.js";

const EVERY = 5000; // milliseconds between two looks at a run
const COLOURS = ["#2f6fb5", "#d64b3c", "#3b9b5f", "#8b58b8", "#e2a829"];

export class Exhibits {
  constructor(tell) {
    this.tell = tell;
    byId("show-games").addEventListener("click", () => this.showGames());
    byId("show-training").addEventListener("click", () => this.showTraining());
    byId("source").addEventListener("change", () => this.askGames());
    byId("run").addEventListener("change", () => this.askRun());
    byId("training").addEventListener("close", () => clearInterval(this.timer));
  }

  setUp({ saved, runs }) {
    this.runs = runs;
    const sources = [...saved.map((name) => [name, `saved: ${name}`]), ...runs.map((name) => [`run:${name}`, `run ${name}`])];
    fillSelect(byId("source"), sources);
    fillSelect(byId("run"), runs.map((name) => [name, name]));
    this.sources = sources;
  }

  showGames() {
    byId("games").showModal();
    if (!this.sources.length) byId("rows").textContent = "There are neither saved games nor runs here.";
    else this.askGames();
  }

  askGames() {
    this.tell({ do: "games", source: byId("source").value });
  }

  listGames({ source, rows }) {
    const table = this.table(source, rows);
    byId("rows").replaceChildren(rows.length ? table : make("p", {}, "There are no games in it yet."));
  }

  table(source, rows) {
    const open = (index) => {
      this.tell({ do: "open", source, index });
      byId("games").close();
      byId("training").close();
    };
    return make("table", {},
      make("thead", {}, make("tr", {}, ...["game", "actions", "result"].map((name) => make("th", {}, name)))),
      make("tbody", {}, ...rows.map(({ index, title, plies, result }) =>
        make("tr", { onclick: () => open(index) },
          make("td", {}, make("button", { onclick: (event) => { event.stopPropagation(); open(index); } }, title)),
          make("td", {}, `${plies}`), make("td", {}, result)))));
  }

  showTraining() {
    byId("training").showModal();
    if (!this.runs.length) {
      byId("run-shown").textContent = "There are no runs here: athenan train makes one.";
      return;
    }
    this.askRun();
    clearInterval(this.timer);
    this.timer = setInterval(() => this.askRun(), EVERY);
  }

  askRun() {
    this.tell({ do: "run", run: byId("run").value });
  }

  showRun({ run, curves, log, steps, games }) {
    if (byId("run").value !== run) return;
    byId("run-shown").replaceChildren(
      make("h2", {}, "Strength over the games of the run"), chart(curves),
      make("p", {}, steps.length ? `Checkpoints after ${steps.map((n) => n.toLocaleString("en")).join(", ")} games.` : "No checkpoint yet."),
      make("h2", {}, "Log"), make("pre", { class: "log", tabindex: 0 }, log.join("\n")),
      make("h2", {}, "Its newest games, to watch"), this.table(`run:${run}`, games),
    );
  }
}

function chart(curves) {
  const names = Object.keys(curves);
  if (!names.length) return make("p", {}, "No matches yet.");
  const [width, height] = [760, 220];
  const most = Math.max(1, ...names.flatMap((name) => curves[name].map(([games]) => games)));
  const x = (games) => 44 + (games / most) * (width - 70);
  const y = (share) => 14 + (1 - share) * (height - 50);
  const parts = [0, 0.5, 1].flatMap((share) => [
    draw("line", { x1: 44, x2: width - 26, y1: y(share), y2: y(share), stroke: "#8884" }),
    draw("text", { x: 38, y: y(share) + 4, "text-anchor": "end" }, `${100 * share} %`)]);
  parts.push(draw("text", { x: width - 26, y: height - 8, "text-anchor": "end" }, most > 1 ? `${most.toLocaleString("en")} games` : ""));
  names.forEach((name, i) => {
    const colour = COLOURS[i % COLOURS.length];
    const points = curves[name];
    parts.push(
      ...points.map(([games, , low, high]) => draw("line", { x1: x(games), x2: x(games), y1: y(low), y2: y(high), stroke: colour, "stroke-opacity": 0.45, "stroke-width": 3 })),
      draw("polyline", { points: points.map(([games, share]) => `${x(games)},${y(share)}`).join(" "), fill: "none", stroke: colour, "stroke-width": 2.5 }),
      ...points.map(([games, share]) => draw("circle", { cx: x(games), cy: y(share), r: 4, fill: colour })),
      draw("circle", { cx: 54 + 130 * i, cy: height - 12, r: 5, fill: colour }),
      draw("text", { x: 64 + 130 * i, y: height - 8 }, `against ${name}`));
  });
  return draw("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Strength" }, ...parts);
}
