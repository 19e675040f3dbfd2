// Learning from mistakes: what is said about one, continuations to step through, the quiz, and what was solved over games.

import { lossText } from "./board.js";
import { _, ngettext } from "./language.js";
import { colorName, rankName } from "./names.js";
import { pointOf, positionsOf, vertexOf } from "./position.js";

const RIGHT = 1; // points lost below which a move is right
const LEAST_MOVES = 24; // of a player for a rank
const STEP_TIME = 700; // milliseconds between two moves of a continuation that is played out
const MOST_GAMES = 500; // whose lessons are counted; the oldest are forgotten
const KEY = "lessons";
const COLORS = { X: "black", O: "white", B: "black", W: "white" };

export const otherColor = (color) => (color === "B" ? "W" : "B");

/** Return what a mistake lost and what was better: {color, vertex, loss, best}. */
export function mistakeText({ color, vertex, loss, best }) {
  const values = { player: colorName(color), move: vertex, points: loss.toFixed(1), best };
  return best ? _("{player} {move} lost {points}; better {best}", values) : _("{player} {move} lost {points}", values);
}

/** Return sentences about the people who make a mistake, given `people` of the review's JSON. */
export function peopleTexts(people, vertex) {
  const shares = Object.entries(people?.shares ?? {});
  if (shares.length < 2) return [];
  const percent = (share) => (share >= 0.995 || share === 0 ? share * 100 : Math.max(0.1, share * 100)).toFixed(share < 0.00995 && share > 0 ? 1 : 0);
  const [[rank, share], [strong, less]] = [shares[0], shares.at(-1)];
  return [_("A {rank} plays {move} in {share}% of such positions, a {strong} in {less}%.", { rank: rankName(rank), move: vertex, share: percent(share), strong: rankName(strong), less: percent(less) })];
}

/** Return the sentence about the rank that a player's moves look like, `estimate` of the review's JSON; `isYou` for the person. */
function rankText(estimate, name, isYou) {
  const [weakest, strongest, rank] = [estimate.low, estimate.high, estimate.rank].map(rankName);
  const low = estimate.or_weaker ? _("{rank} or weaker", { rank: weakest }) : weakest;
  const high = estimate.or_stronger ? _("{rank} or stronger", { rank: strongest }) : strongest;
  const isOne = estimate.low === estimate.high;
  const values = { name, rank: isOne ? (estimate.or_weaker ? low : high) : rank, low, high };
  if (isYou) return isOne ? _("You played like {rank}.", values) : _("You played like {rank}, between {low} and {high}.", values);
  return isOne ? _("{name} played like {rank}.", values) : _("{name} played like {rank}, between {low} and {high}.", values);
}

/** Return what is said about the ranks of both players, in this order of colours: [text, kind, color], the last without one. */
export function rankLines(order, players, nameOf, isYou = (/** @type {string} */ _color) => false) {
  const told = order.map((color) => [color, players[color].played_like]).filter(([, { estimate, note }]) => estimate || note);
  const lines = told.map(([color, { estimate }]) => estimate ? [rankText(estimate, nameOf(color), isYou(color)), "rank", color]
    : [_("{name}: no rank. It takes {moves} moves of an even game on 19x19.", { name: nameOf(color), moves: LEAST_MOVES }), "soft", color]);
  if (lines.some(([, kind]) => kind === "rank")) lines.push([_("Nine of ten such intervals hold the rank. Ranks are those of the Fox server; other servers differ."), "soft"]);
  return lines;
}

/** Return a position after the first `at` moves of a continuation: {rows, last, numbers}, as boards show them. */
export function boardAfter(rows, toPlay, line, at) {
  const [width, height] = [rows[0].length, rows.length];
  const setup = rows.flatMap((row, y) => [...row].flatMap((stone, x) => (stone === "." ? [] : [[COLORS[stone], vertexOf(x, y, height)]])));
  const moves = line.slice(0, at).map((vertex, index) => [COLORS[index % 2 ? otherColor(toPlay) : toPlay], vertex]);
  const numbers = Object.fromEntries(moves.flatMap(([, vertex], index) => (vertex === "pass" ? [] : [[vertex, index + 1]])));
  return { rows: positionsOf({ width, height, setup, moves }).at(-1).rows, last: null, numbers };
}

/** Return the marks of a mistake on the board, the played move in red, and the better one. */
export function mistakeMarks({ vertex, loss, best }, height) {
  const at = (name) => {
    const point = pointOf(name, height);
    return point && { x: point[0], y: point[1] };
  };
  /** @type {any[]} */
  const marks = [{ ...at(vertex), text: lossText(loss), brief: lossText(loss, 0), loss, kind: "played", label: _("was played, lost {points} points", { points: loss.toFixed(1) }) }];
  if (best) marks.push({ ...at(best), text: "0", loss: 0, kind: "best", label: _("best move") });
  return marks.filter(({ x }) => x !== undefined);
}

/** Plays a continuation out on the board, move by move, and lets people step through it. */
export class Continuation {
  /** `onChange()` is called when another part of it is to be shown. */
  constructor(onChange) {
    this.onChange = onChange;
    this.moves = null; // null: none is shown
    this.at = 0;
  }

  /** Show a continuation, its first `at` moves; with `plays` the others follow by themselves. */
  show(moves, { at = 1, plays = false } = {}) {
    clearInterval(this.timer);
    this.moves = moves;
    const isStill = !plays || matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.at = plays && isStill ? moves.length : Math.min(at, moves.length);
    if (!isStill) this.timer = setInterval(() => (this.at < this.moves.length ? this.go(this.at + 1) : clearInterval(this.timer)), STEP_TIME);
    this.onChange();
  }

  /** Step to the position after `at` moves; false if there is none. */
  step(at) {
    clearInterval(this.timer);
    return this.go(at);
  }

  go(at) {
    if (!this.moves || at < 0 || at > this.moves.length) return false;
    this.at = at;
    this.onChange();
    return true;
  }

  hide() {
    clearInterval(this.timer);
    this.moves = null;
  }
}

/** What was solved over games, in this browser: how each lesson was solved first ("first" try, "later", or only "shown"). */
export class Learned {
  constructor(key = KEY) {
    this.key = key;
  }

  get games() {
    try {
      return JSON.parse(localStorage.getItem(this.key)) ?? {};
    } catch {
      return {}; // storage is not available, or damaged
    }
  }

  of(game) {
    return this.games[game] ?? {};
  }

  add(game, number, how) {
    const { [game]: known = {}, ...games } = this.games;
    if (!known[number] || known[number] === "shown") known[number] = how;
    const kept = Object.entries({ ...games, [game]: known }).slice(-MOST_GAMES);
    try {
      localStorage.setItem(this.key, JSON.stringify(Object.fromEntries(kept)));
    } catch {
      // without storage this session still counts its own
    }
  }

  counts() {
    const games = Object.values(this.games).filter((known) => Object.keys(known).length);
    const every = games.flatMap((known) => Object.values(known));
    return { games: games.length, count: every.length, solved: every.filter((how) => how !== "shown").length, first: every.filter((how) => how === "first").length };
  }
}

/** Positions to solve, one after the other. */
export class Quiz {
  /** A quiz inside `parent`. `show(lesson, continuation)` shows the position before a lesson's mistake, null for none;
   * `evaluate(lesson, vertex)` returns a promise of an answer {vertex, points_lost, line}, or of null, for moves that the review
   * did not look at. */
  constructor(parent, { show, evaluate = /** @type {(lesson: any, vertex: string) => Promise<any>} */ (async () => null) }) {
    this.parent = parent;
    this.show = show;
    this.evaluate = evaluate;
    this.learned = new Learned();
    this.lesson = null; // the one that is asked now
    this.state = ""; // "asked", "thinking", "wrong", "solved"
    this.continuation = new Continuation(() => this.draw());
    const made = (name, properties) => Object.assign(document.createElement(name), properties);
    this.text = made("p", { className: "quiz-text", role: "status" });
    this.progress = made("p", { className: "quiz-progress" });
    this.buttons = made("div", { className: "quiz-buttons" });
    parent.replaceChildren(this.progress, this.text, this.buttons);
    this.begins = made("button", { textContent: _("Learn from your mistakes"), className: "main quiz-start" });
    this.begins.onclick = () => this.start();
    this.offer("", []);
  }

  /** Offer the lessons of a game: {number, color, vertex, loss, best, answers, is_next}, in the order of their weight. */
  offer(game, lessons) {
    const numbers = lessons.map(({ number }) => number).join();
    if (this.game === game && this.numbers === numbers) return;
    if (this.lesson) this.stop();
    this.game = game;
    this.lessons = lessons;
    this.numbers = numbers;
    this.parent.hidden = !lessons.length;
    this.say("", [this.begins]);
    this.tell();
  }

  get isAsking() {
    return this.lesson !== null;
  }

  /** Begin with the lessons that are not solved yet, those that are worth studying next first: `most` of them. */
  start(most = Infinity) {
    const known = this.learned.of(this.game);
    const isSolved = ({ number }) => Number((known[number] ?? "shown") !== "shown");
    this.queue = [...this.lessons].sort((one, other) => isSolved(one) - isSolved(other) || Number(other.is_next) - Number(one.is_next)).slice(0, most);
    this.results = [];
    this.next();
  }

  next() {
    this.lesson = this.queue[this.results.length] ?? null;
    this.tries = 0;
    if (!this.lesson) this.end();
    else this.ask();
  }

  ask() {
    const { color, vertex, loss } = this.lesson;
    this.state = "asked";
    this.continuation.hide();
    this.progress.textContent = _("Position {number} of {count}", { number: this.results.length + 1, count: this.queue.length });
    this.say(
      _("{player} to play. {move} was played here and lost {points} points. Find a better move.", { player: colorName(color), move: vertex, points: loss.toFixed(1) }),
      [this.button(_("Show the answer"), () => this.reveal()), this.button(_("Stop"), () => this.stop())],
    );
    this.draw();
  }

  /** Take the move of the person, on a point with this `stone`, "." for none. */
  async answer(vertex, stone) {
    if (this.state !== "asked") return;
    if (stone !== ".") {
      this.text.textContent = _("{vertex} is occupied.", { vertex });
      return;
    }
    const { lesson } = this;
    this.state = "thinking";
    let found = lesson.answers.find((answer) => answer.vertex === vertex);
    if (!found) {
      this.say(_("Looking at {move} …", { move: vertex }), [this.button(_("Stop"), () => this.stop())]);
      found = await this.evaluate(lesson, vertex);
      if (this.lesson !== lesson || this.state !== "thinking") return;
    }
    if (!found) {
      this.ask();
      this.text.textContent = _("The review did not look at {move}. Try another move.", { move: vertex });
    } else if (found.points_lost < RIGHT) this.right(found);
    else this.wrong(found);
  }

  right({ vertex, points_lost: loss, line }) {
    const text = vertex === this.lesson.best ? _("Right: {move} is the best move.", { move: vertex })
      : _("Right: {move} loses {points} points; the best move is {best}.", { move: vertex, points: loss.toFixed(1), best: this.lesson.best });
    this.solve(this.tries ? "later" : "first", text, line);
  }

  wrong({ vertex, points_lost: loss, line }) {
    this.state = "wrong";
    this.tries += 1;
    const values = { move: vertex, points: loss.toFixed(1), player: colorName(otherColor(this.lesson.color)), reply: line[1] };
    const text = line.length > 1 ? _("{move} loses {points} points: {player} answers {reply}.", values) : _("{move} loses {points} points.", values);
    this.say(text, [
      ...this.steps(), this.button(_("Try again"), () => this.ask(), "main"), this.button(_("Show the answer"), () => this.reveal()), this.button(_("Stop"), () => this.stop()),
    ]);
    this.continuation.show(line, { plays: true });
  }

  reveal() {
    const { best, answers } = this.lesson;
    const { line } = answers.find(({ vertex }) => vertex === best) ?? { line: [best] };
    this.solve("shown", _("The best move is {best}.", { best }), line);
  }

  solve(how, text, line) {
    this.state = "solved";
    this.results.push(how);
    this.learned.add(this.game, this.lesson.number, how);
    const isLast = this.results.length === this.queue.length;
    this.say(text, [...this.steps(), this.button(isLast ? _("Finish") : _("Next position"), () => this.next(), "main"), this.button(_("Stop"), () => this.stop())]);
    this.continuation.show(line, { plays: true });
  }

  end() {
    const { results } = this;
    this.stop();
    const solved = results.filter((how) => how !== "shown").length;
    const first = results.filter((how) => how === "first").length;
    this.text.textContent = _("{solved} of {count} solved, {first} on the first try.", { solved, count: results.length, first });
    this.begins.textContent = _("Learn again");
  }

  stop() {
    this.lesson = null;
    this.state = "";
    this.continuation.hide();
    this.say("", [this.begins]);
    this.tell();
    this.show(null, null);
  }

  /** Say what was solved over games. */
  tell() {
    const counts = this.learned.counts();
    this.progress.textContent = counts.count
      ? ngettext("Over {count} game: {solved} of {positions} positions solved, {first} on the first try.",
        "Over {count} games: {solved} of {positions} positions solved, {first} on the first try.", counts.games, { solved: counts.solved, positions: counts.count, first: counts.first })
      : "";
  }

  draw() {
    if (this.lesson) this.show(this.lesson, this.continuation.moves ? this.continuation : null);
  }

  steps() {
    const step = (by) => () => this.continuation.step(this.continuation.at + by);
    return [this.button("‹", step(-1), "step", _("Previous move")), this.button("›", step(1), "step", _("Next move"))];
  }

  button(textContent, onclick, className = "", ariaLabel = null) {
    return Object.assign(document.createElement("button"), { textContent, onclick, className, ariaLabel });
  }

  /** Show a text and the buttons that go with it; where the one with the focus goes, the first takes it. */
  say(text, buttons) {
    const hadFocus = this.buttons.contains(document.activeElement);
    this.text.textContent = text;
    this.buttons.replaceChildren(...buttons);
    if (hadFocus) (buttons.find(({ className }) => className === "main") ?? buttons[0]).focus();
  }
}
