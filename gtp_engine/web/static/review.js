// The review of the game: its progress, both players' accuracy, the biggest mistakes, and its files. The server searches
// and counts; this shows what it has found so far.

import { lossText } from "./board.js";

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
  /** The panel `parent`; `send(message)` asks the server, `onChoose(number)` shows the position after so many moves. */
  constructor(parent, { send, onChoose }) {
    this.find = (name) => parent.querySelector(name);
    this.onChoose = onChoose;
    this.found = null; // the server's last message about the review of the game
    this.game = null;
    this.find("#review-start").onclick = () => send({ do: "review" });
    this.find("#review-stop").onclick = () => send({ do: "stop_review" });
    for (const format of Object.keys(TYPES)) this.find(`#review-${format}`).onclick = () => send({ do: "review_file", format });
  }

  /** Take the server's message; a screen reader hears when the review has begun and when it has ended. */
  receive(message) {
    this.found = message;
    const news = {
      none: "",
      running: "Searching every position, the most important ones twice …",
      finished: `The review is finished: ${mistakesText(message)}.`,
    }[message.state];
    if (this.find("#review-news").textContent !== news) this.find("#review-news").textContent = news;
  }

  saveFile({ format, content }) {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    download(bytes, `tengen-${this.game.id.slice(0, 4)}.review.${format}`, TYPES[format]);
  }

  /** Whether there is something to show: a review of the game as it is, or of its beginning. */
  get fits() {
    const { found, game } = this;
    return Boolean(found?.line && game && found.id === game.id && found.positions.length
      && found.line.every(([color, vertex], number) => game.moves[number]?.[0] === COLORS[color] && game.moves[number][1] === vertex));
  }

  /** The winrate and lead of Black in each position, as far as there is one: {winrate, lead}. */
  get values() {
    return this.fits ? this.found.positions.map(([winrate, lead]) => ({ winrate, lead })) : [];
  }

  /** Points lost by each move. */
  get lost() {
    return this.fits ? this.found.moves.map(([points]) => points) : [];
  }

  /** Return what was better than the next move, and that move, as the board draws them; none for a good move. */
  marks(number) {
    const [points, best] = (this.fits && this.found.moves[number]) || [0, null];
    if (!points || !best) return [];
    const played = { loss: points, text: lossText(points), brief: lossText(points, 0), kind: "played", label: `was played, lost ${points.toFixed(1)} points` };
    return [{ vertex: best, text: "0", loss: 0, kind: "best", label: "best move" }, { vertex: this.found.line[number][1], ...played }];
  }

  draw(game, shown) {
    this.game = game;
    if (this.found && this.found.id !== game.id) this.receive({ id: game.id, state: "none" });
    const { found, fits } = this;
    const isDone = fits && found.state === "finished";
    this.find("#review-files").hidden = !isDone;
    this.find("#reviewed").hidden = !fits;
    this.drawButtons(isDone && found.line.length === game.moves.length);
    if (!fits) return;
    this.find("#accuracy").tBodies[0].replaceChildren(...Object.keys(COLORS).map((color) => playerRow(color, found.players[color])));
    this.find("#mistakes-title").textContent = found.state === "running" ? `Biggest mistakes in the first ${found.moves.length} moves` : "Biggest mistakes";
    this.find("#no-mistakes").hidden = found.mistakes.length > 0;
    this.drawMistakes(shown);
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

  /** Draw the list; the buttons stay where they are, so that the focus does too. */
  drawMistakes(shown) {
    const list = this.find("#mistakes");
    const { mistakes, line, moves } = this.found;
    while (list.children.length > mistakes.length) list.lastChild.remove();
    while (list.children.length < mistakes.length) {
      const item = document.createElement("li");
      item.append(document.createElement("button"));
      list.append(item);
    }
    mistakes.forEach(({ number, line: better }, index) => {
      const [color, vertex] = line[number - 1];
      const button = list.children[index].firstChild;
      const played = `${number}. ${color === "B" ? "Black" : "White"} ${vertex} loses ${moves[number - 1][0].toFixed(1)} points`;
      const text = `Better: ${better.slice(0, SHORT_LINE).join(" ")}`;
      button.replaceChildren(Object.assign(document.createElement("strong"), { textContent: played }), ` ${text}`);
      button.setAttribute("aria-current", shown === number - 1);
      button.onclick = () => this.onChoose(number - 1);
    });
  }
}

function mistakesText({ mistakes = [] }) {
  return mistakes.length ? `${mistakes.length} mistake${mistakes.length === 1 ? "" : "s"} to look at` : "no move lost two points or more";
}

function playerRow(color, { moves, accuracy, accuracy_interval: interval, mean_points_lost: lost, best_moves: best }) {
  const row = document.createElement("tr");
  const name = Object.assign(document.createElement("th"), { scope: "row", textContent: color === "B" ? "Black" : "White" });
  const texts = moves
    ? [`${accuracy.toFixed(0)}${interval ? ` (${interval.map((each) => each.toFixed(0)).join("–")})` : ""}`, lost.toFixed(1), `${best} of ${moves}`]
    : ["–", "–", "–"];
  row.append(name, ...texts.map((textContent) => Object.assign(document.createElement("td"), { textContent })));
  return row;
}
