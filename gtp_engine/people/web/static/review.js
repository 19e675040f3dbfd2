// The review of the game: its progress, both players' accuracy and rank, their biggest mistakes, positions to solve, and its
// files. The server searches and counts; this shows what it has found so far.

import { _, ngettext } from "./language.js";
import { Continuation, Quiz, boardAfter, mistakeMarks, mistakeText, otherColor, peopleTexts } from "./lessons.js";
import { UNNAMED, colorName } from "./names.js";
import { positionsOf, vertexOf } from "./position.js";
import { drawMistakes, drawPlayers, drawRanks, lineAt, mistakeOf } from "./review_parts.js";

const COLORS = { B: "black", W: "white" };
const TYPES = { html: "text/html", sgf: "application/x-go-sgf" };
const MOMENTS = 3;

/** Save a file that the page holds. */
export function download(content, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export class Review {
  /** The panel `parent`; `send(message)` asks the server, `onChoose(number)` shows the position after so many moves,
   * `onPreview()` draws the board again, `evaluate(game, moves)` promises what the server finds after these moves, and
   * `limit()` returns what a position may take: {visits}, {seconds} or nothing;
   * `onMistakes(mistakes)` gets those of the person in a game that was reviewed, as `repetition.js` keeps them. */
  constructor(parent, { send, onChoose, onPreview, evaluate, limit = () => ({}), onMistakes = (/** @type {any[]} */ _mistakes) => {} }) {
    this.find = (name) => parent.querySelector(name);
    this.onChoose = onChoose;
    this.onPreview = onPreview;
    this.onMistakes = onMistakes;
    this.kept = null; // the id of the game whose mistakes were handed on
    this.found = null; // the server's last message about the review of the game
    this.game = null;
    this.shown = null; // what the board shows instead of the game: {game, lesson, continuation, isSolved}
    this.momentsOf = null; // the id of the game whose three moments are looked for
    this.readers = {}; // by games that were opened: whose mistakes come first, "B" or "W"
    this.mistake = null; // the one whose continuations are offered
    this.continuation = new Continuation(() => this.show(this.mistake, this.continuation, { isSolved: true }));
    this.quiz = new Quiz(this.find("#quiz"), {
      show: (lesson, continuation) => this.show(lesson, continuation),
      evaluate: async (lesson, vertex) => {
        const { game, review } = this;
        const after = await evaluate(game, [...game.moves.slice(0, lesson.number - 1), [COLORS[lesson.color], vertex]]);
        const { lead } = review.positions[lesson.number - 1];
        return after && { vertex, points_lost: Math.max(0, lesson.color === "B" ? lead - after.lead : after.lead - lead), line: [vertex, ...after.line] };
      },
    });
    this.begin = () => send({ do: "review", ...limit() });
    this.find("#review-start").onclick = this.begin;
    this.find("#review-stop").onclick = () => send({ do: "stop_review" });
    for (const format of Object.keys(TYPES)) this.find(`#review-${format}`).onclick = () => send({ do: "review_file", format });
  }

  /** Take the server's message; a screen reader announces when the review has begun and when it has ended. */
  receive(message) {
    this.found = message;
    const isForMoments = this.momentsOf === message.id;
    const news = {
      none: "",
      running: isForMoments ? _("Looking for three moments of the game …") : _("Searching every position, the most important ones twice …"),
      finished: _("The review is finished: {mistakes}.", { mistakes: mistakesText(message.review) }),
    }[message.state];
    if (this.find("#review-news").textContent !== news) this.find("#review-news").textContent = news;
  }

  /** Ask about the three moments of a game that are worth most, as soon as they are known. */
  showMoments(id) {
    this.momentsOf = id;
    this.receive(this.found ?? { id, state: "none" });
    if (this.found.state === "none") this.begin();
    this.onPreview();
  }

  saveFile({ format, content }) {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    download(bytes, `tengen-${this.game.id.slice(0, 4)}.review.${format}`, TYPES[format]);
  }

  /** Return what the review says of a game, {values, lost, marks(number)}; null if there is none of the game as it is or of its
   * beginning. The values are Black's winrate and lead by number of moves, `lost` the points by move, and the marks what was
   * better than the next move, and that move, as the board draws them. */
  of(game) {
    const review = this.reviewOf(game);
    return review && {
      values: review.positions,
      lost: review.moves.map(({ points_lost: loss }) => loss),
      marks: (number) => {
        const move = review.moves[number];
        return move?.points_lost && move.best ? mistakeMarks(mistakeOf(move), game.height) : [];
      },
    };
  }

  reviewOf(game) {
    const { found } = this;
    const review = found?.id === game.id ? found.review : null;
    const isPlayed = ({ color, vertex }, number) => game.moves[number]?.[0] === COLORS[color] && game.moves[number][1] === vertex;
    return review?.moves.every(isPlayed) ? review : null;
  }

  get review() {
    return this.game && this.reviewOf(this.game);
  }

  /** Take a point that was chosen on the board, with its stone; false if it is not for the review. */
  choose(vertex, stone) {
    if (this.quiz.isAsking) this.quiz.answer(vertex, stone);
    else if (this.shown) this.onChoose(this.shown.lesson.number - 1);
    else return false;
    return true;
  }

  /** Show the game again. */
  leave() {
    this.continuation.hide();
    if (this.quiz.isAsking) this.quiz.stop();
    this.shown = null;
  }

  /** Show the position before a mistake, or a continuation from there; without either, the game. */
  show(lesson, continuation, { isSolved = false } = {}) {
    const isBegin = lesson && this.quiz.isAsking && !document.body.classList.contains("asking");
    this.shown = lesson && { game: this.game, lesson, continuation, isSolved };
    document.body.classList.toggle("asking", Boolean(lesson) && this.quiz.isAsking);
    if (isBegin) this.find("#quiz").scrollIntoView();
    this.onPreview();
  }

  /** Return what the board shows instead of this game, null for nothing. */
  previewOf(current) {
    if (!this.shown || this.shown.game.id !== current.id) return null;
    const { game, lesson, continuation, isSolved } = this.shown;
    const { width, height } = game;
    const before = positionsOf(game)[lesson.number - 1];
    const board = continuation ? boardAfter(before.rows, lesson.color, continuation.moves, continuation.at) : { rows: before.rows, last: before.last };
    const candidates = continuation ? [] : mistakeMarks({ ...lesson, best: isSolved ? lesson.best : null }, height);
    return { width, height, ...board, candidates, places: continuation ? null : COLORS[lesson.color] };
  }

  draw(game, shown) {
    this.game = game;
    if (this.found && this.found.id !== game.id) this.receive({ id: game.id, state: "none" });
    const { found, review } = this;
    const isDone = review && found.state === "finished";
    this.find("#review-files").hidden = !isDone;
    this.find("#reviewed").hidden = !review;
    this.drawButtons(isDone && review.moves.length === game.moves.length);
    document.body.classList.toggle("studying", Boolean(review?.moves[shown] && this.isMistake(shown + 1)));
    if (!review) {
      this.quiz.offer("", []);
      return;
    }
    const order = this.order;
    this.drawReaders();
    drawPlayers(this.find("#accuracy"), review, colorName);
    drawRanks(this.find("#ranks"), review, order, colorName, (color) => this.isYou(color));
    this.find("#mistakes-title").textContent = found.state === "running" ? _("Biggest mistakes in the first {count} moves", { count: review.moves.length }) : _("Biggest mistakes");
    const titleOf = (color) => (this.isYou(color) ? _("Your mistakes ({player})", { player: colorName(color) }) : _("Mistakes of {player}", { player: colorName(color) }));
    drawMistakes(this.find("#mistakes"), review, order, { titleOf, onChoose: (number) => this.onChoose(number - 1), shown: shown + 1 });
    this.drawMistake(shown);
    const lessons = new Map(review.lessons.map((lesson) => [lesson.number, lesson]));
    const own = review.players[order[0]].mistakes.filter((number) => lessons.has(number));
    const asked = own.map((number) => ({ ...mistakeOf(review.moves[number - 1]), ...lessons.get(number) }));
    this.quiz.offer(game.id, asked);
    if (isDone && this.isYou(order[0]) && this.kept !== game.id) {
      this.kept = game.id;
      this.onMistakes(asked.map((lesson) => keptMistake(game, lesson)));
    }
    if (this.momentsOf === game.id && isDone) this.beginMoments(own.length);
  }

  /** Begin with the moments that were looked for; this draws again, so it comes after the drawing. */
  beginMoments(count) {
    this.momentsOf = null;
    queueMicrotask(() => {
      this.find("#quiz").scrollIntoView({ block: "nearest" });
      if (count) this.quiz.start(MOMENTS);
      else this.find("#review-news").textContent = _("No move of yours lost two points or more.");
    });
  }

  isMistake(number) {
    return Object.values(this.review.players).some(({ mistakes }) => mistakes.includes(number));
  }

  /** The player whose review it is, who comes first, and the other one: the person, or who was chosen in a game of others. */
  get order() {
    const { id, human, opened } = this.game;
    const first = (opened && this.readers[id]) || (human === "white" ? "W" : "B");
    return [first, otherColor(first)];
  }

  /** Whether a colour, "B" or "W", is the person's. */
  isYou(color) {
    const { human, names, opened } = this.game;
    return COLORS[color] === human && (!opened || names[human] === UNNAMED);
  }

  /** Let the reader of a game between others choose whose mistakes to learn from. */
  drawReaders() {
    const box = this.find("#readers");
    const { id, names, opened } = this.game;
    box.hidden = !opened || this.quiz.isAsking;
    while (box.children.length < 2) box.append(document.createElement("button"));
    [...box.children].forEach((button, index) => {
      const color = "BW"[index];
      button.textContent = names[COLORS[color]] === UNNAMED ? colorName(color) : `${colorName(color)}: ${names[COLORS[color]]}`;
      button.setAttribute("aria-pressed", String(this.order[0] === color));
      button.onclick = () => {
        this.readers[id] = color;
        this.onPreview();
      };
    });
  }

  /** Draw the buttons; where one that has the focus goes, another takes it. */
  drawButtons(isWhole) {
    const [start, stop, progress] = ["#review-start", "#review-stop", "#review-progress"].map(this.find);
    const focused = document.activeElement;
    const isRunning = this.found?.state === "running";
    start.hidden = isRunning || isWhole;
    start.disabled = !this.game.moves.length;
    stop.hidden = progress.hidden = !isRunning;
    progress.value = isRunning ? this.found.share : 0;
    if (focused === start && isRunning) stop.focus();
    if (focused === stop && !isRunning) (isWhole ? this.find("#review-html") : start).focus();
  }

  /** Say what is known of the mistake that is about to be made, with its continuations to step through. */
  drawMistake(shown) {
    const box = this.find("#mistake");
    box.hidden = !this.isMistake(shown + 1) || this.quiz.isAsking;
    if (box.hidden) return;
    const { review } = this;
    const mistake = mistakeOf(review.moves[shown]);
    this.mistake = mistake;
    const texts = [mistakeText(mistake), ...peopleTexts(mistake.people, mistake.vertex)];
    const shows = (line) => () => this.continuation.show(line);
    const steps = (by) => () => this.continuation.step(this.continuation.at + by);
    const [line, reply] = [lineAt(review, shown, Infinity), [mistake.vertex, ...lineAt(review, shown + 1, Infinity)]];
    const buttons = [[_("Better: {line}", { line: lineAt(review, shown).join(" ") }), shows(line)],
      [_("As played: {line}", { line: [mistake.vertex, ...lineAt(review, shown + 1)].slice(0, 6).join(" ") }), shows(reply)]];
    if (this.continuation.moves) buttons.push(["‹", steps(-1), _("Previous move")], ["›", steps(1), _("Next move")], [_("Back to the game"), () => this.onChoose(shown)]);
    const key = JSON.stringify([texts, buttons.map(([text]) => text)]);
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    const made = buttons.map(([textContent, onclick, ariaLabel = null]) => Object.assign(document.createElement("button"), { textContent, onclick, ariaLabel }));
    box.replaceChildren(...texts.map((textContent) => Object.assign(document.createElement("p"), { textContent })), ...made);
  }

  /** Step through the continuation that is shown; false if there is none. */
  step(by) {
    const { continuation } = this.quiz.isAsking ? this.quiz : this;
    return Boolean(continuation.moves) && (continuation.step(continuation.at + by) || true);
  }
}

/** Return a lesson as a position that can be asked for without its game. */
function keptMistake(game, { number, color, vertex, loss, best, answers }) {
  const { width, height } = game;
  const names = { X: "black", O: "white" };
  const { rows } = positionsOf(game)[number - 1];
  const setup = rows.flatMap((row, y) => [...row].flatMap((stone, x) => (names[stone] ? [[names[stone], vertexOf(x, y, height)]] : [])));
  return { name: `${game.id}/${number}`, width, height, setup, first: COLORS[color], vertex, loss, best, answers };
}

function mistakesText(review) {
  const count = Object.values(review?.players ?? {}).flatMap(({ mistakes }) => mistakes).length;
  return count ? ngettext("{count} mistake to look at", "{count} mistakes to look at", count) : _("no move lost two points or more");
}
