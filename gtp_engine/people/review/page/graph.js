// A graph by number of moves, to point at, click and drag in and to step through by keys: lines, bars and dots over their scales.

import { svg } from "./board.js";

const PAGE = 10; // moves of the keys Page up and Page down

export class Graph {
  /** A graph inside `parent`; `onChoose(number)` is called for the number of moves that is chosen, and `textOf(number)`
   * returns what is said about it. `margins` are pixels beside the graph, for its scales: [left, right, top, bottom]. */
  constructor(parent, onChoose, margins, textOf = (/** @type {number} */ _number) => "") {
    this.onChoose = onChoose;
    this.margins = margins;
    this.textOf = textOf;
    this.moves = this.now = 0;
    this.pointed = null; // the number under the pointer
    this.series = [];
    this.svg = svg("svg", { role: "slider", tabindex: 0, "aria-valuemin": 0 });
    this.readout = Object.assign(document.createElement("p"), { className: "graph-readout", ariaHidden: "true" });
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture?.(event.pointerId);
      this.choose(this.numberAt(event));
    });
    this.svg.addEventListener("pointermove", (event) => {
      this.point(this.numberAt(event));
      if (event.buttons) this.choose(this.pointed);
    });
    this.svg.addEventListener("pointerleave", () => this.point(null));
    this.svg.addEventListener("keydown", (event) => {
      const { now, moves } = this;
      const number = { ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, PageUp: now + PAGE, PageDown: now - PAGE, Home: 0, End: moves }[event.key];
      if (number === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.choose(Math.max(0, Math.min(moves, number)));
    });
    parent.append(this.svg, this.readout);
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  choose(number) {
    if (number !== this.now) this.onChoose(number);
  }

  numberAt({ clientX }) {
    const box = this.svg.getBoundingClientRect();
    const [left, right] = this.margins;
    const share = (clientX - box.left - left) / Math.max(1, box.width - left - right);
    return Math.max(0, Math.min(this.moves, Math.round(share * this.moves)));
  }

  point(number) {
    if (number === this.pointed) return;
    this.pointed = number;
    this.draw();
  }

  /** Draw the positions 0 to `moves`, of which `now` is shown. Each of `series` has `values`, with holes, from `low` to
   * `high`, and a `kind`, the class of its line, which ends before a hole; or of its bars, by move, if `kind` is a function
   * of the move. Besides, as far as given: `marks` across the graph with their `text`, at the right with `isRight`, `area` for a
   * filled line, and `dots`, [number, kind]. */
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
    const drawn = [];
    for (const { kind, values, low, high, marks = [], text, isRight = false, area, dots = [] } of this.series) {
      const y = (value) => floor - ((floor - top) * (value - low)) / (high - low);
      for (const mark of marks) {
        drawn.push(svg("line", { class: "graph-mark", x1: left, x2: width - right, y1: y(mark), y2: y(mark) }));
        if (text) drawn.push(svg("text", { x: isRight ? width - right + 5 : left - 5, y: y(mark) + 4, "text-anchor": isRight ? "start" : "end" }, text(mark)));
      }
      if (kind instanceof Function) {
        const step = x(1) - x(0);
        values.forEach((value, move) => value && drawn.push(svg("rect", {
          class: kind(move), x: x(move + 0.5) - Math.max(1, 0.4 * step), width: Math.max(2, 0.8 * step),
          y: Math.min(y(0), y(value)), height: Math.abs(y(0) - y(value)),
        })));
        continue;
      }
      for (const [start, end] of runsOf(values)) {
        const points = [];
        for (let number = start; number < end; number++) points.push(`${x(number).toFixed(1)},${y(values[number]).toFixed(1)}`);
        if (area) drawn.push(svg("path", { class: area, d: `M${x(start)},${floor} L${points.join(" L")} L${x(end - 1)},${floor} Z` }));
        // A position alone is a line of no length, whose ends are round.
        drawn.push(svg("polyline", { points: (points.length > 1 ? points : [points[0], points[0]]).join(" "), class: kind, "stroke-linecap": "round" }));
      }
      for (const [number, dot] of dots) drawn.push(svg("circle", { class: dot, cx: x(number), cy: y(values[number]), r: 3.2 }));
    }
    const step = this.moves >= 120 ? 50 : this.moves >= 40 ? 20 : 10;
    for (let number = 0; bottom > 10 && number <= this.moves; number += step) drawn.push(svg("text", { x: x(number), y: height - 4, "text-anchor": "middle" }, String(number)));
    for (const [kind, number] of [["graph-now", this.now], ["graph-pointed", this.pointed]]) {
      if (number !== null) drawn.push(svg("line", { class: kind, x1: x(number), x2: x(number), y1: top, y2: floor }));
    }
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("aria-valuemax", String(this.moves));
    this.svg.setAttribute("aria-valuenow", String(this.now));
    this.svg.setAttribute("aria-valuetext", this.textOf(this.now));
    this.svg.replaceChildren(...drawn);
    this.readout.textContent = this.textOf(this.pointed ?? this.now);
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
