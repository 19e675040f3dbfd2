// What the pages' modules return, without a page: `test_modules.py` runs this where the modules of both pages lie.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Analysis, marked } from "./analysis.js";
import { lossClass, lossText } from "./board.js";
import { Guessing, distanceText, found, nextOf } from "./finding.js";
import { GameTree, markupOf } from "./game_tree.js";
import { Graph } from "./graph.js";
import { aliveOf, chainsOf, explanationOf } from "./guide.js";
import { marginText, _, bestLanguage, ngettext, sentences, speak } from "./language.js";
import { Learned, Quiz, boardAfter, mistakeMarks, mistakeText, peopleTexts, rankLines } from "./lessons.js";
import { learn, messageText } from "./messages.js";
import { playerName, rankName, rulesText } from "./names.js";
import { Openings } from "./openings.js";
import { emptyPosition, pointOf, positionAfter, positionsOf, vertexOf } from "./position.js";
import { Problems } from "./problems.js";
import { strengthIn } from "./rating.js";
import { Repetition } from "./repetition.js";
import { countingText, drawTally, resultText } from "./result.js";
import { levelAbove, levels, ranks } from "./setup.js";
import { Sounds } from "./sounds.js";
import { anotherGame, boardOf, buttonsOf, heardOf, newState, placedBy, playerOf, statusOf } from "./view.js";

class Element { // as much of the browser's as is drawn into here
  attributes = {};
  children = [];
  clientWidth = 400;
  clientHeight = 100;
  contains() { return false; }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  addEventListener() {}
  append(...children) { this.children.push(...children); }
  replaceChildren(...children) { this.children = children; }
}

const stored = new Map();
Object.assign(globalThis, {
  document: { documentElement: { lang: "en" }, createElement: () => new Element(), createElementNS: () => new Element() },
  localStorage: { getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => stored.set(key, value) },
  ResizeObserver: class { observe() {} },
});

/** Check what a function returns: rows of [arguments, result]. */
const table = (name, call, rows) => test(name, () => {
  for (const [given, expected] of rows) assert.deepEqual(call(...given), expected, JSON.stringify(given));
});

table("points", pointOf, [[["A1", 9], [0, 8]], [["j9", 9], [8, 0]], [["Q16", 19], [15, 3]], [["Z25", 25], [24, 0]], [["PASS", 9], null]]);
table("vertices", vertexOf, [[[0, 8, 9], "A1"], [[8, 0, 9], "J9"], [[15, 3, 19], "Q16"]]);
table("classes of losses", lossClass, [[[0], "loss-0"], [[0.46], "loss-1"], [[0.5], "loss-1"], [[0.96], "loss-2"], [[1], "loss-2"], [[2], "loss-3"], [[4.9], "loss-3"], [[5], "loss-4"]]);
table("losses", lossText, [[[0.04], "0"], [[0.4], "−0.4"], [[3], "−3.0"], [[14.1], "−14"], [[14.12, 2], "−14.12"]]);

test("stones are captured, at last a chain that takes its own last liberty", () => {
  const after = (setup, ...moves) => positionAfter(positionAfter(emptyPosition(3, 2), { setup }), { moves });
  const corner = [["black", "A1"], ["white", "B1"]];
  assert.deepEqual(after(corner, ["white", "A2"]), { rows: ["O..", ".O."], last: [0, 0], captures: { black: 0, white: 1 }, toPlay: "black" });
  assert.deepEqual(after([["white", "A1"], ["white", "B2"], ["black", "C1"], ["empty", "C1"]], ["black", "A2"]).captures, { black: 0, white: 1 });
  assert.deepEqual(after(corner, ["black", "pass"]), { rows: ["...", "XO."], last: null, captures: { black: 0, white: 0 }, toPlay: "white" });
  assert.equal(positionAfter(emptyPosition(3, 2), { player: "white" }).toPlay, "white");
  const all = positionsOf({ width: 2, height: 2, setup: [["white", "A1"]], moves: [["black", "A2"], ["black", "B1"]] });
  assert.deepEqual(all.map(({ rows }) => rows.join(" ")), [".. O.", "X. O.", "X. .X"]);
});

test("labels show points lost rather than winrates, which are all the same in a decided game", () => {
  const moves = [[0.99, 20], [0.99, 19.6], [0.99, 17], [0.98, 6]].map(([winrate, lead]) => ({ winrate, lead, visits: 1000 * lead }));
  const labels = (kind) => marked(moves, kind).map(({ text, small }) => `${text} ${small}`);
  assert.deepEqual(labels("points"), ["0 99", "−0.4 99", "−3.0 99", "−14 98"]);
  assert.deepEqual(labels("visits"), ["20.0k 0", "19.6k −0.4", "17.0k −3.0", "6.0k −14"]);
  assert.deepEqual(marked(moves, "winrate").map(({ kind, label, share }) => [kind, label, share])[2], ["", "loses 3.0 points", 0.85]);
});

test("an analysis follows handicap stones that are placed", () => {
  const sent = [];
  const analysis = Object.assign(new Analysis(() => {}), { connection: { send: (message) => sent.push(message) } });
  const game = { id: "a", moves: [], setup: [], komi: 0.5, rules: "chinese", width: 9, height: 9, first: "black" };
  analysis.follow(game, 0);
  analysis.values[0] = { winrate: 0.5, lead: 0, visits: 100 };
  analysis.follow({ ...game, setup: [["black", "C3"], ["black", "G7"]], first: "white" }, 0);
  assert.deepEqual(sent.filter(({ id }) => id.startsWith("live")).map(({ initialStones }) => initialStones.length), [0, 2]);
  assert.deepEqual(analysis.values, [], "those of the empty board");
});

test("a graph has no line across a gap", () => {
  const graph = new Graph(new Element(), () => {}, [0, 0, 5, 5]);
  graph.show(9, 0, [{ kind: "line", area: "area", values: [1, 2, undefined, null, 3, undefined, 4, 5, 6], low: 0, high: 9 }]);
  const drawn = (kind, name) => graph.svg.children.map(({ attributes }) => attributes).filter((each) => each.class === kind)
    .map((each) => each[name].split(" ").length);
  assert.deepEqual([drawn("line", "points"), drawn("area", "d")], [[2, 2, 3], [5, 4, 6]]);
});

table("languages", bestLanguage, [
  [[["ja-JP"], ["ja"]], "ja"], [[["fr", "ko-KR"], ["ko"]], "ko"], [[["zh-TW"], ["zh-Hant"]], "zh-Hant"],
  [[["zh-Hans-HK"], ["zh-Hans", "zh-Hant"]], "zh-Hans"], [[["en-GB", "ja"], ["ja"]], "en"], [[["fr"], ["ja"]], "en"],
]);

test("texts are translated, and sentences joined as the language does", () => {
  speak("en", {});
  assert.deepEqual([_("{a} or {b}", { a: 1 }), ngettext("{count} game", "{count} games", 1), ngettext("{count} game", "{count} games", 2)], ["1 or {b}", "1 game", "2 games"]);
  for (const [lang, joined] of [["en", "a b"], ["ko", "a b"], ["ja", "ab"], ["zh-Hant", "ab"]]) {
    document.documentElement.lang = lang;
    assert.equal(sentences("", "a", "b"), joined);
  }
  document.documentElement.lang = "en";
});

test("messages of the server are read in the reader's language", () => {
  const [cut, refused] = ["the record is cut off in a value", "move 3: illegal move: A1 is occupied; what follows was left out"];
  assert.equal(messageText(cut), cut);
  learn({ [cut]: "途中", "move {number}: {reason}; what follows was left out": "{number}手目 ({reason})", "komi {value} (?)": "コミ{value}" });
  assert.deepEqual([cut, refused, "komi 7 (?)", `${cut}!`].map(messageText), ["途中", "3手目 (illegal move: A1 is occupied)", "コミ7", `${cut}!`]);
});

table("rules", rulesText, [[["NZ"], "New Zealand rules"], [["GOE"], "Ing rules"], [["cgos"], "CGOS"], [['{"ko":"SIMPLE"}'], "custom rules"], [["some"], "some"]]);
table("names", playerName, [[["Human"], "You"], [["Black"], "Black"], [["Lee"], "Lee"]]);
table("ranks", rankName, [[["5k"], "5k"], [["12k"], "12k"], [["9d"], "9d"]]);
test("ranks are offered from the strongest on", () => assert.deepEqual([ranks().length, ranks()[0], ranks().at(-1)], [29, ["9d", "9 dan"], ["20k", "20 kyu"]]));

table("results", (result) => ["black", "white", null].map((person) => resultText(result, "chinese", person)), [
  [["B+2.5"], ["You won by 2.5 points.", "Tengen won by 2.5 points.", "Black wins by 2.5 points."]],
  [["W+1"], ["Tengen won by 1 point.", "You won by 1 point.", "White wins by 1 point."]],
  [["W+T"], ["Tengen won on time.", "You won on time.", "White wins on time."]],
  [["B+R"], ["You won: Tengen has resigned.", "You have resigned.", "Black wins by resignation."]],
  [["B+F"], ["You won by forfeit.", "Tengen won by forfeit.", "Black wins by forfeit."]],
  [["W+"], ["Tengen won.", "You won.", "White wins."]],
  [["0"], Array(3).fill("The game is a draw.")],
  [["Void"], Array(3).fill("The game has no result: the position has occurred for the third time.")],
]);

test("in Chinese, games under Chinese rules are won by stones and quarters of them", () => {
  document.documentElement.lang = "zh-Hant";
  const margins = [0.5, 7.5, 2, 3].map((points) => marginText(points, "chinese-ogs"));
  assert.deepEqual([...margins, marginText(7.5, "japanese")], ["1/4 子", "3又3/4 子", "1 子", "1又1/2 子", "7.5 points"]);
  document.documentElement.lang = "en";
});

test("a score that is still disputed is no result, and says how it is counted", () => {
  assert.equal(resultText("W+3", "chinese", "black", false), "Tengen wins by 3 points.");
  const tally = (stones, komi) => ({ black: { stones }, white: { stones, komi } });
  assert.match(countingText({ tally: tally(0, 6.5), score: {} }), /and for each prisoner.* White gets 6.5 points .* Stones with a cross count as dead\.$/);
  assert.match(countingText({ tally: tally(9, 0) }), /^Each side has a point for each of its living stones[^.]*\.$/);
});

test("moves of an opening say who plays them, in how many games, and what they lose", () => {
  const shown = (move) => Openings.prototype.marks.call({ moves: [{ vertex: "pass" }, { games: 4, ...move }] }, 9);
  assert.deepEqual(shown({ vertex: "C3", share: 0.31, points_lost: 0.4 }),
    [{ x: 2, y: 6, text: "31", small: "−0.4", loss: 0.4, label: "31% play it, loses 0.4 points" }]);
  assert.deepEqual(shown({ vertex: "C3", share: null, points_lost: null }), [{ x: 2, y: 6, text: "4", small: "", loss: 0, label: "" }]);
});

test("a mistake is described", () => {
  const mistake = { color: "W", vertex: "B4", loss: 8, best: "C3" };
  assert.equal(mistakeText(mistake), "White B4 lost 8.0; better C3");
  assert.equal(mistakeText({ ...mistake, best: null }), "White B4 lost 8.0");
  assert.deepEqual(mistakeMarks(mistake, 5).map(({ x, y, text, kind }) => [x, y, text, kind]), [[1, 1, "−8.0", "played"], [2, 2, "0", "best"]]);
  assert.deepEqual(mistakeMarks({ ...mistake, vertex: "pass" }, 5).map(({ kind }) => kind), ["best"]);
  assert.deepEqual(peopleTexts({ shares: { "3k": 0.31, "1k": 0.2, "3d": 0.001 } }, "C3"), ["A 3k plays C3 in 31% of such positions, a 3d in 0.1%."]);
  assert.deepEqual(peopleTexts({ shares: { "3k": 1 } }, "C3"), []);
  const estimate = { low: "5k", high: "1k", rank: "3k", or_weaker: true };
  const players = { B: { played_like: { estimate } }, W: { played_like: { estimate: null, note: "few" } } };
  const lines = (...more) => rankLines(["W", "B"], players, (color) => `${color}.`, ...more);
  assert.deepEqual(lines().slice(0, 2), [["W.: no rank. It takes 24 moves of an even game on 19x19.", "soft", "W"], ["B. played like 3k, between 5k or weaker and 1k.", "rank", "B"]]);
  assert.deepEqual(lines(() => true)[1][0], "You played like 3k, between 5k or weaker and 1k.");
  assert.deepEqual([lines().length, rankLines(["W"], players, String).length], [3, 1], "what ranks mean is said where one is told");
});

test("a continuation is numbered from a position on", () => {
  assert.deepEqual(boardAfter(["X..", "..."], "W", ["B2", "pass", "A1"], 3), { rows: [".O.", "O.."], last: null, numbers: { B2: 1, A1: 3 } });
});

test("what was solved stays solved, and counts over games, of which the oldest is forgotten", () => {
  const learned = new Learned("test");
  for (const [game, number, how] of [["a", 1, "shown"], ["a", 1, "later"], ["a", 1, "first"], ["a", 2, "first"], ["b", 1, "shown"]]) learned.add(game, number, how);
  assert.deepEqual(learned.of("a"), { 1: "later", 2: "first" });
  assert.deepEqual(learned.counts(), { games: 2, count: 3, solved: 2, first: 1 });
  for (let game = 0; game < 499; game++) learned.add(`game ${game}`, 1, "first");
  assert.deepEqual([learned.of("a"), learned.of("b"), learned.counts().games], [{}, { 1: "shown" }, 500]);
  stored.set("test", "{");
  assert.deepEqual(learned.games, {}, "damaged");
});

test("a quiz distinguishes other lessons from as many before", () => {
  const quiz = new Quiz(new Element(), { show() {} });
  for (const number of [1, 2]) quiz.offer("game", [{ number, answers: [] }]);
  assert.equal(quiz.lessons[0].number, 2);
});

test("what comes after problems were left is for nothing", () => {
  const problems = new Problems({ querySelector: () => new Element() }, { send() {}, onChange() {} });
  Object.assign(problems, { store() {}, count: 1, problem: { first: "black" }, state: "thinking", questions: 1, asked: "A1" });
  problems.stop();
  problems.answered({ number: 1, is_right: false, line: ["A1"], best: ["B1"] });
  problems.refused();
  problems.open(2);
  problems.count = 9;
  problems.stop();
  problems.receive({ number: 2, width: 5, height: 5, setup: [], first: "black", nodes: [], comment: "" });
  assert.deepEqual([problems.isOpen, problems.preview], [false, null]);
});

/** Return a tree: B C3, then W D4 and B E5, or W C4; each node has its place in the list as its number. */
function grown() {
  const tree = new GameTree([5, 5]);
  tree.load({ id: "game", nodes: [
    { id: 0, parent: null }, { id: 1, parent: 0, move: ["black", "C3"] }, { id: 2, parent: 1, move: ["white", "D4"] },
    { id: 3, parent: 2, move: ["black", "E5"] }, { id: 4, parent: 1, move: ["white", "C4"], marks: { C4: "circle" }, labels: { A5: "a" } },
  ] });
  return tree;
}
const line = (tree) => tree.line.map(({ id }) => id);

test("the line goes on where it was followed last, also after all nodes have come again", () => {
  const tree = grown();
  assert.deepEqual([tree.shown.id, line(tree)], [0, [0, 1, 2, 3]]);
  assert.deepEqual([tree.show(4), tree.show(9)], [true, false]);
  tree.show(1);
  assert.deepEqual(line(tree), [0, 1, 4]);
  assert.deepEqual([-1, 1, 9, -9].map((steps) => tree.stepped(steps).id), [0, 4, 4, 0]);
  assert.deepEqual([tree.at(0).id, tree.at(2).id, tree.at(7).id], [0, 4, 4]);
  const nodes = [...tree.nodes.values()].map(({ id, parent, move }) => ({ id, parent: parent?.id, move }));
  tree.load({ id: "game", nodes });
  assert.deepEqual([tree.shown.id, line(tree)], [1, [0, 1, 4]]);
  tree.load({ id: "other", nodes: nodes.slice(0, 2) });
  assert.deepEqual([tree.shown.id, line(tree)], [0, [0, 1]]);
});

test("a node that changes keeps its children, and positions are worked out again", () => {
  const tree = grown();
  tree.show(3);
  assert.equal(tree.position().rows[1], "...O.");
  tree.merge({ nodes: [{ id: 2, parent: 1, move: ["white", "B4"] }, { id: 5, parent: 3, setup: [["black", "A1"]], player: "black" }] });
  assert.deepEqual([line(tree), tree.position().rows[1]], [[0, 1, 2, 3, 5], ".O..."]);
  assert.deepEqual([tree.moves.length, tree.numbers(true), tree.numbers(false)], [3, { C3: 1, B4: 2, E5: 3 }, { E5: 3 }]);
  assert.deepEqual(tree.analysable, { setup: [], first: "black", moves: tree.moves, number: 3, offset: 0 });
  tree.show(5);
  const { setup, first, moves, number, offset } = tree.analysable;
  assert.deepEqual([setup.length, first, moves, number, offset], [4, "black", [], 0, 3], "a stone that is set up begins again");
});

test("a pass has no number on the board", () => {
  const tree = grown();
  tree.merge({ nodes: [{ id: 5, parent: 3, move: ["white", "pass"] }] });
  tree.show(5);
  assert.deepEqual([tree.numbers(false), tree.numbers(true)], [{}, { C3: 1, D4: 2, E5: 3 }]);
});

test("White begins after handicap stones, unless the record has a move of Black", () => {
  const first = (...children) => {
    const tree = new GameTree([5, 5]);
    tree.load({ id: "game", nodes: [{ id: 0, parent: null, setup: [["black", "B2"], ["black", "D4"]] }, ...children] });
    return tree.position().toPlay;
  };
  assert.deepEqual([first(), first({ id: 1, parent: 0, move: ["black", "A1"] })], ["white", "black"]);
});

test("the board shows the marks and branches of a node", () => {
  const { nodes } = grown();
  assert.deepEqual(markupOf(nodes.get(4), 5), { marks: [[2, 1, "circle"]], labels: [[0, 0, "a"]], territory: [], branches: [] });
  assert.deepEqual(markupOf(nodes.get(1), 5).branches, [[3, 1, "white"], [2, 1, "white"]]);
});

/** Return the state of a page: Black is the person, White has captured D4 by its last move; `changes` are of the game. */
function shownState(changes = {}, more = {}) {
  const tree = new GameTree([5, 5]);
  const moves = [["black", "D4"], ["white", "C4"], ["black", "A1"], ["white", "E4"], ["black", "A2"], ["white", "D5"], ["black", "A3"], ["white", "D3"]];
  tree.load({ id: "game", nodes: [{ id: 0, parent: null }, ...moves.map((move, index) => ({ id: index + 1, parent: index, move }))] });
  tree.show(8);
  const game = {
    id: "game", node: 8, phase: "playing", width: 5, height: 5, moves, rows: tree.position().rows, to_play: "black", human: "black", is_engine_turn: false,
    thinking: false, names: { black: "Human", white: "Tengen" }, level: "5k", owners: [], dead: [], result: "", score: "", rules: "chinese", komi: 7, handicap: 0,
    time: ["none"], ko: null, can_redo: false, opened: false, compiling: false, stones_to_place: 0, ...changes,
  };
  return { ...newState(), game, tree, ...more };
}

const shownButtons = (...given) => Object.entries(buttonsOf(shownState(...given))).filter(([, [isHidden, isDisabled]]) => !isHidden && !isDisabled).map(([name]) => name);
const ALWAYS = ["undo", "share", "save", "about-game", "first", "back"];
test("the buttons that can be used", () => {
  const sorted = (names) => [...names].sort();
  const rows = [
    [[], [...ALWAYS, "pass", "hint", "resign"]],
    [[{ is_engine_turn: true }], [...ALWAYS, "hint", "resign"]],
    [[{ can_redo: true }, { wantsHint: true }], [...ALWAYS, "pass", "resign", "redo"]],
    [[{ phase: "scoring", can_redo: true }], [...ALWAYS, "resume"]],
    [[{ phase: "scoring", score: "B+1" }], [...ALWAYS, "resume", "accept"]],
    [[{ phase: "finished", result: "W+R" }], [...ALWAYS, "resume", "moments", "again", "harder"]],
    [[{ phase: "finished", level: "max" }, { role: "play" }], [...ALWAYS, "resume", "again"]],
    [[{ phase: "finished", opened: true }], [...ALWAYS, "resume"]],
    [[{ phase: "placing", moves: [], rows: Array(5).fill(".....") }], ALWAYS.slice(1)],
  ];
  for (const [given, expected] of rows) assert.deepEqual(sorted(shownButtons(...given)), sorted(expected), JSON.stringify(given));
});

table("what the status says, and a screen reader says", (...given) => [statusOf(shownState(...given)), heardOf(shownState(...given))], [
  [[], Array(2).fill("White D3 captures 1 stone. Your move.")],
  [[{}, { ahead: "A5" }], ["Black A5. Tengen is thinking …", ""]],
  [[{ is_engine_turn: true, thinking: true }], ["White D3 captures 1 stone. Tengen is thinking …", ""]],
  [[{ phase: "finished", result: "B+R" }], Array(2).fill("White D3 captures 1 stone. You won: Tengen has resigned.")],
  [[{ phase: "finished", result: "B+R", opened: true }], Array(2).fill("White D3 captures 1 stone. Black wins by resignation.")],
  [[{ phase: "scoring" }], ["Counting …", ""]],
  [[{ phase: "scoring", score: "W+2" }], Array(2).fill("Tengen wins by 2 points. Click a group to switch it between alive and dead.")],
  [[{ phase: "placing", stones_to_place: 2 }], Array(2).fill("Place 2 handicap stones.")],
  [[{}, { role: "watch" }], Array(2).fill("White D3 captures 1 stone. Black to play.")],
  [[{ compiling: true }], Array(2).fill("White D3 captures 1 stone. Your move. Tengen plays weakly until it is compiled, which takes about a minute.")],
  [[{ node: 7 }], Array(2).fill("Move 8: White D3. Black to play.")],
]);

table("names", (...given) => ["black", "white"].map((color) => playerOf(shownState(...given), color).name), [
  [[], ["You", "Tengen (5k)"]], [[{ names: { black: "Lee", white: "Cho" }, opened: true }], ["Lee (you)", "Cho"]],
  [[{ names: { black: "Lee", white: "Cho" }, opened: true, phase: "finished" }], ["Lee", "Cho"]], [[{}, { role: "watch" }], ["Black", "Tengen (5k)"]],
]);

test("the players of a record have the ranks that it gives them", () => {
  const state = shownState({ opened: true, phase: "finished" });
  state.tree.root.information = { PB: "Lee", BR: "9d", PW: "Cho" };
  assert.deepEqual(["black", "white"].map((color) => playerOf(state, color).name), ["Lee (9d)", "Cho"]);
});

table("whose stone a click places", (...given) => placedBy(shownState(...given)), [
  [[], "black"], [[{ is_engine_turn: true }], null], [[{}, { role: "watch" }], null], [[{}, { ahead: "A5" }], null], [[{ phase: "scoring" }], null],
  [[{ human: "white", node: 7 }], null], [[{ node: 7 }], "black"], [[{ phase: "finished" }, { isEditing: true }], "black"],
]);

test("the board shows dead stones and points only where the score is counted", () => {
  const counted = { dead: ["A1"], owners: Array(5).fill("X.O.."), phase: "scoring", score: "B+1" };
  assert.deepEqual([boardOf(shownState(counted)).dead, boardOf(shownState(counted)).ownership.slice(0, 3)], [["A1"], [1, 0, -1]]);
  const past = boardOf(shownState({ ...counted, node: 7 }));
  assert.deepEqual([past.dead, past.owners, past.ownership], [[], null, null]);
  assert.deepEqual(boardOf(shownState({}, { preview: "a problem" })), "a problem");
});

test("the sum of a score has the rows in which a side has anything", () => {
  const body = new Element();
  const side = (more) => ({ territory: 0, stones: 0, prisoners: 0, tax: 0, komi: 0, total: 0, ...more });
  drawTally({ tBodies: [body] }, { black: side({ territory: 5, tax: 2, total: 3 }), white: side({ komi: 1.5, total: 1.5 }) });
  assert.deepEqual(body.children.map(({ children }) => children.map(({ textContent }) => textContent).join(" ")),
    ["Territory 5 0", "Taken off for eyes −2 0", "Komi 0 1.5", "Total 3 1.5"]);
});

test("another game is like the one before, at a level that may be the next", () => {
  assert.deepEqual(anotherGame(shownState().game, levelAbove("5k")),
    { do: "new", size: 5, human: "B", handicap: 0, free_handicap: false, rules: "chinese", komi: 7, time: "none", level: "4k" });
  assert.deepEqual(["20k", "1k", "9d", "max"].map(levelAbove), ["19k", "1d", "max", "max"]);
});

table("chains and their liberties", (rows) => chainsOf(rows).map(({ stone, points, liberties }) => [stone, points.length, liberties.length]), [
  [[["...", ".X.", "..."]], [["X", 1, 4]]], [[["XX.", "O..", "..."]], [["X", 2, 2], ["O", 1, 2]]], [[["XO", "OX"]], [["X", 1, 0], ["O", 1, 0], ["O", 1, 0], ["X", 1, 0]]],
]);

table("eyes of chains that live by Benson", (rows, stone) => aliveOf(rows, stone).regions.map(String).sort(), [
  [[[".X.XO", "XXXXO", "OOOOO"], "X"], ["0,0", "2,0"]], [[[".X.XO", "XXXXO", "OOOOO"], "O"], []],
  [[[".X.XO", "XX.XO", "OOXXO"], "X"], []], // the two eyes of the right hold one of the stones only
  [[[".X..X", "XXOXX", "..X.."], "X"], []], // a region that holds an empty point beside no stone of the chain
  [[["....", "....", "...."], "X"], []],
]);

/** Return what a person new to Go is told after these moves of Black, who is the person, and White: its name and points. */
function explained(moves, changes = {}, seen = []) {
  const tree = new GameTree([5, 5]);
  const nodes = moves.split(" ").filter(Boolean).map((vertex, index) => ({ id: index + 1, parent: index, move: [index % 2 ? "white" : "black", vertex] }));
  tree.load({ id: "game", nodes: [{ id: 0, parent: null }, ...nodes] });
  tree.show(nodes.length);
  const game = { ...shownState().game, node: nodes.length, moves: nodes.map(({ move }) => move), rows: tree.position().rows, ...changes };
  const found = explanationOf({ ...shownState(), tree, game }, seen);
  return found && [found.name, (found.points ?? []).length];
}

table("what is explained when it first happens", explained, [
  [[""], ["start", 0]], [["C3 D4"], ["liberties", 4]], [["C3 D4", {}, ["liberties"]], null], [["A1 A2"], ["danger", 1]],
  [["A2 A1"], ["atari", 1]], [["A1 A2 E5 B1"], ["captured", 0]], [["A2 A1 B1 E5"], ["capture", 0]],
  [["A2 A1 B1 E5", {}, ["capture"]], ["liberties", 3]], [["B2 E5", { ko: "C3" }], ["ko", 1]], [["C3 pass"], ["pass", 0]],
  [["C3 D4", { is_engine_turn: true }], null], [["C3 pass pass", { phase: "scoring" }], null], [["C3 pass pass", { phase: "scoring", score: "B+1" }], ["counting", 0]],
  [["A4 E1 B5 E2 B4 E3 B3 E4 A2 D4 B2 D5 C1 C5", {}, ["atari", "danger"]], ["eyes", 2]],
]);

test("one's own mistakes come again at growing distance, and need no engine", () => {
  let day = 100;
  const boxes = Object.assign(new Element(), { querySelector: () => new Element() });
  globalThis.matchMedia = () => ({ matches: true });
  const problems = new Problems(boxes, { send: () => assert.fail("nothing is asked for"), onChange: () => {} });
  problems.repetition = new Repetition(() => day);
  const answers = [{ vertex: "E5", points_lost: 0, line: ["E5", ...Array(20).fill("E6")] }, { vertex: "A1", points_lost: 4, line: ["A1", "B2"] }];
  const mistake = { name: "game/7", width: 9, height: 9, setup: [["white", "C3"]], first: "black", vertex: "D4", loss: 3, best: "E5", answers };
  problems.repetition.keep([mistake, { ...mistake, name: "game/9", best: "J9" }]);
  problems.repetition.keep([mistake]);
  assert.deepEqual(problems.repetition.due, [], "none on the day of the game");
  const asked = [];
  for (; day < 200; day++) {
    for (let [due] = problems.repetition.due; due; [due] = problems.repetition.due) {
      problems.repeat();
      const isFirst = day === 103 && due.name === "game/9";
      const states = (isFirst ? ["C3", "D5", "A1"] : [due.best]).map((vertex) => {
        problems.choose(vertex);
        return problems.state;
      });
      assert.deepEqual(states, isFirst ? ["asked", "asked", "wrong"] : ["solved"]);
      if (isFirst) {
        problems.ask();
        problems.choose("J9");
      }
      asked.push([due.name, day - 100]);
    }
  }
  const days = (name) => asked.filter(([each]) => each === name).map(([, number]) => number);
  assert.deepEqual([days("game/7"), days("game/9")], [[1, 3, 7, 15, 31, 63], [1, 3, 4, 6, 10, 18, 34, 66]]);
  assert.deepEqual(problems.repetition.values, { due: {}, mistakes: [] });
});

test("each day brings a problem that ships, and what was wrong comes again; its record answers alone", () => {
  let day = 100;
  const boxes = Object.assign(new Element(), { querySelector: () => new Element() });
  const [first, wrong, away] = ["E4", "D6", "A1"];
  const nodes = [{ id: 0, parent: null, move: ["black", first], is_right: true }, { id: 1, parent: 0, move: ["white", "D3"] }, { id: 2, parent: null, move: ["black", wrong], is_right: false }];
  const problem = { width: 9, height: 9, setup: [["white", "D4"], ["white", "D5"], ["black", "C4"]], first: "black", comment: "capture D4", nodes };
  const asked = [];
  const problems = new Problems(boxes, {
    send: ({ number }) => {
      asked.push([day - 100, number]);
      problems.receive({ ...problem, number });
    },
    onChange: () => {},
    onSet: () => problems.begin("set", 99, { isSet: true }),
  });
  problems.repetition = new Repetition(() => day);
  const solve = (...vertices) => vertices.map((vertex) => {
    problems.choose(vertex);
    const { state } = problems;
    if (state === "wrong") problems.ask();
    return state;
  });
  problems.repeat();
  assert.deepEqual(problems.preview.markup.marks, [[3, 4, "triangle"], [3, 5, "triangle"]]);
  problems.repeat(); // without an answer it stays
  assert.deepEqual(solve(away, wrong, first), ["wrong", "wrong", "solved"]);
  problems.open(1);
  solve(first);
  problems.repetition.keep([{ name: "game/7", answers: [] }]);
  assert.deepEqual(problems.repetition.values.due, { "problem 1": [101, 1], "game/7": [101, 1] }, "solved once more, it still comes tomorrow");
  problems.repetition.change({ due: { "problem 1": [101, 1] }, mistakes: [] });
  problems.repeat(); // the next one, if the person goes on
  for (day = 101; day < 165; day++) {
    problems.repeat();
    if (problems.state === "asked") solve(first);
    if (day === 101) problems.repeat();
  }
  assert.deepEqual(asked.slice(0, 8), [[0, 1], [0, 1], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2], [3, 1]]);
  assert.deepEqual(asked.filter(([, number]) => number === 1).map(([each]) => each), [0, 0, 0, 1, 3, 7, 15, 31, 63]);
  problems.show({ ...problem, comment: "save C4", nodes: [{ ...nodes[0], move: ["black", "C5"] }] });
  solve("C5");
  assert.deepEqual(problems.preview.markup.marks, [[2, 5, "triangle"]], "not on the stone that is played, which has a number");
  problems.isSet = false;
  assert.deepEqual(problems.task, [], "what a file of the person's says is only said");
});

test("places of a game are found, one after the other", () => {
  const { tree } = shownState();
  Object.assign(tree.nodes.get(3), { comment: "A good Shape" });
  const ids = (text) => found(tree, text).map(({ id }) => id);
  assert.deepEqual(["3", " d5", "pass", "SHAPE", "", "Z9", "99"].map(ids), [[3], [6], [], [3], [], [], [8]]);
  const [one, two] = [{}, {}];
  assert.deepEqual([nextOf([one, two], one), nextOf([one, two], two), nextOf([one, two], null), nextOf([], one)], [two, one, one, undefined]);
});

test("moves of a record are guessed: three tries each, and only the first one counts", () => {
  const { tree } = shownState();
  const guessing = new Guessing(() => tree, { onShow: (id) => tree.show(id), onChange() {} });
  tree.show(0);
  assert.deepEqual([guessing.choose("D4"), guessing.preview], [false, null], "nothing is guessed yet");
  guessing.turn(true);
  assert.deepEqual([guessing.text, guessing.preview.places, guessing.preview.rows[1]], ["Where did Black play?", "black", "....."]);
  guessing.choose("D4");
  assert.deepEqual([tree.shown.id, guessing.text], [1, "Where did White play? 1 of 1 on the first try."]);
  for (const vertex of ["C5", "A1"]) guessing.choose(vertex);
  assert.deepEqual([tree.shown.id, guessing.text], [1, "Not A1: it is elsewhere."]);
  guessing.choose("B4");
  assert.deepEqual([tree.shown.id, guessing.text], [2, "Where did Black play? 1 of 2 on the first try."]);
  tree.show(8);
  guessing.ask();
  assert.deepEqual([guessing.choose("A5"), guessing.text], [true, "The record ends here. 1 of 2 on the first try."]);
});
table("distances", distanceText, [[["D4", "E5"], "Not E5, but it is near."], [["D4", "D7"], "Not D7: it is elsewhere."]]);

test("the strength of a person follows results against levels", () => {
  const names = levels().map(([name]) => name);
  const game = (level, isWon, more = {}) => ({ level, result: isWon ? "B+R" : "W+2.5", human: "black", opened: false, handicap: 0, ...more });
  const strength = (...games) => strengthIn(games, names);
  assert.equal(strength(game("max", true), game("5k", true, { opened: true }), game("5k", true, { handicap: 4 }), game("5k", true, { result: "" })), null);
  assert.deepEqual([strength(game("5k", true), game("5k", false)).rank, strength(game("5k", true, { human: "white" })).rank], ["5k", "6k"]);
  const even = Array.from({ length: 20 }, (__, number) => game("3k", number % 2 === 0));
  assert.deepEqual(strength(...even), { count: 20, rank: "3k", low: "4k", high: "2k" });
  const won = strength(...Array.from({ length: 6 }, () => game("9k", true)));
  assert.ok(names.indexOf(won.rank) < names.indexOf("9k") && names.indexOf(won.high) < names.indexOf(won.low), "who wins gets stronger opponents");
  assert.equal(strength(...Array.from({ length: 40 }, () => game("9d", true))).rank, "max");
  let at = "15k"; // a person of 5k who begins at 15k comes near it, whichever side wins by chance
  const [played, real] = [[], names.indexOf("5k")];
  for (let number = 0; number < 60; number++) {
    const share = 1 / (1 + 10 ** ((real - names.indexOf(at)) / 4));
    played.unshift(game(at, (number * 0.618) % 1 < share));
    at = strength(...played).rank;
  }
  assert.ok(Math.abs(names.indexOf(at) - real) <= 3, at);
});

test("the last seconds are said, or each is heard and felt where nothing speaks", () => {
  const [spoken, felt, heard] = [[], [], []];
  const part = { gain: { setValueAtTime() {}, setTargetAtTime() {} }, frequency: {}, connect: () => part, start: () => heard.push("tone"), stop() {} };
  Object.assign(globalThis, {
    SpeechSynthesisUtterance: class { constructor(text) { this.text = text; } },
    AudioContext: class { currentTime = 0; createGain() { return part; } createOscillator() { return part; } },
    speechSynthesis: { cancel() {}, speak: ({ text, lang }) => spoken.push([text, lang]) },
  });
  Object.defineProperty(globalThis, "navigator", { value: { userActivation: { hasBeenActive: true }, vibrate: (times) => felt.push(times) }, configurable: true });
  for (const voice of [true, false]) for (const seconds of [10, 5]) new Sounds(() => ({ voice, sound: true, vibration: true })).count(seconds);
  assert.deepEqual([spoken, felt.length, heard.length], [[["ten seconds", "en"], ["5", "en"]], 2, 2]);
});
