// A graph by number of moves, to click into: lines, bars and dots over their scales.

import { svg } from "./board.js";

export class Graph {
  /** A graph inside `parent`; `onChoose(number)` is called for the number of moves that is clicked. `margins` are pixels
   * beside the graph, for the texts of its scales: [left, right, top, bottom]. */
  constructor(parent, onChoose, margins) {
    this.margins = margins;
    this.moves = this.now = 0;
    this.series = [];
    this.svg = svg("svg", { role: "img" });
    this.svg.addEventListener("click", (event) => {
      const box = this.svg.getBoundingClientRect();
      const [left, right] = margins;
      onChoose(Math.round(((event.clientX - box.left - left) / (box.width - left - right)) * Math.max(1, this.moves)));
    });
    parent.append(this.svg);
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  /** Draw the positions 0 to `moves`, of which `now` is shown. Each of `series` has `values`, with holes, from `low` to
   * `high`, and a `kind`, the class of its line, which ends before a hole; or of its bars, by move, if `kind` is a function
   * of the move. Besides, as far as given: `marks` across the graph with their `text`, `area` for a filled line, and
   * `dots`, [number, kind]. */
  show(moves, now, series) {
    Object.assign(this, { moves, now, series });
    this.draw();
  }

  draw() {
    const [left, right, top, bottom] = this.margins;
    const width = Math.max(200, this.svg.clientWidth);
    const height = Math.max(50, this.svg.clientHeight);
    const floor = height - bottom;
    const x = (number) => left + ((width - left - right) * number) / Math.max(1, this.moves);
    const across = (kind, y) => svg("line", { class: kind, x1: left, x2: width - right, y1: y, y2: y });
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren();
    for (const { kind, values, low, high, marks = [], text, area, dots = [] } of this.series) {
      const y = (value) => floor - ((floor - top) * (value - low)) / (high - low);
      for (const mark of marks) {
        this.svg.append(across("graph-mark", y(mark)));
        if (text) this.svg.append(svg("text", { x: left - 6, y: y(mark) + 4, "text-anchor": "end" }, text(mark)));
      }
      if (kind instanceof Function) {
        const step = x(1) - x(0);
        values.forEach((value, move) => value && this.svg.append(svg("rect", {
          class: kind(move), x: x(move + 0.5) - Math.max(1, 0.4 * step), width: Math.max(2, 0.8 * step),
          y: Math.min(y(0), y(value)), height: Math.abs(y(0) - y(value)),
        })));
        continue;
      }
      for (const [start, end] of runsOf(values)) {
        const points = [];
        for (let number = start; number < end; number++) points.push(`${x(number).toFixed(1)},${y(values[number]).toFixed(1)}`);
        if (area) this.svg.append(svg("path", { class: area, d: `M${x(start)},${floor} L${points.join(" L")} L${x(end - 1)},${floor} Z` }));
        // A position alone is a line of no length, whose ends are round.
        this.svg.append(svg("polyline", { points: (points.length > 1 ? points : [points[0], points[0]]).join(" "), class: kind, "stroke-linecap": "round" }));
      }
      for (const [number, dot] of dots) this.svg.append(svg("circle", { class: dot, cx: x(number), cy: y(values[number]), r: 3.2 }));
    }
    const step = this.moves >= 120 ? 50 : this.moves >= 40 ? 20 : 10;
    for (let number = 0; bottom > 10 && number <= this.moves; number += step) {
      this.svg.append(svg("text", { x: x(number), y: height - 4, "text-anchor": "middle" }, number));
    }
    this.svg.append(svg("line", { class: "graph-now", x1: x(this.now), x2: x(this.now), y1: top, y2: floor }));
  }
}

/** Return the stretches of values without a hole, each [start, end]. */
function runsOf(values) {
  const runs = [];
  for (let number = 0; number < values.length; number++) {
    if (values[number] === undefined || values[number] === null) continue;
    if (runs.at(-1)?.[1] === number) runs.at(-1)[1] = number + 1;
    else runs.push([number, number + 1]);
  }
  return runs;
}
