// What the page shows, worked out from what it knows: pure functions of one state. Nothing here looks at the page or keeps
// anything, so that a board, its analysis, graph and buttons are always those of the same game.
// @ts-check

import { candidatesOf, marked } from "./analysis.js";
import { markupOf } from "./game_tree.js";
import { _, ngettext, sentences } from "./language.js";
import { UNNAMED, playerName, rankName } from "./names.js";
import { pointOf, positionAfter } from "./position.js";
import { resultText } from "./result.js";

const CANDIDATES = 8; // on the board and in the table

/**
 * What the page knows. `tree` is that of `game`; both are null before a game is open, and come together.
 *
 * @typedef {Object} State
 * @property {any} game the server's last message about the game
 * @property {any} tree its GameTree
 * @property {string} role what the page may do: watch, play or compute
 * @property {string | null} ahead the vertex of a move that the server has not answered yet
 * @property {any[] | null} hints
 * @property {boolean} wantsHint whether a hint is to come at the person's next turn
 * @property {import("./board.js").Picture | null} preview what the board shows instead of the game: a problem, an opening, a mistake
 * @property {boolean} isEditing
 * @property {boolean} isGuessing whether the next move of the record is guessed
 * @property {{isOn: boolean, report: any, values: any[]}} analysis of the position and the line that are shown
 * @property {any} review that of the game, as in the JSON of a review's file; null if there is none that fits
 * @property {{labels: string, numbers: string, hasOwnership: boolean}} settings
 */

/** Return the state of a page on which nothing is open yet.
 * @returns {State} */
export function newState() {
  return {
    game: null, tree: null, role: "compute", ahead: null, hints: null, wantsHint: false, preview: null, isEditing: false, isGuessing: false,
    analysis: { isOn: false, report: null, values: [] }, review: null, settings: { labels: "points", numbers: "none", hasOwnership: true },
  };
}

/** Whether the position on the board is the one where the game goes on.
 * @param {State} state */
export function isCurrent({ game, tree }) {
  return tree.shown.id === game.node;
}

/** Whether this page may change the game.
 * @param {State} state */
export function mayEdit({ role }) {
  return role !== "watch";
}

/** @param {State} state */
function isScored(state) {
  return isCurrent(state) && (state.game.phase === "scoring" || state.game.phase === "finished");
}

/** Return the position that is shown, with the move that the server has not answered yet.
 * @param {State} state */
export function positionOf(state) {
  const { game, tree, ahead } = state;
  const position = tree.position();
  return isCurrent(state) && ahead ? positionAfter(position, { moves: [[game.human, ahead]] }) : position;
}

/** Return whose stone a move would place, null where none can be placed.
 * @param {State} state */
export function placedBy(state) {
  const { game, ahead, isEditing } = state;
  if (!mayEdit(state)) return null;
  const { toPlay } = positionOf(state);
  if (isEditing) return toPlay;
  if (!isCurrent(state)) return toPlay === game.human ? game.human : null;
  return !ahead && !game.is_engine_turn && (game.phase === "playing" || game.phase === "placing") ? game.human : null;
}

/** Return what the board shows.
 * @param {State} state
 * @returns {import("./board.js").Picture} */
export function boardOf(state) {
  const { game, tree, ahead, preview, settings } = state;
  if (preview) return preview;
  const [isLast, isCounted] = [isCurrent(state), isScored(state)];
  const isNow = isLast && !ahead;
  const position = positionOf(state);
  const { marks = {}, moves } = tree.shown;
  return {
    width: game.width, height: game.height,
    rows: isNow ? game.rows : position.rows,
    last: isNow && marks[moves.at(-1)?.[1]] ? null : position.last,
    dead: isCounted ? game.dead : [],
    owners: isCounted && game.owners.length ? game.owners : null,
    ko: isNow && game.ko ? pointOf(game.ko, game.height) : null,
    numbers: settings.numbers === "none" ? {} : tree.numbers(settings.numbers === "all"),
    markup: markupOf(tree.shown, game.height),
    candidates: candidatesShown(state).filter(({ x }) => x !== undefined),
    ownership: ownershipOf(state),
    places: placedBy(state),
  };
}

/** Return the moves that an analysis, a hint or the review says something about.
 * @param {State} state
 * @returns {any[]} */
export function candidatesShown({ game, tree, analysis, hints, review, settings }) {
  if (analysis.isOn) return analysis.report ? candidatesOf(analysis.report, game.height, CANDIDATES, settings.labels) : [];
  if (hints) {
    return marked(hints, settings.labels).map((/** @type {any} */ hint) => {
      const [x, y] = pointOf(hint.vertex, game.height) ?? [];
      return { ...hint, line: hint.pv, color: game.human, x, y };
    });
  }
  return review?.marks(tree.shown.number) ?? [];
}

/** Return who has each point, 1 for Black: of a counted score, or as the analysis expects it; null for neither.
 * @param {State} state */
function ownershipOf(state) {
  const { game, analysis, settings } = state;
  if (analysis.isOn) return settings.hasOwnership ? analysis.report?.ownership ?? null : null;
  if (!game.owners.length || !isScored(state)) return null;
  return Array.from(game.owners.join(""), (owner) => (owner === "X" ? 1 : owner === "O" ? -1 : 0));
}

/** Return the graph: {values: {winrate, lead} by number of moves, with holes, moves, now, offset, lost: points by move}; null where
 * there is none.
 * @param {State} state */
export function courseOf({ tree, analysis, review }) {
  if (!analysis.isOn && !review) return null;
  const { offset, number, moves } = tree.analysable;
  const reviewed = review?.values ?? [];
  const values = Array.from({ length: moves.length + 1 }, (__, index) => reviewed[index + offset] ?? analysis.values[index]);
  return { values, moves: moves.length, now: number, offset, lost: (review?.lost ?? []).slice(offset) };
}

/** Return which buttons are there and which can be used: {name: [isHidden, isDisabled]}.
 * @param {State} state
 * @returns {Object<string, [boolean, boolean]>} */
export function buttonsOf(state) {
  const { game, tree, role, wantsHint } = state;
  const [isOver, isScoring] = [game.phase === "finished", game.phase === "scoring"];
  const hasPlaced = game.phase === "placing" && game.rows.some((/** @type {string} */ row) => row.includes("X"));
  const isStart = !tree.shown.parent;
  const isEnd = tree.shown === tree.line.at(-1);
  const isOwn = isOver && !game.opened && role !== "watch";
  const isUsual = game.width === game.height && !game.rules.startsWith("{"); // can be asked for again
  return {
    pass: [isOver || isScoring, !placedBy(state) || game.phase === "placing"],
    hint: [isOver || isScoring, game.phase !== "playing" || wantsHint],
    resign: [isOver || isScoring, game.phase !== "playing"],
    undo: [false, !hasPlaced && !game.moves.some((/** @type {string[]} */ [color]) => color === game.human)],
    accept: [!isScoring || !game.score, false],
    resume: [!isScoring && !isOver, false],
    redo: [isScoring || !game.can_redo, false],
    share: [false, false],
    save: [false, false],
    "about-game": [false, false],
    guess: [false, isEnd && !state.isGuessing],
    moments: [!isOwn || role !== "compute" || !game.moves.length, false],
    again: [!isOwn || !isUsual, false],
    harder: [!isOwn || !isUsual || !game.level || game.level === "max", false],
    first: [false, isStart],
    back: [false, isStart],
    forward: [false, isEnd],
    last: [false, isEnd],
  };
}

/** Return what is shown of a player: {name, captures, isTurn}; the name may be that of a record which the game continues.
 * @param {State} state
 * @param {string} color */
export function playerOf(state, color) {
  const { game, tree } = state;
  const isTurn = isCurrent(state) ? game.phase === "playing" && game.to_play === color : tree.position().toPlay === color;
  return { name: nameOf(state, color), captures: positionOf(state).captures[color], isTurn };
}

/** @param {State} state
 * @param {string} color */
function nameOf({ game, tree, role }, color) {
  const [called, rank] = color === "black" ? ["PB", "BR"] : ["PW", "WR"];
  const { information = {} } = tree.root;
  const name = information[called] ?? game.names[color];
  const isRecord = game.opened && game.phase === "finished"; // between others, perhaps
  if (color === game.human && !(isRecord && name !== UNNAMED)) {
    if (role === "watch") return name === UNNAMED ? (color === "black" ? _("Black") : _("White")) : name;
    return name === UNNAMED ? playerName(name) : _("{name} (you)", { name });
  }
  if (isRecord && information[rank]) return `${name} (${information[rank]})`;
  return name === "Tengen" && game.level && game.level !== "max" ? `${name} (${rankName(game.level)})` : name;
}

/** Return the text about the game above the buttons.
 * @param {State} state */
export function statusOf(state) {
  const { game } = state;
  if (!isCurrent(state)) return pastText(state);
  const text = gameText(state);
  return game.compiling && game.phase !== "finished" ? sentences(text, _("Tengen plays weakly until it is compiled, which takes about a minute.")) : text;
}

/** Return what a screen reader says now: one text for each turn of the person's, "" while there is nothing new to say.
 * @param {State} state */
export function heardOf(state) {
  const { game, ahead } = state;
  const isWaiting = isCurrent(state) && game.phase === "playing" && state.role !== "watch" && (ahead || game.is_engine_turn);
  return isWaiting || (isCurrent(state) && game.phase === "scoring" && !game.score) ? "" : statusOf(state);
}

/** Say which position is on the board when it is not the one where the game goes on.
 * @param {State} state */
function pastText({ tree }) {
  const { move, number } = tree.shown;
  const turn = tree.position().toPlay === "black" ? _("Black to play") : _("White to play");
  if (!move) return number ? _("After move {number}. {turn}.", { number, turn }) : _("The start. {turn}.", { turn });
  const [color, vertex] = move;
  const values = { number, vertex, turn };
  if (vertex === "pass") return color === "black" ? _("Move {number}: Black passes. {turn}.", values) : _("Move {number}: White passes. {turn}.", values);
  return color === "black" ? _("Move {number}: Black {vertex}. {turn}.", values) : _("Move {number}: White {vertex}. {turn}.", values);
}

/** @param {State} state */
function gameText(state) {
  const { game, ahead, role } = state;
  const person = game.opened || role === "watch" ? null : game.human;
  const after = (/** @type {string} */ text) => sentences(moveText(state), text);
  if (game.phase === "finished") return after(resultText(game.result, game.rules, person));
  if (game.phase === "scoring") {
    if (!game.score) return _("Counting …");
    return sentences(resultText(game.score, game.rules, person, false), mayEdit(state) ? _("Click a group to switch it between alive and dead.") : "");
  }
  if (game.phase === "placing") return ngettext("Place {count} handicap stone.", "Place {count} handicap stones.", game.stones_to_place);
  if (role === "watch") return after(game.to_play === "black" ? _("Black to play.") : _("White to play."));
  if (ahead || (game.thinking && game.is_engine_turn)) return after(_("Tengen is thinking …"));
  return after(game.is_engine_turn ? _("Tengen's turn.") : _("Your move."));
}

/** Return the last move in words with what it captured, "" before the first one.
 * @param {State} state */
export function moveText(state) {
  const { game, tree, ahead } = state;
  const [color, vertex] = ahead ? [game.human, ahead] : game.moves.at(-1) ?? [];
  if (!vertex) return "";
  if (vertex === "pass") return color === "black" ? _("Black passes.") : _("White passes.");
  const before = ahead ? tree.position() : tree.shown.parent ? tree.position(tree.shown.parent) : null;
  const count = before ? positionOf(state).captures[color] - before.captures[color] : 0;
  if (!count) return color === "black" ? _("Black {vertex}.", { vertex }) : _("White {vertex}.", { vertex });
  return color === "black" ? ngettext("Black {vertex} captures {count} stone.", "Black {vertex} captures {count} stones.", count, { vertex })
    : ngettext("White {vertex} captures {count} stone.", "White {vertex} captures {count} stones.", count, { vertex });
}

/** Return the request for another game like one, at this level.
 * @param {any} game
 * @param {string | null} level */
export function anotherGame(game, level = game.level) {
  return {
    do: "new", size: game.width, human: game.human === "black" ? "B" : "W", handicap: game.handicap, free_handicap: false,
    rules: game.rules, komi: game.komi, time: game.time.join(" "), level,
  };
}
