// The course of a game in one graph: Black's winrate and lead by number of moves, and what each move lost.

import { lossClass } from "./board.js";
import { Graph } from "./graph.js";
import { _, sentences } from "./language.js";

const BARS = 0.45; // of the height, at most

export class Course {
  /** A graph inside `parent`; `onChoose(number)` is called for the number of moves that is clicked. */
  constructor(parent, onChoose) {
    this.graph = new Graph(parent, onChoose, [0, 0, 5, 5]);
    this.key = document.createElement("p");
    this.key.className = "graph-key";
    this.key.ariaHidden = true; // the label of the graph says the same
    parent.append(this.key);
  }

  /** Draw values {winrate, lead}, with holes, of positions 0 to `moves`; `now` is the position that is shown, `lost` are
   * the points lost by each move, as far as they are known. */
  show(values, moves, now, lost) {
    const widest = Math.max(10, ...values.filter(Boolean).map(({ lead }) => Math.abs(lead)));
    const most = Math.max(10, ...lost);
    this.graph.show(moves, now, [
      { kind: (move) => `graph-lost ${lossClass(lost[move])}`, values: lost, low: 0, high: most / BARS },
      { kind: "graph-lead", values: values.map((value) => value?.lead), low: -widest, high: widest, marks: [0] },
      { kind: "graph-winrate", values: values.map((value) => value?.winrate), low: 0, high: 1 },
    ]);
    const texts = { winrate: _("Black's winrate"), lead: _("lead (±{points} points)", { points: widest.toFixed(0) }) };
    if (lost.length) texts.lost = _("points lost (up to {points})", { points: most.toFixed(0) });
    this.key.replaceChildren(...Object.entries(texts).map(([kind, textContent]) => Object.assign(document.createElement("span"), { className: `key-${kind}`, textContent })));
    const known = values[now];
    this.graph.svg.setAttribute("aria-label", sentences(
      _("Winrate (green) and lead (orange, up to {points} points) of Black over {moves} moves.", { points: widest.toFixed(0), moves }),
      lost.length ? _("Points lost by each move (bars, up to {points}).", { points: most.toFixed(0) }) : "",
      known ? _("Here {percent}%.", { percent: (100 * known.winrate).toFixed(0) }) : "",
    ));
  }
}
