// What every page shows of a review: both players in numbers, their ranks, and the lists of their biggest mistakes.

import { lossClass, lossText } from "./board.js";
import { _ } from "./language.js";
import { mistakeText, peopleTexts, rankLines } from "./lessons.js";
import { colorName } from "./names.js";

const PHASES = { opening: () => _("opening"), "middle game": () => _("middle game"), endgame: () => _("endgame") };
const SHORT_LINE = 6; // moves of a continuation in a list

/** Return a new element. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const stoneOf = (color) => element("span", { class: `stone ${color === "B" ? "black" : "white"}` });

/** Return a move of a review as `lessons.js` takes a mistake.
 * @returns {any} */
export function mistakeOf({ points_lost: loss, ...move }) {
  return { ...move, loss };
}

/** Return how the search of a review would go on after a number of moves, some moves of it. */
export function lineAt(review, number, most = SHORT_LINE) {
  return review.positions[number]?.candidates[0]?.line.slice(0, most) ?? [];
}

/** Draw the mistakes of the players in this order: `titleOf(color)` is the title of each list, `onChoose(number)` takes the number
 * of a mistake, and `shown` is the one that comes next in the game. Buttons stay where they are, so that the focus does too. */
export function drawMistakes(parent, review, order, { titleOf, onChoose, shown = null }) {
  while (parent.children.length < order.length) parent.append(element("section", {}, element("h3"), element("p", { class: "soft" }, _("No move lost 2 points or more.")), element("ol", { class: "mistakes" })));
  order.forEach((color, place) => {
    const { mistakes } = review.players[color];
    const [title, none, list] = parent.children[place].children;
    title.replaceChildren(stoneOf(color), titleOf(color));
    none.hidden = mistakes.length > 0;
    while (list.children.length > mistakes.length) list.lastChild.remove();
    while (list.children.length < mistakes.length) list.append(element("li", {}, element("button")));
    mistakes.forEach((number, index) => {
      const button = list.children[index].firstChild;
      button.replaceChildren(...mistakeLines(review, number));
      button.setAttribute("aria-current", String(shown === number));
      button.onclick = () => onChoose(number);
    });
  });
}

/** Return what a list says of a mistake. */
function mistakeLines(review, number) {
  const move = review.moves[number - 1];
  const why = move.is_decided ? _("the game was decided") : _("{winrate} winrate", { winrate: `−${(100 * move.winrate_lost).toFixed(0)}%` });
  const time = Number.isFinite(move.seconds) ? _("took {seconds} s", { seconds: move.seconds.toFixed(0) }) : "";
  const more = [why, PHASES[move.phase]?.(), time, lineAt(review, number - 1).join(" "), ...peopleTexts(move.people, move.vertex)];
  return [element("strong", {}, `${number}. ${mistakeText(mistakeOf(move))}`), element("span", { class: `loss ${lossClass(move.points_lost)}` }, lossText(move.points_lost)),
    element("span", { class: "more" }, more.filter(Boolean).join(" · "))];
}

/** Draw both players in numbers; `nameOf(color)` names them. */
export function drawPlayers(table, { players: { B, W } }, nameOf) {
  const row = (name, of, digits = 0) => [name, ...[B, W].map((player) => [of(player) ?? []].flat().map((value) => value.toFixed(digits)).join(" – ") || "–")];
  const seconds = B.seconds === null && W.seconds === null ? [] : [row(_("Seconds per move"), (player) => player.seconds, 1)];
  const rows = [row(_("Accuracy"), (player) => player.accuracy, 1), row(_("95% interval"), (player) => player.accuracy_interval),
    row(_("Moves"), (player) => player.moves), row(_("Same as the engine's"), (player) => player.best_moves), ...seconds,
    row(_("Points lost per move"), (player) => player.mean_points_lost, 2),
    ...Object.keys(B.by_phase).map((phase) => row(`· ${PHASES[phase]()}`, (player) => player.by_phase[phase], 2)),
    ...Object.keys(B.blunders).map((least) => row(_("Moves that lost {points} points or more", { points: least }), (player) => player.blunders[least]))];
  const head = element("tr", {}, element("td"), ...["B", "W"].map((color) => element("th", { scope: "col" }, stoneOf(color), nameOf(color))));
  table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows.map(([name, ...values]) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...values.map((value) => element("td", {}, value))))));
}

/** Say which rank each player played like, or why that is not known. */
export function drawRanks(parent, { players }, order, nameOf = colorName, isYou = (/** @type {string} */ _color) => false) {
  parent.replaceChildren(...rankLines(order, players, nameOf, isYou).map(([text, kind, color]) => element("p", { class: kind }, color ? stoneOf(color) : "", text)));
}
