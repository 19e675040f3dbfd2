// Problems of a file, one after the other: the person moves for the side that is to succeed. The record's variations say what
// is right and answer; where they end too soon, the server's engine checks the move.

import { chainsOf } from "./guide.js";
import { _ } from "./language.js";
import { Continuation, Learned } from "./lessons.js";
import { colorName } from "./names.js";
import { pointOf, positionAfter, emptyPosition } from "./position.js";
import { Repetition, problemName } from "./repetition.js";

const KEY = "problems"; // what was solved, in the browser's storage
const TASK = /^(capture|save) ([A-T]\d+)$/; // the comment of a problem that ships; everything that is right is in its record
const RIGHT = 1; // points lost below which a move is right, where one's own mistake is asked for
const OPEN = "problem-file"; // the file and the number of the problem, while this window lasts

export class Problems {
  /** The panel `parent`; `send(message)` asks the server, `onChange()` is called when the board is to be drawn again, and
   * `onSet()` when the problems that ship are to be loaded. */
  constructor(parent, { send, onChange, onSet }) {
    this.parent = parent;
    this.send = send;
    this.onChange = onChange;
    this.onSet = onSet;
    this.find = (name) => parent.querySelector(name);
    this.learned = new Learned(KEY);
    this.repetition = new Repetition();
    this.continuation = new Continuation(() => onChange());
    this.problem = null; // the one that is shown
    this.count = 0;
    this.isSet = false; // whether the problems are those that ship
    this.wanted = null; // the number of the problem that the server is to send
    this.state = ""; // "asked", "thinking", "wrong", "solved"
    this.questions = 0;
    this.buttons = this.find(".problem-buttons");
    this.text = this.find(".problem-text");
  }

  get isOpen() {
    return this.count > 0;
  }

  /** The file that is open in this window, also after the page was loaded again: {file, number, isSet}, or null. */
  get stored() {
    try {
      return JSON.parse(sessionStorage.getItem(OPEN));
    } catch {
      return null;
    }
  }

  store(values) {
    try {
      if (values) sessionStorage.setItem(OPEN, JSON.stringify(values));
      else sessionStorage.removeItem(OPEN);
    } catch {
      // a file that is too long for the storage has to be opened again
    }
  }

  /** Begin with a file in base 64 of which the server has found `count` problems: with this one, or the first that is not solved. */
  begin(file, count, { number = null, isSet = false } = {}) {
    this.isSet = isSet;
    this.file = file;
    this.count = count;
    this.name = `${count}-${hash(file)}`;
    const known = this.learned.of(this.name);
    const solved = Object.keys(known).filter((each) => known[each] !== "shown").map(Number);
    const unsolved = Array.from({ length: count }, (__, index) => index + 1).find((each) => !solved.includes(each));
    const [due] = this.repetition.due;
    const next = isSet ? (typeof due === "number" ? due : this.repetition.newProblem(count, solved)) : unsolved;
    this.open(Math.min(number ?? next ?? 1, count));
  }

  /** Ask for what is due longest, or for the problem of the day. */
  repeat() {
    const [mistake] = this.repetition.due;
    if (typeof mistake !== "object") return this.onSet();
    this.store(null);
    this.isSet = false;
    this.count = 1;
    this.name = "";
    this.wanted = null;
    return this.show(problemOf(mistake));
  }

  open(number) {
    this.store({ file: this.file, number, isSet: this.isSet });
    this.wanted = number;
    this.send({ do: "problem", number });
  }

  /** Take a problem of the server's, unless the person has gone on to something else. */
  receive(problem) {
    if (problem.number === this.wanted) this.show(problem);
  }

  show(problem) {
    this.problem = problem;
    this.tries = 0;
    this.start = positionAfter(emptyPosition(problem.width, problem.height), { setup: problem.setup, player: problem.first });
    this.nodes = new Map([[null, { children: [], move: null }]]);
    for (const values of problem.nodes) {
      const node = { ...values, parent: this.nodes.get(values.parent), children: [] };
      this.nodes.set(node.id, node);
      node.parent.children.push(node);
    }
    mark([...this.nodes.values()]);
    this.ask();
  }

  ask() {
    this.node = this.nodes.get(null);
    this.state = "asked";
    this.continuation.hide();
    const { number, first, comment } = this.problem;
    this.find("#problem-number").textContent = this.problem.mistake ? _("From a game of yours") : _("Problem {number} of {count}", { number, count: this.count });
    const turn = first === "black" ? _("Black to play.") : _("White to play.");
    this.say([turn, this.taskText() ?? comment].filter(Boolean).join("\n"));
    this.tell();
    this.onChange();
  }

  /** What a problem that ships asks for: [all, "capture" or "save", a vertex of the stones]; none of others. */
  get task() {
    return (this.isSet && this.problem.comment.match(TASK)) || [];
  }

  /** Say what is asked for in a problem that ships or a position of the person's own; null for others. */
  taskText() {
    const { mistake, first } = this.problem;
    const [, what] = this.task;
    if (what) return what === "capture" ? _("Capture the marked stones.") : _("Save the marked stones.");
    return mistake ? _("{player} {move} lost {points} points here. Find a better move.", { player: colorName(first === "black" ? "B" : "W"), move: mistake.vertex, points: mistake.loss.toFixed(1) }) : null;
  }

  /** The marks of the stones that a problem is about, as far as they are still there. */
  marksOn(rows) {
    const [, , vertex] = this.task;
    const [x, y] = vertex ? pointOf(vertex, rows.length) : [];
    const chain = chainsOf(this.start.rows).find(({ points }) => points.some(([column, row]) => column === x && row === y));
    return (chain?.points ?? []).filter(([column, row]) => rows[row][column] !== ".").map(([column, row]) => [column, row, "triangle"]);
  }

  /** What the board shows while problems are open. */
  get preview() {
    if (!this.problem) return null;
    const { width, height, first } = this.problem;
    const line = this.continuation.moves ? this.continuation.moves.slice(0, this.continuation.at) : pathOf(this.node);
    const { rows, last } = positionAfter(this.start, { moves: line });
    const before = this.continuation.moves ? this.known : 0;
    const numbers = Object.fromEntries(line.slice(before).flatMap(([, vertex], index) => (vertex === "pass" ? [] : [[vertex, index + 1]])));
    return { width, height, rows, last: this.continuation.moves ? null : last, numbers: this.continuation.moves ? numbers : {}, markup: { marks: this.marksOn(rows) }, places: this.state === "asked" ? first : null };
  }

  /** Take a point of the board; false if no problem is open. */
  choose(vertex) {
    if (!this.problem) return false;
    if (this.state !== "asked") return true;
    const { rows } = this.preview;
    const point = pointOf(vertex, rows.length);
    if (!point || rows[point[1]][point[0]] !== ".") return true;
    const next = this.node.children.find(({ move: [color, at] }) => color === this.problem.first && at === vertex);
    if (!next && this.problem.mistake) this.say(_("The review did not look at {move}. Try another move.", { move: vertex }));
    else if (!next && this.task.length) this.wrong([...pathOf(this.node), [this.problem.first, vertex]]);
    else if (!next) this.askServer(vertex);
    else if (!next.leads) this.wrong(lineFrom(next), next.comment);
    else this.right(next);
    return true;
  }

  /** Go on after a right move: the record answers, or the problem is solved. */
  right(node) {
    const replies = node.children.filter(({ move }) => move[0] !== this.problem.first);
    const reply = replies.find(({ leads }) => leads) ?? replies[0];
    if (node.is_right || !reply) return this.solve(lineFrom(node), node.comment);
    if (reply.is_right || !reply.children.length) return this.solve(lineFrom(reply), reply.comment);
    this.node = reply;
    this.say([_("Right so far: {reply} answers.", { reply: reply.move[1] }), reply.comment].filter(Boolean).join("\n"));
    this.onChange();
    return undefined;
  }

  /** Let the server check a move that the record does not have. */
  askServer(vertex) {
    this.state = "thinking";
    this.questions += 1;
    this.asked = vertex;
    const { width, height, setup, first } = this.problem;
    const letters = ([color, at]) => [color === "black" ? "B" : "W", at];
    this.send({
      do: "check_answer", vertex, number: this.questions, rules: "chinese", komi: 0, boardXSize: width, boardYSize: height,
      initialStones: setup.map(letters), initialPlayer: first === "black" ? "B" : "W", moves: pathOf(this.node).map(letters),
    });
    this.say(vertex === "pass" ? _("Looking for the solution …") : _("Looking at {move} …", { move: vertex }));
  }

  /** Take the server's answer. */
  answered({ number, is_right: isRight, line, best }) {
    if (number !== this.questions || this.state !== "thinking") return;
    const colors = [this.problem.first, this.problem.first === "black" ? "white" : "black"];
    const played = (vertices) => [...pathOf(this.node), ...vertices.map((vertex, index) => [colors[index % 2], vertex])];
    if (this.asked === "pass") this.finish("shown", _("The solution."), played(best), 0);
    else if (isRight && this.problem.nodes.length) this.solve(played(line), _("The record does not have {move}, but it works too.", { move: line[0] }));
    else if (isRight) this.solve(played(line));
    else this.wrong(played(line));
  }

  /** Go on where a move was refused by the server: with what the record says, it is wrong. */
  refused() {
    if (this.state !== "thinking") return;
    if (this.asked === "pass") this.ask();
    else this.wrong([...pathOf(this.node), [this.problem.first, this.asked]]);
  }

  wrong(line, comment = "") {
    this.tries += 1;
    this.state = "wrong";
    const at = pathOf(this.node).length;
    const [[, move], reply] = line.slice(at);
    const text = reply ? _("{move} is wrong: {reply} answers.", { move, reply: reply[1] }) : _("{move} is wrong.", { move });
    this.play([text, comment].filter(Boolean).join("\n"), line, at);
  }

  solve(line, comment = "") {
    this.finish(this.tries ? "later" : "first", [_("Right!"), comment].filter(Boolean).join("\n"), line, pathOf(this.node).length);
  }

  finish(how, text, line, at) {
    this.state = "solved";
    const { mistake, number } = this.problem;
    if (mistake) this.repetition.answered(mistake.name, how);
    else this.learned.add(this.name, number, how);
    if (this.isSet) this.repetition.answered(problemName(number), how);
    this.tell();
    this.play(text, line, at);
  }

  play(text, line, at) {
    this.known = at;
    this.continuation.show(line, { at: Math.min(at + 1, line.length), plays: true });
    this.say(text);
  }

  /** Show the record's solution, or ask the server for one: it gives the best move with the answer of any other. */
  reveal() {
    const nodes = /** @type {any[]} */ ([...this.nodes.values()]).filter(({ move, leads }) => move && leads);
    const good = nodes.find((node) => node.is_right) ?? nodes.find(({ children }) => !children.length);
    this.node = this.nodes.get(null);
    if (good) this.finish("shown", [_("The solution."), good.comment].filter(Boolean).join("\n"), lineFrom(good), 0);
    else this.askServer("pass");
  }

  step(by) {
    if (!this.problem) return false;
    if (this.continuation.moves && this.continuation.at + by > this.known) this.continuation.step(this.continuation.at + by);
    return true;
  }

  stop() {
    if (!this.isOpen) return;
    this.store(null);
    this.problem = this.wanted = null;
    this.state = ""; // an answer that is still to come is for nothing that is shown
    this.count = 0;
    this.continuation.hide();
    this.onChange();
  }

  /** Show a text with the buttons that go with the state; where the one with the focus goes, the first takes it. */
  say(text) {
    const made = (textContent, onclick, { isMain = false, ariaLabel = null } = {}) => Object.assign(document.createElement("button"), { textContent, onclick, ariaLabel, className: isMain ? "main" : "" });
    const { number, mistake } = this.problem;
    const isOver = this.state === "solved";
    const buttons = [];
    if (this.continuation.moves) buttons.push(made("‹", () => this.step(-1), { ariaLabel: _("Previous move") }), made("›", () => this.step(1), { ariaLabel: _("Next move") }));
    if (this.state === "wrong") buttons.push(made(_("Try again"), () => this.ask(), { isMain: true }));
    if (this.state === "asked" && this.node.move) buttons.push(made(_("From the start"), () => this.ask()));
    if (!isOver && this.state !== "thinking") buttons.push(made(_("Show the answer"), () => this.reveal()));
    const isOneOfAll = mistake || this.isSet; // of what comes again
    if (isOneOfAll && isOver && (this.isSet || this.repetition.due.length)) buttons.push(made(_("Next problem"), () => this.repeat(), { isMain: true }));
    if (!isOneOfAll && number > 1) buttons.push(made(_("Previous problem"), () => this.open(number - 1)));
    if (!isOneOfAll && number < this.count) buttons.push(made(_("Next problem"), () => this.open(number + 1), { isMain: isOver }));
    buttons.push(made(_("Stop"), () => this.stop()));
    const hadFocus = this.buttons.contains(document.activeElement);
    this.text.textContent = text;
    this.buttons.replaceChildren(...buttons);
    if (hadFocus) (buttons.find(({ className }) => className) ?? buttons[0]).focus();
  }

  /** Say what was solved of this file. */
  tell() {
    const known = Object.values(this.learned.of(this.name));
    const solved = known.filter((how) => how !== "shown").length;
    const first = known.filter((how) => how === "first").length;
    this.find("#problem-counts").textContent = known.length ? _("{solved} of {count} problems solved, {first} on the first try.", { solved, count: this.count, first }) : "";
  }
}

/** Return a mistake of the person's as a problem. */
function problemOf(mistake) {
  const { width, height, setup, first, best, answers } = mistake;
  const colors = [first, first === "black" ? "white" : "black"];
  const nodes = [];
  for (const { vertex, points_lost: lost, line } of [...answers, ...(answers.some((answer) => answer.vertex === best) ? [] : [{ vertex: best, points_lost: 0, line: [best] }])]) {
    [vertex, ...line.slice(1)].forEach((move, index) => nodes.push({
      id: nodes.length, parent: index ? nodes.length - 1 : null, move: [colors[index % 2], move], ...(!index && { is_right: lost < RIGHT }),
    }));
  }
  return { width, height, setup, first, comment: "", nodes, number: 0, mistake };
}

/** Tell of each node, all before their children, whether it `leads` to what is right: a line that is marked as right, or,
 * where none is, the lines that are not marked as wrong; where nothing is marked, the main line. */
function mark(nodes) {
  const isMarked = (what) => nodes.some((node) => node.is_right === what);
  const [hasRight, hasWrong] = [isMarked(true), isMarked(false)];
  for (const node of nodes) {
    const { parent } = node;
    node.isMain = !parent || (parent.isMain && parent.children[0] === node);
    node.verdict = node.is_right ?? parent?.verdict;
  }
  for (const node of [...nodes].reverse()) {
    const isRight = node.verdict ?? (hasRight ? false : hasWrong || node.isMain);
    node.leads = node.is_right ?? (node.children.length ? node.children.some(({ leads }) => leads) : isRight);
  }
}

/** The moves from the position to a node. */
function pathOf(node) {
  const path = [];
  for (let each = node; each?.move; each = each.parent) path.unshift(each.move);
  return path;
}

/** The moves to a node and on from there, along the first variations. */
function lineFrom(node) {
  const path = pathOf(node);
  for (let next = node.children[0]; next; next = next.children[0]) path.push(next.move);
  return path;
}

/** Return a name for a text: what was solved is kept by it. */
function hash(text) {
  let sum = 5381;
  for (let place = 0; place < text.length; place++) sum = (sum * 33 + text.charCodeAt(place)) >>> 0;
  return sum.toString(36);
}
