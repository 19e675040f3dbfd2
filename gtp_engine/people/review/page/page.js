// The page of a review: the game to step through, its mistakes by player, positions to solve, graphs, and both players in
// numbers.

import { Board, lossClass, lossText } from "./board.js";
import { Graph } from "./graph.js";
import { _, bestLanguage, leadText, signed, speak } from "./language.js";
import { Continuation, Quiz, mistakeMarks, mistakeText, peopleTexts, boardAfter } from "./lessons.js";
import { colorName, rankName, rulesText } from "./names.js";
import { pointOf } from "./position.js";
import { drawMistakes, drawPlayers, drawRanks, element, lineAt, mistakeOf, stoneOf } from "./review_parts.js";

const review = JSON.parse(document.getElementById("data").textContent);
const { width, height } = review.game;
const { positions, moves } = review;
const language = document.documentElement.dataset.language;
const texts = JSON.parse(document.getElementById("texts").textContent);
const spoken = bestLanguage(language ? [language] : navigator.languages, Object.keys(texts));
speak(spoken, texts[spoken]);
const MARKS = { BM: _("bad move"), DO: _("doubtful"), IT: _("interesting"), TE: _("fine move") };
const SHOWN = 3; // candidates of a position
const SWIPE = 40; // pixels
const $ = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
const board = new Board($("board"), choose, { usage: _("Arrow keys move on the board, Enter shows how a move goes on.") });
const continuation = new Continuation(draw);
const quiz = new Quiz($("quiz"), { show: showLesson });
let now = 0;
let showHints = true;
let showOwner = false;
let reader = review.person ?? "B"; // whose mistakes come first

const percent = (value) => `${(100 * value).toFixed(1)}%`;
const candidates = () => positions[now].candidates.slice(0, SHOWN);
const rowsOf = ({ stones }) => Array.from({ length: height }, (_row, y) => stones.slice(y * width, (y + 1) * width));
const bestOf = (number) => positions[number].candidates[0] ?? null;
const replyOf = (number) => [moves[number - 1].vertex, ...(bestOf(number)?.line ?? [])];
const isMistake = ({ number, mark, color }) => mark === "BM" || mark === "DO" || review.players[color].mistakes.includes(number);

/** Return the winrate and lead of a position or a candidate as the side to play in position `number` sees them. */
function seen({ winrate, lead }, number = now) {
  return positions[number].to_play === "B" ? { winrate, lead } : { winrate: 1 - winrate, lead: -lead };
}

const mistake = (number) => mistakeOf(moves[number - 1]);

/** Return the mistake that the next move of the game is, null if it is none. */
function nextMistake() {
  return moves[now] && isMistake(moves[now]) ? mistake(now + 1) : null;
}

// --- the board ---

function draw() {
  drawBoard();
  describe();
}

function drawBoard() {
  const { lesson } = quiz;
  const line = (lesson ? quiz.continuation : continuation).moves && (lesson ? quiz.continuation : continuation);
  const position = positions[now];
  const shown = line ? boardAfter(rowsOf(position), position.to_play, line.moves, line.at)
    : { rows: rowsOf(position), last: now ? pointOf(moves[now - 1].vertex, height) : null };
  board.render({ width, height, ...shown, .../** @type {any} */ (lesson ? questionOf(lesson, line) : line ? {} : analysisOf(position)) });
}

/** Return what the board shows of a lesson: its mistake, which is marked until there is an answer. */
function questionOf(lesson, line) {
  return { candidates: line ? [] : mistakeMarks({ ...lesson, best: null }, height), places: line ? null : lesson.color === "B" ? "black" : "white" };
}

/** Return what the board shows of a position: candidates, the next move, who is expected to own what. */
function analysisOf({ ownership }) {
  const found = nextMistake();
  const marks = showHints ? candidates().map(markOf).filter(({ x }) => x !== undefined) : [];
  const played = showHints && found ? mistakeMarks(found, height) : [];
  const others = marks.filter(({ x, y }) => !played.some((each) => each.x === x && each.y === y));
  return {
    candidates: [...others, ...played], ownership: showOwner ? ownership.map((percents) => percents / 100) : null,
    next: showHints && moves[now] && !found ? pointOf(moves[now].vertex, height) : null,
  };
}

/** Return a candidate as the board draws it. */
function markOf(candidate, rank) {
  const loss = lossOf(candidate);
  const [x, y] = pointOf(candidate.vertex, height) ?? [];
  const label = rank ? _("loses {points} points", { points: loss.toFixed(1) }) : _("best move");
  return { x, y, loss, text: lossText(loss), brief: lossText(loss, 0), kind: rank ? "" : "best", label };
}

/** Return what a candidate of the position that is shown loses against the best one, in points. */
function lossOf(candidate) {
  return Math.max(0, seen(positions[now].candidates[0]).lead - seen(candidate).lead);
}

/** Take a point of the board: an answer of the quiz, or a candidate whose continuation is wanted. */
function choose(vertex) {
  if (quiz.isAsking) {
    quiz.answer(vertex, board.stoneAt(vertex));
    return;
  }
  const found = showHints && !continuation.moves && candidates().find((candidate) => candidate.vertex === vertex);
  if (found) continuation.show(found.line);
  else if (!continuation.moves && moves[now]?.vertex === vertex) continuation.show(replyOf(now + 1));
}

// --- words about the position ---

function describe() {
  const parts = [];
  if (quiz.isAsking) parts.push(quiz.state === "asked" ? element("p", { class: "soft" }, _("Click the point where you would play.")) : "");
  else parts.push(...(continuation.moves ? lineTexts() : positionTexts()));
  $("now").replaceChildren(...parts);
}

function positionTexts() {
  const position = positions[now];
  const { winrate, lead } = seen(position);
  const values = { player: colorName(position.to_play), winrate: percent(winrate), lead: signed(lead), visits: position.visits };
  const outlook = _("{player} to play: winrate {winrate}, lead {lead}; {visits} visits.", values);
  const parts = [moveText(), element("p", { class: "soft" }, outlook)];
  const found = nextMistake();
  if (found) {
    parts.push(element("p", { class: "verdict" }, mistakeText(found)));
    parts.push(...peopleTexts(moves[now].people, found.vertex).map((text) => element("p", {}, text)));
    if (review.lessons.some(({ number, is_next: isNext }) => isNext && number === now + 1)) {
      parts.push(element("p", {}, _("Worth studying next: players two ranks stronger play it less often.")));
    }
  }
  const people = moves[now]?.people;
  if (people) {
    parts.push(element("p", { class: "soft" }, _("Players of {rank} play {move} most ({share}).", { rank: rankName(people.rank), move: people.vertex, share: percent(people.share) })));
  }
  return [...parts, chips(found)];
}

function moveText() {
  const move = now > 0 ? moves[now - 1] : null;
  if (!move) return element("p", {}, _("Start of the game"));
  const text = element("p", {}, stoneOf(move.color), _("Move {number}: {player} {move}", { number: now, player: colorName(move.color), move: move.vertex }));
  if (move.mark) text.append(" ", element("span", { class: move.mark }, MARKS[move.mark]));
  if (move.points_lost > 0) text.append(" · ", _("lost {points} points and {winrate} winrate", { points: move.points_lost.toFixed(1), winrate: percent(move.winrate_lost) }));
  if (move.seconds !== null) text.append(" · ", _("took {seconds} s", { seconds: move.seconds.toFixed(0) }));
  return text;
}

/** Return buttons for the continuations: of the candidates, seen by the side to play, and of a mistake. */
function chips(found) {
  const list = element("div", { class: "candidates", role: "group", "aria-label": _("Moves, from {player}'s point of view", { player: colorName(positions[now].to_play) }) });
  const add = (loss, text, line, label) => {
    const button = element("button", { title: label }, element("span", { class: `loss ${lossClass(loss)}` }, lossText(loss)), ` ${text}`);
    button.addEventListener("click", () => continuation.show(line));
    list.append(button);
  };
  for (const candidate of candidates()) {
    if (found?.vertex === candidate.vertex) continue;
    const { winrate, lead } = seen(candidate);
    add(lossOf(candidate), `${candidate.vertex}  ${percent(winrate)}  ${signed(lead)}`, candidate.line, _("Points lost, move, winrate and lead; shows how it goes on"));
  }
  if (found) add(found.loss, _("{move}, as played", { move: found.vertex }), replyOf(now + 1), _("Shows how the mistake is answered"));
  return list;
}

function lineTexts() {
  const { moves: line, at } = continuation;
  const text = line.map((vertex, index) => element("span", index < at ? { class: "seen" } : { class: "soft" }, `${index + 1} ${vertex} `));
  const back = element("button", { title: "Escape" }, _("Back to the game"));
  back.addEventListener("click", () => show(now));
  return [element("p", {}, _("Continuation, move {number} of {count}", { number: at, count: line.length })), element("p", { class: "line" }, ...text), back];
}

// --- graphs ---

/** Return the graphs by their elements, each with what it draws. */
function newGraphs() {
  const marked = moves.filter(isMistake).map(({ number, points_lost: lost }) => [number, `dot ${lossClass(lost)}`]);
  const far = Math.max(2, ...positions.map(({ lead }) => Math.abs(lead)));
  const most = Math.max(2, ...moves.map((move) => move.points_lost));
  const times = moves.map(({ seconds }) => seconds);
  const longest = Math.max(1, ...times);
  const upwards = (values) => values.map((value, move) => (moves[move].color === "B" ? value : -value));
  const both = (top, text) => ({ low: -top, high: top, marks: [-top, 0, top], text: (value) => text(Math.abs(value)) });
  const series = {
    winrate: { kind: "graph-winrate", values: positions.map((each) => each.winrate), low: 0, high: 1, marks: [0, 0.5, 1],
      text: (value) => `${Math.round(100 * value)}%`, area: "graph-area", dots: marked },
    lead: { kind: "graph-lead", values: positions.map((each) => each.lead), low: -far, high: far, marks: [-far, 0, far],
      text: leadText, dots: marked },
    lost: { kind: (move) => `graph-bar ${lossClass(moves[move].points_lost)}`, values: upwards(moves.map((move) => move.points_lost)),
      ...both(most, (value) => String(+value.toFixed(1))) },
    time: { kind: (move) => `graph-time ${moves[move].color}`, values: upwards(times), ...both(longest, (value) => `${value.toFixed(0)} s`) },
  };
  const isTold = times.some((seconds) => seconds !== null);
  $("time-card").hidden = !isTold;
  if (!isTold) delete series.time;
  return Object.entries(series).map(([id, drawn]) => [new Graph($(id), (number) => show(number), [64, 8, 8, 18], textAt), drawn]);
}

/** Return what a graph says about a number of moves. */
function textAt(number) {
  const { winrate, lead } = positions[number];
  const lost = number && moves[number - 1].points_lost > 0.05 ? _("lost {points} points", { points: moves[number - 1].points_lost.toFixed(1) }) : "";
  return [_("Move {number}", { number }), _("Black {percent}", { percent: percent(winrate) }), leadText(lead), lost].filter(Boolean).join(" · ");
}

// --- mistakes and players ---

const nameOf = (color) => review.players[color].name || colorName(color);
const inOrder = () => [reader, reader === "B" ? "W" : "B"];

/** Show the position before a mistake, with the board in view. */
function showMistake(number) {
  show(number - 1);
  if (matchMedia("(max-width: 860px)").matches) $("board").scrollIntoView({ behavior: "smooth" });
}

/** Draw what can be solved: the lessons of the reader. */
function drawQuiz() {
  const found = new Map(review.lessons.map((lesson) => [lesson.number, lesson]));
  const numbers = review.players[reader].mistakes.filter((number) => found.has(number));
  quiz.offer(`${review.key ?? ""}${reader}`, numbers.map((number) => ({ ...mistake(number), ...found.get(number) })));
  $("quiz-card").hidden = !review.lessons.length;
  $("no-lessons").hidden = numbers.length > 0;
  for (const color of ["B", "W"]) $(`reader-${color}`).setAttribute("aria-pressed", String(reader === color));
}

/** Show a lesson of the quiz, or null for the game again. */
function showLesson(lesson) {
  const wasAsking = $("quiz-card").classList.contains("asking");
  $("quiz-card").classList.toggle("asking", Boolean(lesson));
  if (lesson && !wasAsking) $("quiz-card").scrollIntoView(); // above the board now
  if (lesson) {
    now = lesson.number - 1;
    continuation.hide();
    drawPlace();
  }
  draw();
}

// --- moving about ---

function drawPlace() {
  $("slider").value = now;
  for (const [graph, drawn] of /** @type {[Graph, any][]} */ (graphs)) graph.show(moves.length, now, [drawn]);
}

/** Show the position after `number` moves of the game. */
function show(number) {
  if (quiz.isAsking) quiz.stop();
  now = Math.max(0, Math.min(positions.length - 1, number));
  continuation.hide();
  draw();
  drawPlace();
}

/** Step through the continuation that is shown, or else through the game. */
function step(by) {
  const shown = quiz.isAsking ? quiz.continuation : continuation;
  if (shown.moves) shown.step(shown.at + by);
  else if (!quiz.isAsking) show(now + by);
}

/** Go to the position before the next or the previous mistake. */
function jump(by) {
  const before = moves.filter(isMistake).map((move) => move.number - 1);
  const found = by > 0 ? before.find((number) => number > now) : before.filter((number) => number < now).pop();
  if (found !== undefined) show(found);
}

function toggle(id) {
  if (id === "hints") showHints = !showHints; else showOwner = !showOwner;
  $(id).setAttribute("aria-pressed", String(id === "hints" ? showHints : showOwner));
  show(now);
}

/** Show the mistakes and lessons of a player first. */
function read(color) {
  reader = color;
  drawMistakes($("mistakes"), review, inOrder(), { titleOf: nameOf, onChoose: showMistake });
  drawQuiz();
  drawRanks($("ranks"), review, inOrder(), nameOf);
}

function begin() {
  const name = (color) => [nameOf(color), review.players[color].rank].filter(Boolean).join(" ");
  $("title").replaceChildren(stoneOf("B"), name("B"), " – ", stoneOf("W"), name("W"));
  const { game } = review;
  const facts = [`${width}×${height}`, rulesText(game.rules), _("komi {komi}", { komi: game.komi })];
  if (game.handicap) facts.push(_("handicap {stones}", { stones: game.handicap }));
  if (game.result) facts.push(_("result {result}", { result: game.result }));
  if (game.date) facts.push(game.date);
  $("facts").textContent = facts.join(" · ");
  $("footer").textContent = [_("Reviewed by {program} with {network}.", { program: review.program, network: review.network }), ...review.notes].join(" ");
  $("slider").max = positions.length - 1;
  $("slider").addEventListener("input", ({ target }) => show(Number(/** @type {HTMLInputElement} */ (target).value)));
  const actions = { first: () => show(0), back: () => step(-1), next: () => step(1),
    last: () => show(positions.length - 1), hints: () => toggle("hints"), owner: () => toggle("owner"),
    "previous-mistake": () => jump(-1), "next-mistake": () => jump(1), "reader-B": () => read("B"), "reader-W": () => read("W") };
  for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
  const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", h: "hints", o: "owner",
    p: "previous-mistake", n: "next-mistake" };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || /** @type {Element} */ (event.target).matches("input")) return;
    if (event.key === "Escape") show(now);
    else if (event.key in keys) actions[keys[event.key]]();
    else return;
    event.preventDefault();
  });
  $("board").addEventListener("mousedown", (event) => event.preventDefault()); // arrow keys stay those of the game
  let touch = null;
  $("board").addEventListener("touchstart", (event) => { touch = event.touches[0].clientX; }, { passive: true });
  $("board").addEventListener("touchend", (event) => {
    const moved = event.changedTouches[0].clientX - touch;
    if (Math.abs(moved) > SWIPE) step(moved < 0 ? 1 : -1);
  });
  for (const color of ["B", "W"]) $(`reader-${color}`).append(stoneOf(color), nameOf(color));
  drawPlayers($("players"), review, nameOf);
  read(reader);
  const wanted = /^#([0-9]+)$/.exec(location.hash);
  show(wanted ? Number(wanted[1]) : 0);
}

// --- on paper ---

/** Draw a diagram of each mistake, which are for paper only. */
function drawDiagrams() {
  const numbers = inOrder().flatMap((color) => review.players[color].mistakes);
  $("diagrams").replaceChildren(...numbers.map((number) => {
    const place = element("div");
    const before = number > 1 ? moves[number - 2] : null;
    const drawn = new Board(place, () => {}, { hasCursor: false });
    const last = before ? pointOf(before.vertex, height) : null;
    drawn.render({ width, height, rows: rowsOf(positions[number - 1]), last, candidates: mistakeMarks(mistake(number), height) });
    const lines = [mistakeText(mistake(number)), lineAt(review, number - 1, Infinity).join(" "), ...peopleTexts(moves[number - 1].people, moves[number - 1].vertex)];
    return element("figure", {}, place, element("figcaption", {}, element("strong", {}, `${number}. ${lines[0]}`), ...lines.slice(1).map((text) => element("div", {}, text))));
  }));
}

const graphs = newGraphs();
begin();
addEventListener("beforeprint", drawDiagrams);
