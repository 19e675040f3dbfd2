// The review of the game: its progress, both players' accuracy and rank, their biggest mistakes, positions to solve, and its
// files. The server searches and counts; this shows what it has found so far.

import { lossClass, lossText } from "./board.js";
import { _, ngettext } from "./language.js";
import { Continuation, Quiz, boardAfter, mistakeMarks, mistakeText, otherColor, peopleTexts, rankLines } from "./lessons.js";
import { UNNAMED, colorName } from "./names.js";
import { positionsOf } from "./position.js";

const COLORS = { B: "black", W: "white" };
const TYPES = { html: "text/html", sgf: "application/x-go-sgf" };
const SHORT_LINE = 6; // moves of a continuation in the list

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
   * `onPreview()` draws the board again, `judge(game, moves)` promises what the server finds after these moves, and
   * `limit()` returns what a position may take: {visits}, {seconds} or nothing. */
  constructor(parent, { send, onChoose, onPreview, judge, limit = () => ({}) }) {
    this.find = (name) => parent.querySelector(name);
    Object.assign(this, { onChoose, onPreview });
    this.found = null; // the server's last message about the review of the game
    this.game = null;
    this.preview = null; // what the board shows instead of the game: {rows, last, numbers, marks, places}
    this.readers = {}; // by games that were opened: whose mistakes come first, "B" or "W"
    this.mistake = null; // the one whose continuations are offered
    this.continuation = new Continuation(() => this.show(this.mistake, this.continuation, { isSolved: true }));
    this.quiz = new Quiz(this.find("#quiz"), {
      show: (lesson, continuation) => this.show(lesson, continuation),
      judge: async (lesson, vertex) => {
        const { game, review } = this;
        const after = await judge(game, [...game.moves.slice(0, lesson.number - 1), [COLORS[lesson.color], vertex]]);
        const { lead } = review.positions[lesson.number - 1];
        return after && { vertex, points_lost: Math.max(0, lesson.color === "B" ? lead - after.lead : after.lead - lead), line: [vertex, ...after.line] };
      },
    });
    this.find("#review-start").onclick = () => send({ do: "review", ...limit() });
    this.find("#review-stop").onclick = () => send({ do: "stop_review" });
    for (const format of Object.keys(TYPES)) this.find(`#review-${format}`).onclick = () => send({ do: "review_file", format });
  }

  /** Take the server's message; a screen reader hears when the review has begun and when it has ended. */
  receive(message) {
    this.found = message;
    const news = {
      none: "",
      running: _("Searching every position, the most important ones twice …"),
      finished: _("The review is finished: {mistakes}.", { mistakes: mistakesText(message.review) }),
    }[message.state];
    if (this.find("#review-news").textContent !== news) this.find("#review-news").textContent = news;
  }

  saveFile({ format, content }) {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    download(bytes, `tengen-${this.game.id.slice(0, 4)}.review.${format}`, TYPES[format]);
  }

  /** Whether there is something to show: a review of the game as it is, or of its beginning. */
  get fits() {
    const { found, review, game } = this;
    return Boolean(review && game && found.id === game.id
      && review.moves.every(({ color, vertex }, number) => game.moves[number]?.[0] === COLORS[color] && game.moves[number][1] === vertex));
  }

  /** What has been found so far, as in the JSON of a review's file. */
  get review() {
    return this.found?.review ?? null;
  }

  /** The winrate and lead of Black in each position, as far as there is one: {winrate, lead}. */
  get values() {
    return this.fits ? this.review.positions : [];
  }

  /** Points lost by each move. */
  get lost() {
    return this.fits ? this.review.moves.map(({ points_lost: loss }) => loss) : [];
  }

  /** Return what was better than the next move, and that move, as the board draws them; none for a good move. */
  marks(number) {
    const move = this.fits && this.review.moves[number];
    return move?.points_lost && move.best ? mistakeMarks(this.mistakeOf(move), this.game.height) : [];
  }

  /** Return a move of the review as `lessons.js` takes a mistake. */
  mistakeOf({ points_lost: loss, ...move }) {
    return { ...move, loss };
  }

  /** Return the moves that are a player's biggest mistakes. */
  mistakesOf(color) {
    return this.review.players[color].mistakes.map((number) => this.review.moves[number - 1]);
  }

  /** Return how the search would go on after a number of moves. */
  lineAt(number) {
    return this.review.positions[number]?.candidates[0]?.line ?? [];
  }

  /** Take a point that was chosen on the board, with its stone; false if it is not for the review. */
  choose(vertex, stone) {
    if (this.quiz.isAsking) this.quiz.answer(vertex, stone);
    else if (this.preview) this.onChoose(this.mistake.number - 1);
    else return false;
    return true;
  }

  /** Show the game again. */
  leave() {
    this.continuation.hide();
    if (this.quiz.isAsking) this.quiz.stop();
    this.preview = null;
  }

  /** Show the position before a mistake, or a continuation from there; without either, the game. */
  show(lesson, continuation, { isSolved = false } = {}) {
    const wasAsking = document.body.classList.contains("asking");
    document.body.classList.toggle("asking", Boolean(lesson) && this.quiz.isAsking);
    if (lesson && this.quiz.isAsking && !wasAsking) this.find("#quiz").scrollIntoView();
    if (!lesson) this.preview = null;
    else {
      const before = positionsOf(this.game)[lesson.number - 1];
      const board = continuation ? boardAfter(before.rows, lesson.color, continuation.moves, continuation.at) : { rows: before.rows, last: before.last };
      const marks = continuation ? [] : mistakeMarks({ ...lesson, best: isSolved ? lesson.best : null }, this.game.height);
      this.preview = { ...board, marks, places: continuation ? null : COLORS[lesson.color] };
    }
    this.onPreview();
  }

  draw(game, shown) {
    this.game = game;
    if (this.found && this.found.id !== game.id) this.receive({ id: game.id, state: "none" });
    const { found, review, fits } = this;
    const isDone = fits && found.state === "finished";
    this.find("#review-files").hidden = !isDone;
    this.find("#reviewed").hidden = !fits;
    this.drawButtons(isDone && review.moves.length === game.moves.length);
    if (!fits) {
      this.quiz.offer("", []);
      return;
    }
    const order = this.order;
    this.drawReaders();
    this.find("#accuracy").tBodies[0].replaceChildren(...order.map((color) => playerRow(color, review.players[color])));
    this.find("#phases").replaceChildren(...order.map((color) => phasesText(color, review.players[color])));
    this.drawRanks(order);
    this.find("#mistakes-title").textContent = found.state === "running" ? _("Biggest mistakes in the first {count} moves", { count: review.moves.length }) : _("Biggest mistakes");
    this.drawMistakes(order, shown);
    this.drawMistake(shown);
    const lessons = new Map(review.lessons.map((lesson) => [lesson.number, lesson]));
    const own = this.mistakesOf(order[0]).filter(({ number }) => lessons.has(number));
    this.quiz.offer(game.id, own.map((mistake) => ({ ...this.mistakeOf(mistake), ...lessons.get(mistake.number) })));
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

  drawRanks(order) {
    const lines = rankLines(order, this.review.players, colorName, (color) => this.isYou(color));
    this.find("#ranks").replaceChildren(...lines.map(([textContent, className]) => Object.assign(document.createElement("p"), { className, textContent })));
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

  /** Draw the lists; the buttons stay where they are, so that the focus does too. */
  drawMistakes(order, shown) {
    const lists = this.find("#mistakes");
    while (lists.children.length < order.length) {
      const section = document.createElement("section");
      section.append(document.createElement("h4"), document.createElement("ol"));
      lists.append(section);
    }
    order.forEach((color, place) => {
      const mistakes = this.mistakesOf(color);
      const [title, list] = lists.children[place].children;
      const name = this.isYou(color) ? _("Your mistakes ({player})", { player: colorName(color) }) : _("Mistakes of {player}", { player: colorName(color) });
      title.textContent = mistakes.length ? name : _("{player}: no move lost two points or more.", { player: colorName(color) });
      while (list.children.length > mistakes.length) list.lastChild.remove();
      while (list.children.length < mistakes.length) {
        const item = document.createElement("li");
        item.append(document.createElement("button"));
        list.append(item);
      }
      mistakes.forEach((mistake, index) => this.drawButton(list.children[index].firstChild, mistake, shown));
    });
  }

  drawButton(button, mistake, shown) {
    const { number, points_lost: loss, winrate_lost: winrate, is_decided: isDecided, seconds } = mistake;
    const why = isDecided ? _("the game was decided") : _("{winrate} winrate", { winrate: `−${(100 * winrate).toFixed(0)} %` });
    const time = Number.isFinite(seconds) ? ` · ${_("took {seconds} s", { seconds: seconds.toFixed(0) })}` : "";
    const chip = Object.assign(document.createElement("span"), { className: `loss ${lossClass(loss)}`, textContent: lossText(loss) });
    const title = Object.assign(document.createElement("strong"), { textContent: `${number}. ${mistakeText(this.mistakeOf(mistake))}` });
    button.replaceChildren(title, chip, ` ${why}${time} · ${this.lineAt(number - 1).slice(0, SHORT_LINE).join(" ")}`);
    button.setAttribute("aria-current", shown === number - 1);
    button.onclick = () => this.onChoose(number - 1);
  }

  /** Say what is known of the mistake that is about to be made, with its continuations to step through. */
  drawMistake(shown) {
    const mistake = ["B", "W"].flatMap((color) => this.mistakesOf(color)).find(({ number }) => number === shown + 1);
    const box = this.find("#mistake");
    box.hidden = !mistake || this.quiz.isAsking;
    if (box.hidden) {
      this.mistake = null;
      return;
    }
    this.mistake = this.mistakeOf(mistake);
    const texts = [mistakeText(this.mistake), ...peopleTexts(mistake.people, this.mistake.vertex)];
    const shows = (line) => () => this.continuation.show(line);
    const steps = (by) => () => this.continuation.step(this.continuation.at + by);
    const [line, reply] = [this.lineAt(shown), [mistake.vertex, ...this.lineAt(shown + 1)]];
    const buttons = [[_("Better: {line}", { line: line.slice(0, SHORT_LINE).join(" ") }), shows(line)],
      [_("As played: {line}", { line: reply.slice(0, SHORT_LINE).join(" ") }), shows(reply)]];
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

function mistakesText(review) {
  const count = Object.values(review?.players ?? {}).flatMap(({ mistakes }) => mistakes).length;
  return count ? ngettext("{count} mistake to look at", "{count} mistakes to look at", count) : _("no move lost two points or more");
}

function playerRow(color, { moves, accuracy, accuracy_interval: interval, mean_points_lost: lost, best_moves: best }) {
  const row = document.createElement("tr");
  const name = Object.assign(document.createElement("th"), { scope: "row", textContent: colorName(color) });
  const texts = moves
    ? [`${accuracy.toFixed(0)}${interval ? ` (${interval.map((each) => each.toFixed(0)).join("–")})` : ""}`, lost.toFixed(1), _("{best} of {moves}", { best, moves })]
    : ["–", "–", "–"];
  row.append(name, ...texts.map((textContent) => Object.assign(document.createElement("td"), { textContent })));
  return row;
}

/** Return a line about what a player lost in each phase of the game, and how long the moves took. */
function phasesText(color, { by_phase: phases, seconds }) {
  const names = { opening: _("opening"), "middle game": _("middle game"), endgame: _("endgame") };
  const parts = Object.entries(phases).filter(([, lost]) => lost !== null).map(([phase, lost]) => `${names[phase]} ${lost.toFixed(1)}`);
  const time = seconds === null ? "" : ` · ${_("{seconds} s per move", { seconds: seconds.toFixed(0) })}`;
  const text = _("{player}, points lost per move: {phases}", { player: colorName(color), phases: parts.join(", ") });
  return Object.assign(document.createElement("p"), { className: "soft", textContent: `${text}${time}` });
}
