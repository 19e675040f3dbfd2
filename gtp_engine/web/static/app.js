// The page: one game, its board, clocks and analysis. The game itself lives in the server; this shows it and asks.

import "./choose_language.js"; // first: what follows speaks it
import { Analysis, lookAt, marked } from "./analysis.js";
import { Board } from "./board.js";
import { Connection } from "./connection.js";
import { Course } from "./course.js";
import { _, ngettext } from "./language.js";
import { pointOf, positionsOf } from "./position.js";
import { countingText, drawTally, resultText } from "./result.js";
import { Review, download } from "./review.js";
import { Setup } from "./setup.js";

const CANDIDATES = 8; // on the board and in the table
const PV_LENGTH = 8;
const ERROR_TIME = 6000; // milliseconds
const LOW_TIME = 10; // seconds
const STATUS_TIME = 2000; // milliseconds to wait for the status of a server that is gone or refuses
const UNAUTHORIZED = 401; // the HTTP status where the token is wrong
const WAIT_TIME = 2000; // milliseconds without an answer after which the page says so
const SLOW = new Set(["hint", "load", "open", "review", "stop_review", "review_file", "check_time"]); // requests that take their time
const PASS_TIME = 2000; // milliseconds after a move in which a pass is more likely a finger that slipped
const DOUBLE_DISTANCE = 30; // pixels
const DOUBLE_TIME = 500; // milliseconds in which a second click at the same place is not meant for another button
const COMPILING_TIME = 3000; // milliseconds between two questions whether the engine is compiled

const element = (id) => document.getElementById(id);

let game = null;
let positions = [];
let shown = 0; // the number of moves of the position on the board
let received = 0; // when the clocks of `game` were right
let ahead = null; // the vertex of a move that the server has not answered yet
let played = -Infinity; // when the person's last move was made
let wantsHint = false; // at the person's next turn
let hints = null;
let announced = "";
let hasFingers = matchMedia("(any-pointer: coarse)").matches;
let lastClick = null;
let longestFile = Infinity; // bytes that the server takes

const board = new Board(element("board"), choose);
const course = new Course(element("graph"), showMove);
const analysis = new Analysis(drawAnalysis);
const review = new Review(element("review"), { send, onChoose: showMistake, onPreview: () => game && draw(), judge: lookAt });
const setup = new Setup(element("setup"), (message) => send(message));
board.show({ width: 9, height: 9, rows: Array(9).fill(".".repeat(9)), last: null, dead: [], ko: null });
const server = new Connection("play", { onOpen: opened, onMessage: receive, onLost: lost });

// --- the server ---

function send(message) {
  hideError();
  if (!server.send(message)) {
    showError(_("There is no connection to the server at the moment."));
    return false;
  }
  clearTimeout(send.timer);
  if (!SLOW.has(message.do)) send.timer = setTimeout(() => say(_("Waiting for the server …")), WAIT_TIME);
  return true;
}

/** Return the id of the game in the page's address, null without one. */
function addressed() {
  return new URLSearchParams(location.hash.slice(1)).get("game");
}

function opened() {
  ahead = null;
  const id = addressed() ?? localStorage.getItem("game");
  if (game) server.send({ do: "open", id: game.id });
  else if (id) server.send({ do: "open", id });
  else setup.open();
}

/** Say why there is no connection: a WebSocket does not tell the status with which a server refuses it. */
async function lost() {
  const request = { cache: "no-store", signal: AbortSignal.timeout(STATUS_TIME) };
  const response = await fetch(location.pathname, request).catch(() => null);
  if (server.isOpen) return;
  if (response?.status === UNAUTHORIZED) say(_("The server has another token now: open the address that it printed."));
  else say(_("The connection to the server is lost; trying again …"));
}

function receive(message) {
  clearTimeout(send.timer);
  const handlers = {
    hello: (hello) => {
      setup.offer(hello);
      longestFile = hello.max_file;
      element("about").textContent = `Tengen ${hello.version}`;
      if (!game) say(_("Start a new game, or open a record."));
    },
    game: showGame,
    hint: ({ moves }) => {
      showMove(game.moves.length);
      hints = moves;
      draw();
      const [best] = moves;
      if (best) say(_("Hint: {vertex}, winrate {percent} %.", { vertex: best.vertex, percent: (100 * best.winrate).toFixed(0) }));
    },
    record: ({ content }) => saveRecord(content),
    review: showReview,
    review_file: (file) => review.saveFile(file),
    error: ({ message: text }) => {
      if (!game && text.startsWith("there is no game")) {
        localStorage.removeItem("game");
        history.replaceState(null, "", location.pathname);
        setup.open();
      } else {
        ahead = null;
        if (game) draw(); // nothing is looked for any more
        showError(text);
      }
    },
  };
  handlers[message.type]?.(message);
}

function showGame(message) {
  const isFollowed = !game || game.id !== message.id || shown === game.moves.length || shown > message.moves.length;
  const isNew = game?.id !== message.id;
  if (isNew || game.moves.length !== message.moves.length) {
    hints = null;
    review.leave();
  }
  if (game?.is_engine_turn !== message.is_engine_turn || game.moves.length !== message.moves.length || isNew) ahead = null;
  game = message;
  received = performance.now() - 1000 * game.age;
  positions = positionsOf(game);
  if (isFollowed) shown = game.moves.length;
  if (isNew) {
    localStorage.setItem("game", game.id);
    history.replaceState(null, "", `#game=${game.id}`);
  }
  draw();
  if (analysis.isOn) analysis.follow(game, shown);
  if (wantsHint && !game.is_engine_turn) askForHint();
  clearTimeout(showGame.timer);
  if (game.compiling) showGame.timer = setTimeout(() => server.send({ do: "open", id: game.id }), COMPILING_TIME);
}

function showReview(message) {
  review.receive(message);
  review.draw(game, shown);
  drawAnalysis();
}

// --- what the person does ---

function choose(vertex) {
  if (!game || ahead || review.choose(vertex)) return;
  if (game.phase === "scoring") send({ do: "toggle_dead", vertex });
  else if (shown !== game.moves.length) showMove(game.moves.length);
  else if (game.phase !== "finished") play(vertex);
}

/** Ask for a move, and show its stone at once. */
function play(vertex) {
  if (!send({ do: "play", vertex })) return;
  const point = pointOf(vertex, game.height);
  if (!point || game.phase !== "playing" || game.is_engine_turn || game.rows[point[1]][point[0]] !== "." || vertex === game.ko) return;
  [ahead, played] = [vertex, performance.now()];
  draw();
}

async function pass() {
  if (performance.now() - played < PASS_TIME && !(await asks(_("Pass?"), _("Pass"), _("Cancel")))) return;
  send({ do: "play", vertex: "pass" });
}

/** Ask for a hint, at the person's next turn if it is the engine's. */
function askForHint() {
  wantsHint = game.is_engine_turn && game.phase === "playing";
  if (wantsHint) {
    say(_("The hint comes when it is your turn."));
  } else if (game.phase === "playing") {
    say(_("Looking for a good move …"));
    send({ do: "hint" });
  }
}

/** Ask the person a question; return whether the answer is yes. */
function asks(question, yes, no) {
  const dialog = element("question");
  element("question-text").textContent = question;
  element("question-yes").textContent = yes;
  element("question-no").textContent = no;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((answer) => dialog.addEventListener("close", () => answer(dialog.returnValue === "yes"), { once: true }));
}

function showMove(number) {
  if (!game) return;
  review.leave();
  shown = Math.min(game.moves.length, Math.max(0, number));
  hints = null;
  draw();
  if (analysis.isOn) analysis.follow(game, shown);
}

function showMistake(number) {
  showMove(number);
  element("board").scrollIntoView({ block: "nearest" });
}

function turnAnalysis(isOn) {
  if (isOn) {
    analysis.turnOn();
    if (game) analysis.follow(game, shown);
  } else {
    analysis.turnOff();
  }
  drawAnalysis();
}

async function loadRecord(file) {
  if (file.size > longestFile) {
    showError(_("{file} has {size}; a game record may have {most} at most.", { file: file.name, size: kilobytes(file.size), most: kilobytes(longestFile) }));
    return;
  }
  const bytes = new Uint8Array(await file.arrayBuffer()); // as they are: records have many encodings
  send({ do: "load", file: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")) });
}

function kilobytes(bytes) {
  return `${Math.ceil(bytes / 1000)} kB`;
}

/** Save the record, which comes in base 64. */
function saveRecord(content) {
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  download(bytes, `tengen-${new Date().toISOString().slice(0, 10)}-${game.id.slice(0, 4)}.sgf`, "application/x-go-sgf");
}

element("new").onclick = () => setup.open();
element("load").onclick = () => element("file").click();
element("file").onchange = ({ target }) => {
  if (target.files[0]) loadRecord(target.files[0]);
  target.value = "";
};
element("save").onclick = () => send({ do: "save" });
element("pass").onclick = pass;
element("undo").onclick = () => send({ do: "undo" });
element("hint").onclick = askForHint;
element("resign").onclick = async () => (await asks(_("Resign this game?"), _("Resign"), _("Cancel"))) && send({ do: "resign" });
element("accept").onclick = () => send({ do: "accept" });
element("resume").onclick = () => send({ do: "resume" });
element("first").onclick = () => showMove(0);
element("back").onclick = () => review.step(-1) || showMove(shown - 1);
element("forward").onclick = () => review.step(1) || showMove(shown + 1);
element("last").onclick = () => showMove(Infinity);
element("analyse").onchange = ({ target }) => turnAnalysis(target.checked);
element("ownership").onchange = drawAnalysis;
element("labels").value = localStorage.getItem("labels") ?? "points";
element("labels").onchange = ({ target }) => {
  localStorage.setItem("labels", target.value);
  drawAnalysis();
};
element("confirm").onclick = () => board.pending && board.choose(board.pending);
element("board").addEventListener("pending", ({ detail }) => {
  hasFingers ||= Boolean(detail);
  element("confirm").disabled = !detail;
  element("confirm").textContent = detail ? _("Play {vertex}", { vertex: detail }) : _("Play");
  drawConfirm();
});

/** Show the button that confirms a tap where there are fingers: always, so that no other button takes its place. */
function drawConfirm() {
  const isMove = game?.phase === "playing" || game?.phase === "placing" || review.preview?.places;
  element("confirm").hidden = !(hasFingers && isMove && board.needsConfirmation);
}

// A second click or tap of a pair is not meant for a button that has just come to its place.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  const before = lastClick;
  lastClick = { button, x: event.clientX, y: event.clientY, time: performance.now() };
  const isPair = before && event.detail > 0 && lastClick.time - before.time < DOUBLE_TIME && Math.hypot(event.clientX - before.x, event.clientY - before.y) < DOUBLE_DISTANCE;
  if (isPair && button && button !== before.button) event.stopImmediatePropagation();
}, true);

// --- drawing ---

function draw() {
  const isLast = shown === game.moves.length;
  const isScored = isLast && (game.phase === "scoring" || game.phase === "finished");
  const isAhead = isLast && ahead;
  const position = isAhead ? positionsOf({ ...game, moves: [...game.moves, [game.human, ahead]] }).at(-1) : positions[shown];
  const { preview } = review;
  board.show(preview ? { width: game.width, height: game.height, ...preview } : {
    width: game.width, height: game.height,
    rows: isLast && !isAhead ? game.rows : position.rows,
    last: position.last,
    dead: isScored ? game.dead : [],
    owners: isScored && game.owners.length ? game.owners : null,
    ko: isLast && !isAhead && game.ko ? pointOf(game.ko, game.height) : null,
  });
  const isMyTurn = isLast && !isAhead && !game.is_engine_turn && (game.phase === "playing" || game.phase === "placing");
  board.placing(preview ? preview.places : isMyTurn ? game.human : null);
  drawPlayers();
  drawButtons(isMyTurn);
  drawScore(isScored);
  const text = statusText();
  if (text !== announced) say(text);
  element("notes").hidden = !game.notes.length;
  element("notes").textContent = _("The record: {notes}.", { notes: game.notes.join("; ") });
  review.draw(game, shown);
  drawAnalysis();
}

function drawPlayers() {
  for (const color of ["black", "white"]) {
    const box = element(color);
    const isEngine = color !== game.human;
    box.classList.toggle("turn", game.phase === "playing" && game.to_play === color);
    box.querySelector(".name").textContent = playerText(game.names[color], isEngine);
    box.querySelector(".captures").textContent = _("{count} captured", { count: game.captures[color] });
  }
  drawClocks();
}

/** Return what is shown of a player; the name may be that of a record which the game continues. */
function playerText(name, isEngine) {
  if (!isEngine) return name === "Human" ? _("You") : _("{name} (you)", { name });
  return name === "Tengen" && game.level && game.level !== "max" ? `${name} (${game.level})` : name;
}

function drawButtons(isMyTurn) {
  const isOver = game.phase === "finished";
  const isScoring = game.phase === "scoring";
  for (const name of ["pass", "hint", "resign"]) element(name).hidden = isOver || isScoring;
  element("resign").disabled = game.phase !== "playing";
  element("pass").disabled = !isMyTurn || game.phase === "placing";
  element("hint").disabled = game.phase !== "playing" || wantsHint;
  const hasPlaced = game.phase === "placing" && game.rows.some((row) => row.includes("X"));
  element("undo").disabled = !hasPlaced && !game.moves.some(([color]) => color === game.human);
  element("accept").hidden = !isScoring || !game.score;
  element("resume").hidden = !isScoring && !isOver;
  drawConfirm();
  element("save").disabled = false;
  element("number").textContent = `${shown} / ${game.moves.length}`;
  element("first").disabled = element("back").disabled = shown === 0;
  element("forward").disabled = element("last").disabled = shown === game.moves.length;
}

/** Show what each side has, where the score is counted and the board shows it. */
function drawScore(isScored) {
  const isCounted = isScored && game.owners.length > 0 && (game.score || game.result);
  element("score").hidden = !isCounted;
  if (!isCounted) return;
  drawTally(element("tally"), game.tally);
  element("counting").textContent = countingText(game);
}

function statusText() {
  return game.compiling && game.phase !== "finished" ? `${gameText()} ${_("Tengen is weak until it is compiled, which takes about a minute.")}` : gameText();
}

function gameText() {
  const person = game.opened ? null : game.human;
  const after = (text) => [moveText(), text].filter(Boolean).join(" ");
  if (game.phase === "finished") return after(resultText(game.result, person));
  if (game.phase === "scoring") return game.score ? `${resultText(game.score, person, false)} ${_("Click stones that are wrongly alive or dead.")}` : _("Counting …");
  if (game.phase === "placing") return ngettext("Place {count} handicap stone.", "Place {count} handicap stones.", game.stones_to_place);
  if (game.thinking || ahead) return after(_("Tengen is thinking …"));
  return after(game.is_engine_turn ? _("Tengen is to move.") : _("Your move."));
}

/** Return the last move in words, "" before the first one. */
function moveText() {
  const [color, vertex] = ahead ? [game.human, ahead] : game.moves.at(-1) ?? [];
  if (!vertex) return "";
  if (vertex === "pass") return color === "black" ? _("Black passes.") : _("White passes.");
  return color === "black" ? _("Black {vertex}.", { vertex }) : _("White {vertex}.", { vertex });
}

function drawAnalysis() {
  const moves = analysis.live ? analysis.candidates(CANDIDATES, element("labels").value) : [];
  board.layers && board.overlay(review.preview ? { candidates: review.preview.marks } : {
    candidates: (analysis.isOn ? moves : stillMoves()).filter(({ x }) => x !== undefined),
    ownership: countedOwnership() ?? (element("ownership").checked ? analysis.live?.ownership : null),
  });
  element("verdict").hidden = element("moves").hidden = !analysis.isOn;
  element("graph").hidden = !analysis.isOn && !review.fits;
  if (!game) return;
  const [reviewed, analysed] = [review.values, analysis.valuesOf(game)];
  const values = game.moves.concat([null]).map((_, number) => reviewed[number] ?? analysed[number]);
  course.show(values, game.moves.length, shown, review.lost);
  if (!analysis.isOn) return;
  const root = analysis.live?.rootInfo;
  const lead = root && `${root.scoreLead >= 0 ? "B" : "W"}+${Math.abs(root.scoreLead).toFixed(1)}`;
  element("verdict").textContent = root ? `Black ${(100 * root.winrate).toFixed(1)} % · ${lead} · ${root.visits} visits` : "Analysing …";
  element("moves").tBodies[0].replaceChildren(...moves.map((move) => {
    const row = document.createElement("tr");
    const cells = [move.vertex, `${(100 * move.winrate).toFixed(1)} %`, signed(move.lead), String(move.visits), move.pv.slice(1, PV_LENGTH).join(" ")];
    row.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    return row;
  }));
}

/** Return who has each empty point and each dead stone, 1 for Black, by rows; null where no score is counted. */
function countedOwnership() {
  const isShown = game && !analysis.isOn && game.owners.length && shown === game.moves.length && game.phase !== "playing";
  return isShown ? Array.from(game.owners.join(""), (owner) => ({ X: 1, O: -1 })[owner] ?? 0) : null;
}

/** Return what the board shows without a live analysis: hints, or what the review says about the next move. */
function stillMoves() {
  const at = (vertex) => {
    const point = pointOf(vertex, game.height);
    return { x: point?.[0], y: point?.[1] };
  };
  if (hints) return marked(hints, element("labels").value).map((hint) => ({ ...hint, ...at(hint.vertex) }));
  return game ? review.marks(shown) : [];
}

function signed(number) {
  return `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(1)}`;
}

// --- clocks ---

function drawClocks() {
  for (const color of ["black", "white"]) {
    const output = element(color).querySelector(".clock");
    output.hidden = !game?.clocks;
    if (!game?.clocks) continue;
    const clock = timeLeft(color);
    output.textContent = clockText(clock);
    output.classList.toggle("low", clock.main + clock.period < LOW_TIME);
  }
}

/** Return whose clock runs, null for none; the engine's runs while it thinks about its move. */
function running() {
  const engine = game.human === "black" ? "white" : "black";
  return game.running ?? (game.thinking && game.phase === "playing" ? engine : null);
}

function timeLeft(color) {
  const clock = { ...game.clocks[color] };
  if (running() !== color) return clock;
  let spent = (performance.now() - received) / 1000;
  const fromMain = Math.min(clock.main, spent);
  clock.main -= fromMain;
  spent -= fromMain;
  const full = Number(game.time[2] ?? 0);
  while (spent > clock.period && clock.periods > 1) {
    spent -= clock.period;
    clock.periods -= 1;
    clock.period = full;
  }
  clock.isOver = spent > 0 && spent >= clock.period && clock.periods <= 1;
  clock.period = Math.max(0, clock.period - spent);
  return clock;
}

function clockText({ main, periods, period, stones }) {
  if (main > 0 || !period) return minutes(main) + (periods ? ` + ${periods} × ${minutes(period)}` : "");
  return minutes(period) + (periods ? ` (${periods})` : "") + (stones ? ` / ${stones}` : "");
}

function minutes(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

setInterval(() => {
  if (!game?.clocks || !running()) return;
  drawClocks();
  if (server.isOpen && game.running === game.human && timeLeft(game.human).isOver) send({ do: "check_time" });
}, 500);

// --- words ---

function say(text) {
  announced = text;
  element("status").textContent = text;
}

function hideError() {
  clearTimeout(showError.timer);
  element("error").hidden = true;
}

function showError(text) {
  const box = element("error");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(showError.timer);
  showError.timer = setTimeout(hideError, ERROR_TIME);
}

window.addEventListener("hashchange", () => {
  const id = addressed();
  if (id && id !== game?.id) send({ do: "open", id });
});
document.addEventListener("keydown", (event) => {
  if (event.target.closest("dialog, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { PageUp: -1, PageDown: 1, Home: -Infinity, End: Infinity }[event.key];
  if (step === undefined) return;
  if (!Number.isFinite(step) || !review.step(step)) showMove(shown + step);
  event.preventDefault();
});
