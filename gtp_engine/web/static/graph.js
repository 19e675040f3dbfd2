// The course of a game: Black's winrate and lead by number of moves, and what each move lost, to click into.

import { svg } from "./board.js";

const [WIDTH, HEIGHT] = [300, 100];

export class Graph {
  /** A graph inside `parent`; `onChoose(number)` is called for the number of moves that is clicked. */
  constructor(parent, onChoose) {
    this.parent = parent;
    this.length = 1;
    this.svg = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    this.svg.addEventListener("click", (event) => {
      const box = this.svg.getBoundingClientRect();
      onChoose(Math.round(((event.clientX - box.left) / box.width) * (this.length - 1)));
    });
    this.key = document.createElement("p");
    this.key.className = "graph-key";
    this.key.ariaHidden = true; // the label of the graph says the same
    parent.append(this.svg, this.key);
  }

  /** Draw values {winrate, lead}, with holes, of positions 0 to `moves`; `now` is the position that is shown, `lost` are
   * the points lost by each move, as far as they are known. */
  show(values, moves, now, lost) {
    this.length = Math.max(2, moves + 1);
    const x = (number) => (number / (this.length - 1)) * WIDTH;
    const widest = Math.max(10, ...values.filter(Boolean).map(({ lead }) => Math.abs(lead)));
    const line = (kind, y) => {
      const points = values.map((value, number) => value && `${x(number).toFixed(1)},${y(value).toFixed(1)}`).filter(Boolean);
      return svg("polyline", { class: kind, points: points.join(" ") });
    };
    const most = Math.max(10, ...lost);
    const bars = lost.map((points, number) => points && svg("line", {
      class: "graph-lost", x1: x(number + 1), x2: x(number + 1), y1: HEIGHT, y2: HEIGHT * (1 - 0.45 * points / most),
    })).filter(Boolean);
    this.svg.replaceChildren(
      ...bars,
      svg("line", { class: "graph-middle", x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2 }),
      line("graph-lead", ({ lead }) => HEIGHT / 2 - (lead / widest) * HEIGHT * 0.46),
      line("graph-winrate", ({ winrate }) => HEIGHT * (0.96 - 0.92 * winrate)),
      svg("line", { class: "graph-now", x1: x(now), x2: x(now), y1: 0, y2: HEIGHT }),
    );
    const texts = { winrate: "Black's winrate", lead: `lead (±${widest.toFixed(0)} points)` };
    if (lost.length) texts.lost = `points lost (up to ${most.toFixed(0)})`;
    this.key.replaceChildren(...Object.entries(texts).map(([kind, textContent]) => Object.assign(document.createElement("span"), { className: `key-${kind}`, textContent })));
    const known = values[now];
    this.svg.setAttribute("aria-label", `Winrate (green) and lead (orange, up to ${widest.toFixed(0)} points) of Black over ${moves} moves.${lost.length ? ` Points lost by each move (red, up to ${most.toFixed(0)}).` : ""}${known ? ` Here ${(100 * known.winrate).toFixed(0)} %.` : ""}`);
  }
}
