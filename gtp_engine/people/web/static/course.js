// The course of a game in one graph: Black's winrate and lead by number of moves, and what each move lost.

import { lossClass } from "./board.js";
import { Graph } from "./graph.js";
import { _, leadText, sentences } from "./language.js";

const BARS = 0.7; // of half the height, at most
const MARGINS = [40, 47, 8, 18]; // pixels at the left, right, top and bottom

export class Course {
  /** A graph inside `parent`; `onChoose(number)` is called for the number of moves that is chosen. */
  constructor(parent, onChoose) {
    this.values = this.lost = [];
    this.graph = new Graph(parent, onChoose, MARGINS, (number) => this.textAt(number));
    this.key = document.createElement("p");
    this.key.className = "graph-key";
    this.key.ariaHidden = "true"; // the label of the graph says the same
    parent.append(this.key);
  }

  /** Draw values {winrate, lead}, with holes, of positions 0 to `moves`; `now` is the position that is shown, `lost` are
   * the points lost by each move, as far as they are known, and `isBlack(move)` says whose move it was. */
  show({ values, moves, now, lost, isBlack }) {
    Object.assign(this, { values, lost });
    const widest = Math.max(10, ...values.filter(Boolean).map(({ lead }) => Math.abs(lead)));
    const most = Math.max(10, ...lost);
    this.graph.show(moves, now, [
      { kind: (move) => `graph-lost ${lossClass(lost[move])}`, values: lost.map((points, move) => (isBlack(move) ? points : -points)), low: -most / BARS, high: most / BARS },
      { kind: "graph-lead", values: values.map((value) => value?.lead), low: -widest, high: widest, marks: [-widest, 0, widest], isRight: true,
        text: (lead) => (lead ? `${lead > 0 ? "B" : "W"}+${Math.abs(lead).toFixed(0)}` : "0") },
      { kind: "graph-winrate", values: values.map((value) => value?.winrate), low: 0, high: 1, marks: [0, 0.5, 1], text: (share) => `${100 * share}%` },
    ]);
    const texts = { winrate: _("Black's winrate"), lead: _("lead") };
    if (lost.length) texts.lost = _("points lost: Black's upwards, White's downwards");
    this.key.replaceChildren(...Object.entries(texts).map(([kind, textContent]) => Object.assign(document.createElement("span"), { className: `key-${kind}`, textContent })));
    this.graph.svg.setAttribute("aria-label", sentences(_("The course of the game: winrate and lead of Black by number of moves."), lost.length ? _("Bars show what each move lost.") : ""));
  }

  /** Return what is known after a number of moves. */
  textAt(number) {
    const value = this.values[number];
    const lost = number ? this.lost[number - 1] : 0;
    return [_("Move {number}", { number }), value && _("Black {percent}", { percent: `${(100 * value.winrate).toFixed(1)}%` }), value && leadText(value.lead),
      lost >= 0.05 && _("lost {points} points", { points: lost.toFixed(1) })].filter(Boolean).join(" · ");
  }
}
