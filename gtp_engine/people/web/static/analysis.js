// Live analysis of the position that is shown, and a short one of every other position for the graph. It speaks KataGo's
// analysis protocol; numbers are Black's (the server's setting is overridden).

import { Connection } from "./connection.js";
import { lossText } from "./board.js";
import { _ } from "./language.js";
import { pointOf } from "./position.js";

const ENDLESS = 1000000; // visits of the position that is shown
const BRIEF = 40; // visits of each other position
const LOOK = 60; // visits of a position that is looked at once
const FEW = 16; // visits of the best move below which the mean of all moves counts, as in a review
const LOOK_TIME = 20000; // milliseconds after which that is given up
const INTERVAL = 0.4; // seconds between two reports

export class Analysis {
  /** `onChange()` is called when there is something new to show; `limit()` returns what a position may take: {visits} or
   * {seconds}, or neither. */
  constructor(onChange, limit = () => ({})) {
    this.onChange = onChange;
    this.limit = limit;
    this.connection = null;
    this.game = null;
    this.shown = 0;
    this.live = null; // the last report about what was `asked`
    this.values = []; // {winrate, lead, visits} by number of moves
    this.round = 0; // names the queries: answers to old ones are ignored
    this.asked = "";
  }

  get isOn() {
    return this.connection !== null;
  }

  turnOn() {
    this.connection ??= new Connection("analysis", {
      onOpen: () => {
        this.asked = "";
        this.ask();
      },
      onMessage: (answer) => this.receive(answer),
    });
  }

  turnOff() {
    this.connection?.close();
    this.connection = null;
    this.live = null;
    this.asked = "";
  }

  /** Return what is known about a line and its position after `shown` moves: {isOn, report, values}, the report null and the
   * values, {winrate, lead, visits} by number of moves, empty where the analysis is of another one. */
  of(line, shown) {
    return { isOn: this.isOn, report: line && this.asked === this.keyOf(line, shown) ? this.live : null, values: line ? this.valuesOf(line) : [] };
  }

  valuesOf(line) {
    const isSame = this.game && this.game.id === line.id && sameStart(this.game.moves, line.moves) && this.game.komi === line.komi
      && JSON.stringify(this.game.setup) === JSON.stringify(line.setup); // handicap stones may have been placed
    return isSame ? this.values : [];
  }

  /** Return what makes a question: the line, the position and how long it may be looked at. */
  keyOf({ id, setup, moves }, shown) {
    const { visits = ENDLESS, seconds } = this.limit();
    return JSON.stringify([id, setup, moves, shown, visits, seconds]);
  }

  /** Analyse the position after `shown` moves of a line: a game with `setup` and `moves` of its own. */
  follow(line, shown) {
    if (!this.isOn) return;
    this.values = this.valuesOf(line);
    this.values.length = Math.min(this.values.length, line.moves.length + 1);
    [this.game, this.shown] = [line, shown];
    this.ask();
  }

  ask() {
    if (!this.isOn || !this.game) return;
    const { visits = ENDLESS, seconds } = this.limit();
    const wanted = this.keyOf(this.game, this.shown);
    if (wanted === this.asked) return;
    if (!this.connection.send({ id: "stop", action: "terminate_all" })) return;
    this.asked = wanted;
    this.live = null;
    this.round += 1;
    const moves = this.game.moves.map(inLetters);
    const query = queryOf(this.game);
    this.connection.send({
      ...query, id: `live ${this.round}`, moves: moves.slice(0, this.shown), maxVisits: visits,
      overrideSettings: { ...query.overrideSettings, ...(seconds && { maxTime: seconds }) },
      includeOwnership: true, reportDuringSearchEvery: INTERVAL, firstReportDuringSearchAfter: 0.15, priority: 1,
    });
    const unknown = moves.map((_, number) => number).concat(moves.length)
      .filter((number) => number !== this.shown && !this.values[number]);
    if (unknown.length) {
      this.connection.send({ ...query, id: `graph ${this.round}`, moves, analyzeTurns: unknown, maxVisits: BRIEF });
    }
  }

  receive(answer) {
    const [kind, round] = (answer.id ?? "").split(" ");
    if (Number(round) !== this.round || !answer.rootInfo) return;
    const value = { winrate: answer.rootInfo.winrate, lead: answer.rootInfo.scoreLead, visits: answer.rootInfo.visits };
    const known = this.values[answer.turnNumber];
    if (!known || known.visits < value.visits) this.values[answer.turnNumber] = value;
    if (kind === "live") this.live = answer;
    this.onChange();
  }

  /** Begin again: another network answers now. */
  restart() {
    this.values = [];
    this.game = null;
    if (!this.isOn) return;
    this.turnOff();
    this.turnOn();
  }
}

/** Return the candidates of a report as the board draws them, the best ones first, with these `labels`. */
export function candidatesOf({ moveInfos, rootInfo }, height, count, labels) {
  const isBlack = rootInfo.currentPlayer === "B";
  return marked(moveInfos.filter((move) => move.visits > 0).slice(0, count).map((move) => {
    const [x, y] = pointOf(move.move, height) ?? [];
    return {
      vertex: move.move, winrate: isBlack ? move.winrate : 1 - move.winrate, lead: isBlack ? move.scoreLead : -move.scoreLead,
      visits: move.visits, pv: move.pv, line: move.pv, color: isBlack ? "black" : "white", x, y,
    };
  }), labels);
}

/** Promise what the server finds after these moves of a game: Black's lead and how it goes on; null for illegal ones. */
export function lookAt(game, moves) {
  return new Promise((resolve) => {
    const end = (found) => {
      clearTimeout(timer);
      connection.close();
      resolve(found);
    };
    const timer = setTimeout(() => end(null), LOOK_TIME);
    const connection = new Connection("analysis", {
      onOpen: () => connection.send({ ...queryOf(game), id: "look", moves: moves.map(inLetters), maxVisits: LOOK }),
      onMessage: ({ rootInfo, moveInfos, error }) => {
        if (error) end(null);
        else if (rootInfo) end({ lead: (moveInfos[0]?.visits >= FEW ? moveInfos[0] : rootInfo).scoreLead, line: moveInfos[0]?.pv ?? [] });
      },
    });
  });
}

/** Return what every query about a game says. */
export function queryOf(game) {
  return {
    rules: game.rules.startsWith("{") ? JSON.parse(game.rules) : game.rules,
    komi: game.komi, boardXSize: game.width, boardYSize: game.height,
    initialStones: game.setup.map(inLetters), initialPlayer: game.first === "black" ? "B" : "W",
    overrideSettings: { reportAnalysisWinratesAs: "BLACK" },
  };
}

function inLetters([color, vertex]) {
  return [color === "black" ? "B" : "W", vertex];
}

/** Return moves, the best first, with what the board shows of them; winrate and lead are those of the side to move. The
 * labels are "points" (lost against the best move), "winrate" or "visits". */
export function marked(moves, labels) {
  const most = Math.max(1, ...moves.map((move) => move.visits));
  return moves.map((move, rank) => {
    const loss = Math.max(0, moves[0].lead - move.lead);
    const percent = (100 * move.winrate).toFixed(0);
    const texts = { points: [lossText(loss), lossText(loss, 0)], winrate: [percent, percent], visits: [short(move.visits), short(move.visits)] };
    const [text, brief] = texts[labels];
    const small = labels === "points" ? percent : lossText(loss);
    const label = rank ? _("loses {points} points", { points: loss.toFixed(1) }) : _("best move");
    return { ...move, loss, text, brief, small, label, share: move.visits / most, kind: rank ? "" : "best" };
  });
}

function sameStart(one, other) {
  return one.slice(0, other.length).every(([color, vertex], number) => other[number] === undefined || (color === other[number][0] && vertex === other[number][1]));
}

function short(count) {
  return count < 1000 ? String(count) : count < 100000 ? `${(count / 1000).toFixed(1)}k` : `${Math.round(count / 1000)}k`;
}
