// Notes and errors of the server in the reader's language: those that records and files of a person often cause.
// base/languages.py has the same list.

import { _, later } from "./language.js";

const MESSAGES = [
  later("the file has several games: the first was taken; to take another, split the file"),
  later("moves behind the parenthesis that ends the game were left out"),
  later("the record has no end"),
  later("the record is cut off in a value"),
  later("the bracket that ends a value is missing"),
  later("brackets in a text lack a backslash"),
  later("text that belongs to no property was left out"),
  later("komi {value} is not a number and was ignored"),
  later("komi {value} was read as {points} points, which it must mean"),
  later("rules {value} are unknown and were ignored"),
  later("handicap {stones} without stones: the fixed places were assumed"),
  later("move {number}: {reason}; what follows was left out"),
  later("result {value} was not understood"),
  later("not a readable SGF record: no SGF data found"),
  later("the record is of another game, {game}: expected GM[1], Go"),
  later("cannot open {path}: {reason}"),
];

/** Return a note or an error in the reader's language, if it is one of these. */
export function messageText(message) {
  for (const template of MESSAGES) {
    const pattern = template.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>.+?)");
    const found = message.match(new RegExp(`^${pattern}$`));
    if (found) return _(template, found.groups);
  }
  return message;
}
