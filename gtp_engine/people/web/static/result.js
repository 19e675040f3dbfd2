// How a game ended, in words, and how the score was counted.

import { _, marginText, sentences } from "./language.js";

/** @type {[string, () => string][]} */
const ROWS = [
  ["territory", () => _("Territory")],
  ["stones", () => _("Living stones")],
  ["prisoners", () => _("Prisoners")],
  ["tax", () => _("Taken off for eyes")],
  ["komi", () => _("Komi")],
  ["total", () => _("Total")],
];

/** Return the result of a game under `rules`, as SGF writes it, as a sentence; `person` is the colour of who reads it and
 * plays against the engine, null where others have played. While stones are still disputed, `isOver` is false. */
export function resultText(result, rules, person, isOver = true) {
  if (result === "Void") return _("The game has no result: the position has occurred for the third time.");
  const [winner, margin] = result.split("+");
  if (margin === undefined) return _("The game is a draw.");
  const color = winner === "B" ? "black" : "white";
  const who = person === null ? color : person === color ? "you" : "engine";
  const count = Number(margin);
  if (margin === "" || Number.isNaN(count)) return (endings[margin] ?? endings[""])[who]();
  return (isOver ? wins : leads)[who](marginText(count, rules));
}

const wins = {
  you: (margin) => _("You won by {margin}.", { margin }),
  engine: (margin) => _("Tengen won by {margin}.", { margin }),
  black: (margin) => _("Black wins by {margin}.", { margin }),
  white: (margin) => _("White wins by {margin}.", { margin }),
};
const leads = {
  ...wins,
  you: (margin) => _("You win by {margin}.", { margin }),
  engine: (margin) => _("Tengen wins by {margin}.", { margin }),
};
const endings = {
  "": { you: () => _("You won."), engine: () => _("Tengen won."), black: () => _("Black wins."), white: () => _("White wins.") },
  R: {
    you: () => _("You won: Tengen has resigned."), engine: () => _("You have resigned."),
    black: () => _("Black wins by resignation."), white: () => _("White wins by resignation."),
  },
  T: {
    you: () => _("You won on time."), engine: () => _("Tengen won on time."),
    black: () => _("Black wins on time."), white: () => _("White wins on time."),
  },
  F: {
    you: () => _("You won by forfeit."), engine: () => _("Tengen won by forfeit."),
    black: () => _("Black wins by forfeit."), white: () => _("White wins by forfeit."),
  },
};

/** Fill the table of the score, {black, white} with what each side has; rows in which neither has anything are left out. */
export function drawTally(table, { black, white }) {
  const rows = ROWS.filter(([key]) => key === "total" || key === "territory" || black[key] || white[key]);
  table.tBodies[0].replaceChildren(...rows.map(([key, name]) => {
    const row = document.createElement("tr");
    const sign = key === "tax" ? "−" : "";
    const cells = [black, white].map((side) => Object.assign(document.createElement("td"), { textContent: (side[key] && sign) + side[key] }));
    row.className = key;
    row.append(Object.assign(document.createElement("th"), { scope: "row", textContent: name() }), ...cells);
    return row;
  }));
}

/** Return how the score is counted, for people who see it for the first time. */
export function countingText({ tally, score }) {
  const isArea = tally.black.stones + tally.white.stones > 0;
  const parts = [
    isArea ? _("Each side has a point for each of its living stones and for each empty point that only they surround (squares).")
      : _("Each side has a point for each empty point that only its stones surround (squares), and for each prisoner: the stones that it has captured, and the opponent's dead stones."),
  ];
  if (tally.white.komi) parts.push(_("White gets {komi} points of komi, since Black moved first.", { komi: tally.white.komi }));
  if (score) parts.push(_("Stones with a cross count as dead."));
  return sentences(...parts);
}
