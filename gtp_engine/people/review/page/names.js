// Names of colours, ranks and rule sets in the reader's language.

import { _ } from "./language.js";

/** Return the name of a colour, "B" or "W". */
export function colorName(color) {
  return color === "B" ? _("Black") : _("White");
}

/** Return a rank such as "5k" as the field writes it: 5級. */
export function rankName(rank) {
  const number = rank.slice(0, -1);
  return rank.endsWith("d") ? _("{number}d", { number }) : _("{number}k", { number });
}

export const UNNAMED = "Human"; // what the server calls a person whose name is not known

/** Return the name of a player, as the server has it, in the reader's language where it is none. */
export function playerName(name) {
  return { [UNNAMED]: _("You"), Black: _("Black"), White: _("White") }[name] ?? name;
}

/** The names under which people know the rule sets, by KataGo's names; others with the same rules are left out. */
export const rulesNames = {
  chinese: () => _("Chinese"), japanese: () => _("Japanese, Korean"), aga: () => _("American, British, French"),
  "new-zealand": () => _("New Zealand"), ing: () => _("Ing"), "tromp-taylor": () => _("Tromp-Taylor"),
  "chinese-ogs": () => _("Chinese (servers)"), "aga-button": () => _("American with a button"),
  "stone-scoring": () => _("Ancient, stones count"), "ancient-territory": () => _("Ancient, territory counts"), cgos: () => "CGOS",
};

/** Return the rules of a record, whose name is one of SGF's or KataGo's, or JSON where they have none. */
export function rulesText(rules) {
  const known = {
    chinese: _("Chinese rules"), japanese: _("Japanese rules"), aga: _("AGA rules"), nz: _("New Zealand rules"),
    goe: _("Ing rules"), "tromp-taylor": _("Tromp-Taylor rules"),
  };
  return known[rules.toLowerCase()] ?? rulesNames[rules]?.() ?? (rules.startsWith("{") ? _("custom rules") : rules);
}
