// Finding places in a game: a move by its number, a point, a word of a comment. And guessing the next move of a record.
// @ts-check

import { _ } from "./language.js";
import { pointOf } from "./position.js";

const MOST_TRIES = 3; // wrong points after which the move is shown

/** Return the nodes that a text names, in the order of the record: that of a move number in the line that is shown, those with a move on a point, or
 * those with the text in their comments or names.
 * @param {any} tree
 * @param {string} text
 * @returns {any[]} */
export function found(tree, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  if (/^\d+$/.test(wanted)) return [tree.at(Number(wanted))];
  const nodes = [...tree.nodes.values()];
  if (/^([a-hj-z]\d{1,2}|pass)$/.test(wanted)) return nodes.filter(({ move }) => move?.[1].toLowerCase() === wanted);
  return nodes.filter(({ comment = "", name = "" }) => `${name}\n${comment}`.toLowerCase().includes(wanted));
}

/** Return the first of these nodes behind the one that is shown, or else the first of all; undefined for none.
 * @param {any[]} nodes
 * @param {any} shown */
export function nextOf(nodes, shown) {
  const place = nodes.indexOf(shown);
  return nodes[place + 1] ?? nodes[0];
}

/** Guessing the moves of a record, one after the other. */
export class Guessing {
  isOn = false;
  guessed = 0;
  right = 0; // on the first try
  tries = 0;

  /** `treeNow()` returns the tree that is shown, `onShow(id)` shows a node, `onChange()` is called when something else is to be shown.
   * @param {() => any} treeNow
   * @param {{onShow: (id: number) => void, onChange: () => void}} actions */
  constructor(treeNow, { onShow, onChange }) {
    this.treeNow = treeNow;
    this.onShow = onShow;
    this.onChange = onChange;
    this.text = "";
  }

  /** The next node with a move, undefined at the end of the line. */
  get next() {
    const { line, shown } = this.treeNow();
    return line.slice(line.indexOf(shown) + 1).find((/** @type {any} */ node) => node.move);
  }

  /** Begin or end.
   * @param {boolean} isOn */
  turn(isOn) {
    Object.assign(this, { isOn, guessed: 0, right: 0, tries: 0 });
    this.ask();
  }

  ask() {
    const { next } = this;
    const counts = this.guessed ? _("{right} of {count} on the first try.", { right: this.right, count: this.guessed }) : "";
    const question = !next ? _("The record ends here.") : next.move[0] === "black" ? _("Where did Black play?") : _("Where did White play?");
    this.text = [question, counts].filter(Boolean).join(" ");
    this.onChange();
  }

  /** Take a point that was chosen; false if nothing is guessed.
   * @param {string} vertex */
  choose(vertex) {
    if (!this.isOn) return false;
    const { next } = this;
    if (!next) return true;
    const isRight = next.move[1] === vertex;
    this.tries += 1;
    if (isRight || this.tries === MOST_TRIES || next.move[1] === "pass") {
      this.guessed += 1;
      this.right += isRight && this.tries === 1 ? 1 : 0;
      this.tries = 0;
      this.onShow(next.id);
      this.ask();
    } else {
      this.text = distanceText(next.move[1], vertex);
      this.onChange();
    }
    return true;
  }

  /** What the board shows instead of the game, null for nothing: the position without what gives the answer away.
   * @returns {import("./board.js").Picture | null} */
  get preview() {
    if (!this.isOn) return null;
    const tree = this.treeNow();
    const { rows, last } = tree.position();
    return { width: tree.size[0], height: tree.size[1], rows, last, places: this.next?.move[0] ?? null };
  }
}

/** Say how far a point is from the move.
 * @param {string} move
 * @param {string} vertex */
export function distanceText(move, vertex) {
  const [[x, y], [column, row]] = [move, vertex].map((each) => /** @type {number[]} */ (pointOf(each, 25)));
  const distance = Math.max(Math.abs(x - column), Math.abs(y - row));
  return distance < 3 ? _("Not {vertex}, but it is near.", { vertex }) : _("Not {vertex}: it is elsewhere.", { vertex });
}
