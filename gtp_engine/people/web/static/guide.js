// For people new to Go: what happens on the board is explained when it first happens in their games.
// @ts-check

import { _ } from "./language.js";
import { pointOf, vertexOf } from "./position.js";
import { isCurrent, mayEdit, positionOf } from "./view.js";

const SEEN = "guide"; // what was explained in this browser
const TERRITORY = ["japanese", "korean"]; // rules by which only surrounded points and prisoners count
/** @type {Object<string, string>} */
const STONES = { black: "X", white: "O" };

/**
 * An explanation: its `name`, its `text`, and the points that it speaks of, [x, y] each.
 *
 * @typedef {{name: string, text: string, points?: number[][]}} Explanation
 */

export class Guide {
  /** The panel `parent`; `isOn()` returns whether explanations are wanted.
   * @param {HTMLElement} parent
   * @param {() => boolean} isOn */
  constructor(parent, isOn) {
    this.parent = parent;
    this.isOn = isOn;
    /** @type {string | null} */
    this.game = null;
    /** @type {{node: any, found: Explanation} | null} */
    this.now = null;
  }

  /** What was explained already.
   * @type {string[]} */
  get seen() {
    return (localStorage.getItem(SEEN) ?? "").split(" ");
  }

  /** Explain everything again. */
  forget() {
    localStorage.removeItem(SEEN);
    this.now = null;
  }

  /** Find what is new in the game that is shown; the explanation before stays until there is one.
   * @param {import("./view.js").State} state */
  follow(state) {
    const { game } = state;
    const isGuided = this.isOn() && game && !game.opened && mayEdit(state) && !state.preview;
    if (this.game !== game?.id) [this.game, this.now] = [game?.id, null];
    const found = isGuided && isCurrent(state) && explanationOf(state, this.seen);
    if (found) {
      this.now = { node: game.node, found };
      localStorage.setItem(SEEN, [...this.seen, found.name].join(" ").trim());
    }
    this.parent.hidden = !isGuided || !this.now;
    const text = /** @type {HTMLElement} */ (this.parent.querySelector("p"));
    if (this.now && text.textContent !== this.now.found.text) text.textContent = this.now.found.text;
  }

  /** The points of the explanation, as marks of the board, while the position is shown that it is about.
   * @param {import("./view.js").State} state */
  marks({ game, tree }) {
    const isShown = !this.parent.hidden && this.now?.node === game?.node && tree?.shown.id === game?.node;
    return isShown ? (this.now?.found.points ?? []).map(([x, y]) => [x, y, "circle"]) : [];
  }
}

/** Return what is to be explained in a position, the most particular first; null if nothing is that was not `seen`.
 * @param {import("./view.js").State} state
 * @param {string[]} seen
 * @returns {Explanation | null} */
export function explanationOf(state, seen) {
  const { game, tree } = state;
  if (game.phase === "scoring" || game.phase === "finished") return fresh(seen, game.score || game.owners.length ? [counting(game)] : []);
  if (game.phase !== "playing" || game.is_engine_turn || state.ahead) return null;
  const { rows, captures } = positionOf(state);
  const own = STONES[game.human];
  const chains = chainsOf(rows);
  const before = tree.shown.parent?.parent ? tree.position(tree.shown.parent.parent).captures : { black: 0, white: 0 };
  const other = game.human === "black" ? "white" : "black";
  return fresh(seen, [
    game.ko && { name: "ko", points: [pointOf(game.ko, game.height)], text: _("This is a ko. You may not take back at once where one of your stones was just taken, as the position would repeat without end. Play somewhere else first; after that you may.") },
    captures[game.human] > before[game.human] && { name: "capture", text: _("You have captured: stones that have no liberty left are taken off the board. They are your prisoners.") },
    captures[other] > before[other] && { name: "captured", text: _("Tengen has captured: your stones had no liberty left. Before you answer a move, count the liberties of the stones beside it.") },
    atari(chains.find(({ stone, liberties }) => stone === own && liberties.length === 1), game.height, true),
    atari(chains.find(({ stone, liberties }) => stone !== own && liberties.length === 1), game.height, false),
    eyes(rows, own),
    game.moves.at(-1)?.[1] === "pass" && game.moves.at(-1)[0] !== game.human && { name: "pass", text: _("Tengen passes: it sees no point left to gain. If you see none either, pass too, and the game is counted. A stone inside safe territory gains nothing.") },
    chains.some(({ stone }) => stone === own) && liberties(chains.filter(({ stone }) => stone === own), rows),
    !game.moves.length && { name: "start", text: _("Place a stone on any crossing of lines, edges included. Stones do not move. The side that surrounds more of the board at the end wins; the points near the corners are the easiest to surround.") },
  ]);
}

/** @param {string[]} seen
 * @param {any[]} found
 * @returns {Explanation | null} */
function fresh(seen, found) {
  return found.find((each) => each && !seen.includes(each.name)) ?? null;
}

/** @param {{points: number[][], liberties: number[][]}[]} chains
 * @param {string[]} rows */
function liberties(chains, rows) {
  const [{ points, liberties: empty }] = chains;
  const vertex = vertexOf(points[0][0], points[0][1], rows.length);
  return {
    name: "liberties", points: empty,
    text: _("The empty points beside a stone, along the lines, are its liberties: those of your stone {vertex} are marked. Stones of a colour that touch along a line share their liberties, and live or die together.", { vertex }),
  };
}

/** @param {{points: number[][], liberties: number[][]} | undefined} chain
 * @param {number} height
 * @param {boolean} isOwn */
function atari(chain, height, isOwn) {
  if (!chain) return null;
  const [[x, y]] = chain.points;
  const [[column, row]] = chain.liberties;
  const values = { vertex: vertexOf(x, y, height), liberty: vertexOf(column, row, height) };
  return isOwn
    ? { name: "danger", points: chain.liberties, text: _("Atari: your stones at {vertex} have one liberty left, {liberty}. The next move there takes them. Play there yourself if that gives them more liberties, or capture a stone that surrounds them.", values) }
    : { name: "atari", points: chain.liberties, text: _("Atari: the stones at {vertex} have one liberty left, {liberty}. Play there, and you capture them.", values) };
}

/** @param {string[]} rows
 * @param {string} own */
function eyes(rows, own) {
  const sides = [own, own === "X" ? "O" : "X"].map((stone) => ({ stone, regions: aliveOf(rows, stone).regions }));
  const alive = sides.find(({ regions }) => regions.length);
  if (!alive) return null;
  const { stone, regions } = alive;
  const text = stone === own
    ? _("Your stones around the marked points have two eyes: two separate places inside. Tengen cannot fill both at once, so these stones can never be captured.")
    : _("The stones around the marked points have two eyes: two separate places inside. You cannot fill both at once, so these stones can never be captured.");
  return { name: "eyes", points: regions.flat(), text };
}

/** @param {any} game */
function counting(game) {
  return {
    name: "counting",
    text: TERRITORY.includes(game.rules)
      ? _("The game is counted. Each side has a point for each empty point that it surrounds and for each prisoner; dead stones, crossed out, are prisoners too. White gets the komi besides, for moving second.")
      : _("The game is counted. Each side has a point for each of its stones on the board and for each empty point that it surrounds; dead stones, crossed out, are taken off first. White gets the komi besides, for moving second."),
  };
}

/** Return the chains of a position: {stone, points, liberties}.
 * @param {string[]} rows
 * @returns {{stone: string, points: number[][], liberties: number[][]}[]} */
export function chainsOf(rows) {
  return areasOf(rows, (one, other) => one === other).filter(({ stone }) => stone !== ".").map(({ stone, points, border }) => ({
    stone, points, liberties: border.filter(([x, y]) => rows[y][x] === "."),
  }));
}

/** Return the connected areas whose points are `alike`: {stone of the first, points, border: points beside it}.
 * @param {string[]} rows
 * @param {(one: string, other: string) => boolean} alike */
function areasOf(rows, alike) {
  const seen = new Set();
  const areas = [];
  for (let y = 0; y < rows.length; y++) {
    for (let x = 0; x < rows[0].length; x++) {
      if (seen.has(`${x},${y}`)) continue;
      const points = [[x, y]];
      const border = new Map();
      seen.add(`${x},${y}`);
      for (const [column, row] of points) {
        for (const [i, j] of [[column - 1, row], [column + 1, row], [column, row - 1], [column, row + 1]]) {
          const next = rows[j]?.[i];
          if (!next) continue;
          if (!alike(rows[y][x], next)) border.set(`${i},${j}`, [i, j]);
          else if (!seen.has(`${i},${j}`)) {
            seen.add(`${i},${j}`);
            points.push([i, j]);
          }
        }
      }
      areas.push({ stone: rows[y][x], points, border: [...border.values()] });
    }
  }
  return areas;
}

/** Return the chains of a side that live whatever the other side plays, and the regions in which they have their eyes: those
 * are chains with two vital regions each, of regions that only such chains surround (D. B. Benson, Life in the Game of Go, 1976).
 * @param {string[]} rows
 * @param {string} stone */
export function aliveOf(rows, stone) {
  const key = (/** @type {number[]} */ [x, y]) => `${x},${y}`;
  let chains = chainsOf(rows).filter((chain) => chain.stone === stone);
  let regions = areasOf(rows, (one, other) => (one === stone) === (other === stone)).filter(({ stone: first }) => first !== stone);
  for (;;) {
    const free = (/** @type {any} */ { points }) => points.filter((/** @type {number[]} */ [x, y]) => rows[y][x] === ".");
    const vital = (/** @type {any} */ chain) => {
      const own = new Set(chain.liberties.map(key));
      return regions.filter((region) => free(region).length && free(region).every((/** @type {number[]} */ point) => own.has(key(point))));
    };
    const alive = chains.filter((chain) => vital(chain).length >= 2);
    const points = new Set(alive.flatMap((chain) => chain.points.map(key)));
    const closed = regions.filter(({ border }) => border.every((point) => points.has(key(point))));
    if (alive.length === chains.length && closed.length === regions.length) {
      const eyesOf = new Set(chains.flatMap(vital));
      return { chains, regions: [...eyesOf].map(free) };
    }
    [chains, regions] = [alive, closed];
  }
}
