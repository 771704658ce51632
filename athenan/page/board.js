// The board: what the server draws, and over it what can be done, by mouse, touch or keyboard.

import { draw, parsed, short, signed } from "./line.js";

const LARGEST = 1.9; // pixels of a unit, so that small boards stay small

export class BoardView {
  // `act(action)` when the clicks make one; `choose(texts)` with what else can be chosen now.
  constructor(place, act, choose) {
    this.place = place;
    this.act = act;
    this.choose = choose;
    this.board = null;
    this.position = null;
    this.active = false;
    this.clicked = [];
    this.at = null; // the cell of the keyboard
  }

  setBoard(board) {
    this.board = board;
    this.position = null;
    this.clicked = [];
    this.at = null;
    this.place.replaceChildren();
    if (!Object.keys(board.cells).length) return;
    const layer = (name) => (this[name] = draw("g"));
    this.svg = draw(
      "svg",
      { viewBox: `0 0 ${board.width} ${board.height}`, role: "group", "aria-label": "Board" },
      ...["ground", "lasts", "figures", "arrows", "targets", "pills", "hits", "rings"].map(layer),
    );
    this.ground.append(...parsed(board.ground));
    for (const [cell, { x, y, name }] of Object.entries(board.cells)) {
      const hit = draw("circle", {
        class: "hit", cx: x, cy: y, r: 20, role: "button", tabindex: -1, "data-cell": cell,
        "aria-label": name,
        onclick: () => { this.at = +cell; this.click(+cell); },
        onfocus: () => { this.at = +cell; this.ring(); },
        onblur: () => this.rings.replaceChildren(),
        onkeydown: (event) => this.key(event, +cell),
      });
      this.hits.append(hit);
    }
    this.hitOf = (cell) => this.hits.querySelector(`[data-cell="${cell}"]`);
    this.svg.style.maxWidth = `${Math.max(420, LARGEST * board.width)}px`;
    this.place.append(this.svg);
    const first = Object.keys(board.cells)[0];
    this.hitOf(first).setAttribute("tabindex", 0);
  }

  show(position, last, active) {
    const fresh = !this.position || this.position.ply !== position.ply || this.active !== active;
    this.position = position;
    this.active = active && !position.outcomes;
    if (fresh) this.clicked = [];
    if (!Object.keys(this.board.cells).length) {
      const text = document.createElement("pre");
      text.textContent = position.text;
      this.place.replaceChildren(text);
    } else {
      this.figures.replaceChildren(...parsed(position.figures));
      this.lasts.replaceChildren(...last.map((cell) => this.mark(cell, "last", 20)));
      for (const [cell, { name }] of Object.entries(this.board.cells)) {
        const level = position.levels[cell] ? `, level ${position.levels[cell]}` : "";
        const piece = position.standing[cell] || "empty";
        this.hitOf(cell).setAttribute("aria-label", `${name}, ${piece}${level}`);
      }
    }
    this.offer();
  }

  mark(cell, kind, size = 19) {
    const { x, y } = this.board.cells[cell];
    return draw("circle", { class: kind, cx: x, cy: y, r: size });
  }

  // ---- What can be done -------------------------------------------------------------------------

  // The paths that go on after these clicks.
  paths(clicked = this.clicked) {
    if (!this.active) return [];
    return this.position.actions.filter(([, , path]) => clicked.every((part, i) => path[i] === part));
  }

  // Where all actions begin with one cell there is no need to click it.
  begun() {
    const firsts = new Set(this.paths([]).map(([, , path]) => path[0]).filter((p) => typeof p === "number"));
    const only = [...firsts][0];
    return firsts.size === 1 && this.paths([]).every(([, , p]) => typeof p[0] !== "number" || p.length > 1) ? [only] : [];
  }

  clicks() {
    return this.clicked.length ? this.clicked : this.begun();
  }

  click(part) {
    if (!this.active) return;
    if (typeof part === "number") part = this.meant(part);
    const tries = [[...this.clicks(), part], [part]];
    for (const clicked of tries) {
      const found = this.paths(clicked);
      if (!found.length) continue;
      const whole = found.find(([, , path]) => path.length === clicked.length);
      if (whole) {
        this.clicked = [];
        this.active = false;
        this.offer();
        this.act(whole[0]);
        return;
      }
      this.clicked = clicked;
      this.offer();
      return;
    }
    this.clicked = [];
    this.offer();
  }

  // Where pieces fall any cell of the column will do.
  meant(cell) {
    if (!this.board.drops) return cell;
    const { x } = this.board.cells[cell];
    const found = this.paths([]).find(([, , [to]]) => typeof to === "number" && this.board.cells[to].x === x);
    return found ? found[2][0] : cell;
  }

  offer() {
    const clicked = this.clicks();
    const next = this.paths(clicked).map(([, , path]) => path[clicked.length]);
    const firsts = this.paths([]).map(([, , path]) => path[0]);
    const buttons = [...next, ...firsts].filter((part) => typeof part === "string");
    this.choose([...new Set(buttons)]);
    if (!Object.keys(this.board.cells).length) return;
    const cells = new Set(next.filter((part) => typeof part === "number"));
    this.targets.replaceChildren(
      ...clicked.filter((p) => typeof p === "number").map((cell) => this.mark(cell, "chosen")),
      ...(clicked.length ? [...cells].map((cell) => this.mark(cell, "target", 7)) : []),
    );
    const can = new Set([...cells, ...firsts]);
    for (const hit of this.hits.children) {
      const cell = +hit.dataset.cell;
      hit.classList.toggle("can", this.board.drops ? can.has(this.meant(cell)) : can.has(cell));
    }
    this.showValues();
  }

  // ---- The keyboard -----------------------------------------------------------------------------

  key(event, cell) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.click(cell);
    } else if (event.key === "Escape") {
      this.clicked = [];
      this.offer();
    } else if (ways[event.key]) {
      event.preventDefault();
      const next = this.neighbour(cell, ...ways[event.key]);
      if (next !== null) this.focus(next);
    }
  }

  // The nearest cell in a direction, the straightest of those.
  neighbour(cell, across, down) {
    const from = this.board.cells[cell];
    let best = null, least = Infinity;
    for (const [other, { x, y }] of Object.entries(this.board.cells)) {
      const ahead = (x - from.x) * across + (y - from.y) * down;
      const aside = Math.abs((x - from.x) * down) + Math.abs((y - from.y) * across);
      if (ahead < 1 || aside > 1.8 * ahead) continue;
      const far = ahead + 2 * aside;
      if (far < least) [best, least] = [+other, far];
    }
    return best;
  }

  focus(cell) {
    this.hits.querySelector("[tabindex='0']")?.setAttribute("tabindex", -1);
    const hit = this.hitOf(cell);
    hit.setAttribute("tabindex", 0);
    hit.focus();
  }

  ring() {
    this.rings.replaceChildren(this.mark(this.at, "focus", 19));
  }

  // ---- What the search sees ---------------------------------------------------------------------

  // Of a thought, or nothing.
  setValues(thought, bound) {
    this.thought = thought;
    this.bound = bound || 1;
    this.showValues();
  }

  showValues() {
    if (!this.pills) return;
    this.pills.replaceChildren();
    this.arrows.replaceChildren();
    const thought = this.thought;
    if (!thought || !thought.children || !this.position) return;
    const paths = new Map(this.position.actions.map(([action, , path]) => [action, path]));
    const clicked = this.clicks();
    const taken = new Set();
    for (const child of thought.children) {
      const path = paths.get(child[0]);
      if (!path || !clicked.every((part, i) => path[i] === part)) continue;
      const rest = path.slice(clicked.length).filter((p) => typeof p === "number");
      const cell = rest[0] ?? path.filter((p) => typeof p === "number").at(-1);
      if (cell === undefined || taken.has(cell)) continue;
      taken.add(cell);
      this.pills.append(this.pill(cell, child, child[0] === thought.action));
    }
    const best = paths.get(thought.action)?.filter((p) => typeof p === "number");
    if (best && best.length > 1) this.arrow(best[0], best.at(-1));
  }

  pill(cell, [, , value, completion, selections, resolved, plies], chosen) {
    const { x, y } = this.board.cells[cell];
    const [fill, ink] = colours(resolved ? completion : value / this.bound, resolved);
    const words = { 1: "win", 0: "draw", "-1": "loss" }[completion];
    const text = resolved ? `${words}${completion && plies !== null ? ` ${plies}` : ""}` : signed(value, this.bound);
    return draw(
      "g", { class: "pill", transform: `translate(${x} ${y})` },
      draw("rect", { x: -18, y: -13, width: 36, height: 26, rx: 8, fill, "fill-opacity": 0.93,
        stroke: chosen ? "#ff8a00" : "#0002", "stroke-width": chosen ? 3 : 1 }),
      draw("text", { y: selections ? -1 : 4, fill: ink }, text),
      selections ? draw("text", { class: "n", y: 9, fill: ink }, short(selections)) : null,
    );
  }

  arrow(from, to) {
    const a = this.board.cells[from], b = this.board.cells[to];
    const length = Math.hypot(b.x - a.x, b.y - a.y);
    const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
    const [tx, ty] = [b.x - 12 * ux, b.y - 12 * uy];
    this.arrows.append(
      draw("path", { class: "arrow", d: `M${a.x + 12 * ux} ${a.y + 12 * uy}L${tx - 6 * ux} ${ty - 6 * uy}`,
        "stroke-width": 5, "stroke-opacity": 0.75 }),
      draw("path", { class: "arrow-head", "fill-opacity": 0.75,
        d: `M${tx + 4 * ux} ${ty + 4 * uy}L${tx - 9 * ux - 7 * uy} ${ty - 9 * uy + 7 * ux}L${tx - 9 * ux + 7 * uy} ${ty - 9 * uy - 7 * ux}Z` }),
    );
  }
}

// From red by grey to green; what is proven is deeper.
function colours(share, proven) {
  const s = Math.max(-1, Math.min(1, share));
  const hue = s >= 0 ? 145 : 6;
  const strength = proven ? 1 : Math.sqrt(Math.abs(s));
  const light = proven ? 36 : 93 - 34 * strength;
  const fill = s === 0 && proven ? "#6d737c" : `hsl(${hue} ${Math.round(12 + 55 * strength)}% ${Math.round(light)}%)`;
  return [fill, proven ? "#ffffff" : "#14181c"];
}
