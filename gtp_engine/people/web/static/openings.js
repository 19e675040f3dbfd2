// An opening explored on the board: what people of a rank play in a position, how games on the server's disk went on, and
// what the moves lose. The moves that are tried here are none of the game's.

import { lossText } from "./board.js";
import { _, ngettext } from "./language.js";
import { pointOf, positionAfter } from "./position.js";
import { ranks } from "./setup.js";

const RANK = "rank"; // the key of the chosen rank
const USUAL_RANK = "5k";

export class Openings {
  /** The panel `parent`, a <details>; `send(message)` asks the server, `base()` returns the position to start from, {game, position,
   * query}, and `onChange()` is called when the board is to be drawn again. */
  constructor(parent, { send, base, onChange }) {
    this.parent = parent;
    this.send = send;
    this.base = base;
    this.onChange = onChange;
    this.find = (name) => parent.querySelector(name);
    this.path = []; // the moves that were tried, [color, vertex]
    this.moves = []; // what the server has found here
    this.number = 0; // of the question
    this.key = ""; // the position that was asked about
    const menu = this.find("[name=rank]");
    menu.append(...ranks().map(([name, text]) => new Option(text, name)));
    menu.value = localStorage.getItem(RANK) ?? USUAL_RANK;
    menu.onchange = () => {
      localStorage.setItem(RANK, menu.value);
      this.ask();
    };
    this.find("#opening-back").onclick = () => this.step(-1);
    this.find("#opening-leave").onclick = () => (parent.open = false);
    parent.addEventListener("toggle", () => {
      this.path = [];
      this.key = "";
      onChange();
    });
  }

  get isOpen() {
    return this.parent.open;
  }

  close() {
    this.parent.open = false;
  }

  /** What the board shows while this is open: the position with the moves that were tried. */
  get preview() {
    if (!this.isOpen) return null;
    const { position } = this.base();
    const { rows, last, toPlay } = positionAfter(position, { moves: this.path });
    return { width: rows[0].length, height: rows.length, rows, last: this.path.length ? last : position.last, candidates: this.marks(rows.length), places: toPlay };
  }

  /** The moves as the board draws them. */
  marks(height) {
    return this.moves.filter(({ vertex }) => vertex !== "pass").map(({ vertex, share, games, points_lost: lost }) => {
      const [x, y] = pointOf(vertex, height);
      const text = share === null ? String(games) : (100 * share).toFixed(0);
      const label = [share !== null && _("{share} play it", { share: percent(share) }), lost !== null && _("loses {points} points", { points: lost.toFixed(1) })];
      return { x, y, text, small: lost === null ? "" : lossText(lost), loss: lost ?? 0, label: label.filter(Boolean).join(", ") };
    });
  }

  /** Take a point of the board; false if the board is not for this. */
  choose(vertex) {
    if (!this.isOpen) return false;
    const { position } = this.base();
    const { rows, toPlay } = positionAfter(position, { moves: this.path });
    const point = pointOf(vertex, rows.length);
    if (point && rows[point[1]][point[0]] === ".") this.go([...this.path, [toPlay, vertex]]);
    return true;
  }

  /** Go back to the move before; false where that is the game's. */
  step(by) {
    if (!this.isOpen || !this.path.length) return false;
    if (by < 0) this.go(this.path.slice(0, -1));
    return true;
  }

  go(path) {
    this.path = path;
    this.onChange();
  }

  /** Ask about the position that is shown, unless that was done; where the game's has changed, what was tried is forgotten. */
  follow() {
    if (!this.isOpen) return;
    const start = JSON.stringify(this.base().query);
    if (this.start !== start) this.path = [];
    this.start = start;
    const key = JSON.stringify([start, this.path]);
    if (this.key === key) return;
    this.key = key;
    this.ask();
  }

  ask() {
    this.moves = [];
    this.number += 1;
    const { query } = this.base();
    const moves = [...query.moves, ...this.path.map(([color, vertex]) => [color === "black" ? "B" : "W", vertex])];
    const isAsked = this.send({ do: "openings", ...query, moves, rank: this.find("[name=rank]").value, number: this.number });
    this.draw(isAsked ? _("Looking …") : "");
  }

  /** Take the server's answer. */
  receive({ number, moves, is_last: isLast }) {
    if (number !== this.number || !this.isOpen) return;
    this.moves = moves;
    const news = moves.length ? "" : _("No moves known from here.");
    this.draw(isLast ? news : _("Finding out what the moves lose …"));
    this.onChange();
  }

  /** An illegal move is taken back. */
  refuse() {
    if (this.isOpen && this.path.length && !this.moves.length) this.go(this.path.slice(0, -1));
  }

  draw(news) {
    this.find("#opening-news").textContent = news;
    this.find("#opening-back").disabled = !this.path.length;
    this.find("#opening-path").textContent = this.path.map(([, vertex]) => vertex).join(" ");
    this.find("table").hidden = !this.moves.length;
    const { toPlay } = positionAfter(this.base().position, { moves: this.path });
    this.find("tbody").replaceChildren(...this.moves.map((move) => {
      const row = document.createElement("tr");
      const button = Object.assign(document.createElement("button"), { textContent: move.vertex });
      button.onclick = () => this.go([...this.path, [toPlay, move.vertex]]);
      const cell = (textContent) => Object.assign(document.createElement("td"), { textContent });
      const first = document.createElement("td");
      first.append(button);
      row.append(first, ...[move.share === null ? "–" : percent(move.share), move.points_lost === null ? "…" : lossText(move.points_lost), gamesText(move)].map(cell));
      return row;
    }));
  }
}

function percent(share) {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`;
}

/** Return how many games went on with a move, and who won them. */
function gamesText({ games, black, white }) {
  if (!games) return "–";
  const count = ngettext("{count} game", "{count} games", games);
  return black + white ? `${count}: ${_("{black} won by Black, {white} by White", { black, white })}` : count;
}
