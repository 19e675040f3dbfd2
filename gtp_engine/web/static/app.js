// The page: one game, its board, clocks and analysis. The game itself lives in the server; this shows it and asks.

import "./choose_language.js"; // first: what follows speaks it
import { Analysis, marked } from "./analysis.js";
import { Board } from "./board.js";
import { Connection } from "./connection.js";
import { Course } from "./course.js";
import { pointOf, positionsOf } from "./position.js";
import { Review, download } from "./review.js";
import { Setup } from "./setup.js";

const CANDIDATES = 8; // on the board and in the table
const PV_LENGTH = 8;
const ERROR_TIME = 6000; // milliseconds
const LOW_TIME = 10; // seconds
const STATUS_TIME = 2000; // milliseconds to wait for the status of a server that is gone or refuses
const UNAUTHORIZED = 401; // the HTTP status where the token is wrong
const COMPILING_TIME = 3000; // milliseconds between two questions whether the engine is compiled

const element = (id) => document.getElementById(id);
const capital = (text) => text[0].toUpperCase() + text.slice(1);

let game = null;
let positions = [];
let shown = 0; // the number of moves of the position on the board
let received = 0; // when the clocks of `game` were right
let hints = null;
let announced = "";
let longestFile = Infinity; // bytes that the server takes

const board = new Board(element("board"), choose);
const course = new Course(element("graph"), showMove);
const analysis = new Analysis(drawAnalysis);
const review = new Review(element("review"), { send, onChoose: showMistake });
const setup = new Setup(element("setup"), (message) => send(message));
board.show({ width: 9, height: 9, rows: Array(9).fill(".".repeat(9)), last: null, dead: [], ko: null });
const server = new Connection("play", { onOpen: opened, onMessage: receive, onLost: lost });

// --- the server ---

function send(message) {
  if (!server.send(message)) showError("There is no connection to the server at the moment.");
}

/** Return the id of the game in the page's address, null without one. */
function addressed() {
  return new URLSearchParams(location.hash.slice(1)).get("game");
}

function opened() {
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
  if (response?.status === UNAUTHORIZED) say("The server has another token now: open the address that it printed.");
  else say("The connection to the server is lost; trying again …");
}

function receive(message) {
  const handlers = {
    hello: (hello) => {
      setup.offer(hello);
      longestFile = hello.max_file;
      element("about").textContent = `Tengen ${hello.version}`;
      if (!game) element("status").textContent = "Start a new game, or open a record.";
    },
    game: showGame,
    hint: ({ moves }) => {
      showMove(game.moves.length);
      hints = moves;
      draw();
      const [best] = moves;
      if (best) say(`Hint: ${best.vertex}, winrate ${(100 * best.winrate).toFixed(0)} %.`);
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
  if (isNew || game.moves.length !== message.moves.length) hints = null;
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
  if (!game) return;
  if (game.phase === "scoring") send({ do: "toggle_dead", vertex });
  else if (shown !== game.moves.length) showMove(game.moves.length);
  else if (game.phase !== "finished") send({ do: "play", vertex });
}

function showMove(number) {
  if (!game) return;
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
    showError(`${file.name} has ${kilobytes(file.size)}; a game record may have ${kilobytes(longestFile)} at most.`);
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
element("pass").onclick = () => send({ do: "play", vertex: "pass" });
element("undo").onclick = () => send({ do: "undo" });
element("hint").onclick = () => {
  say("Looking for a good move …");
  send({ do: "hint" });
};
element("resign").onclick = () => confirm("Resign this game?") && send({ do: "resign" });
element("accept").onclick = () => send({ do: "accept" });
element("resume").onclick = () => send({ do: "resume" });
element("first").onclick = () => showMove(0);
element("back").onclick = () => showMove(shown - 1);
element("forward").onclick = () => showMove(shown + 1);
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
  element("confirm").hidden = !detail;
  element("confirm").textContent = detail ? `Play ${detail}` : "";
});

// --- drawing ---

function draw() {
  const isLast = shown === game.moves.length;
  const isScored = isLast && (game.phase === "scoring" || game.phase === "finished");
  board.show({
    width: game.width, height: game.height,
    rows: isLast ? game.rows : positions[shown].rows,
    last: positions[shown].last,
    dead: isScored ? game.dead : [],
    ko: isLast && game.ko ? pointOf(game.ko, game.height) : null,
  });
  const isMyTurn = isLast && !game.is_engine_turn && (game.phase === "playing" || game.phase === "placing");
  board.placing(isMyTurn ? game.human : null);
  drawPlayers();
  drawButtons(isMyTurn);
  const text = statusText();
  if (text !== announced) say(text);
  element("notes").hidden = !game.notes.length;
  element("notes").textContent = `The record: ${game.notes.join("; ")}.`;
  review.draw(game, shown);
  drawAnalysis();
}

function drawPlayers() {
  for (const color of ["black", "white"]) {
    const box = element(color);
    const isEngine = color !== game.human;
    box.classList.toggle("turn", game.phase === "playing" && game.to_play === color);
    box.querySelector(".name").textContent = playerText(game.names[color], isEngine);
    box.querySelector(".captures").textContent = `${game.captures[color]} captured`;
  }
  drawClocks();
}

/** Return what is shown of a player; the name may be that of a record which the game continues. */
function playerText(name, isEngine) {
  if (!isEngine) return name === "Human" ? "You" : `${name} (you)`;
  return name === "Tengen" && game.level && game.level !== "max" ? `${name} (${game.level})` : name;
}

function drawButtons(isMyTurn) {
  const isOver = game.phase === "finished";
  const isScoring = game.phase === "scoring";
  for (const name of ["pass", "hint", "resign"]) element(name).hidden = isOver || isScoring;
  element("resign").disabled = game.phase !== "playing";
  element("pass").disabled = !isMyTurn || game.phase === "placing";
  element("hint").disabled = game.phase !== "playing";
  const hasPlaced = game.phase === "placing" && game.rows.some((row) => row.includes("X"));
  element("undo").disabled = !hasPlaced && !game.moves.some(([color]) => color === game.human);
  element("accept").hidden = !isScoring || !game.score;
  element("resume").hidden = !isScoring && !isOver;
  element("save").disabled = false;
  element("number").textContent = `${shown} / ${game.moves.length}`;
  element("first").disabled = element("back").disabled = shown === 0;
  element("forward").disabled = element("last").disabled = shown === game.moves.length;
}

function statusText() {
  return game.compiling && game.phase !== "finished" ? `${gameText()} Tengen is weak until it is compiled, which takes about a minute.` : gameText();
}

function gameText() {
  const [color, vertex] = game.moves.at(-1) ?? [];
  const last = vertex ? `${capital(color)} ${vertex === "pass" ? "passes" : vertex}. ` : "";
  if (game.phase === "finished") return `${last}${resultText(game.result)}`;
  if (game.phase === "scoring") return game.score ? `${resultText(game.score)} Click stones that are wrongly alive or dead.` : "Counting …";
  if (game.phase === "placing") return `Place ${game.stones_to_place} handicap stone${game.stones_to_place > 1 ? "s" : ""}.`;
  if (game.thinking) return `${last}Tengen is thinking …`;
  return `${last}${game.is_engine_turn ? "Tengen is to move." : "Your move."}`;
}

function resultText(result) {
  if (result === "Void") return "The game has no result: the position has occurred for the third time.";
  const [winner, margin] = result.split("+");
  if (margin === undefined) return "The game is a draw.";
  const reasons = { "": "", R: " by resignation", T: " on time", F: " by forfeit" };
  const how = reasons[margin] ?? ` by ${margin} point${margin === "1" ? "" : "s"}`;
  return `${winner === "B" ? "Black" : "White"} wins${how}.`;
}

function drawAnalysis() {
  const moves = analysis.live ? analysis.candidates(CANDIDATES, element("labels").value) : [];
  board.layers && board.overlay({
    candidates: (analysis.isOn ? moves : stillMoves()).filter(({ x }) => x !== undefined),
    ownership: element("ownership").checked ? analysis.live?.ownership : null,
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

/** Return what the board shows without a live analysis: hints, or what the review says about the next move. */
function stillMoves() {
  const at = (vertex) => {
    const point = pointOf(vertex, game.height);
    return { x: point?.[0], y: point?.[1] };
  };
  if (hints) return marked(hints, element("labels").value).map((hint) => ({ ...hint, ...at(hint.vertex) }));
  return game ? review.marks(shown).map((mark) => ({ ...mark, ...at(mark.vertex) })) : [];
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

function showError(text) {
  const box = element("error");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(showError.timer);
  showError.timer = setTimeout(() => (box.hidden = true), ERROR_TIME);
}

window.addEventListener("hashchange", () => {
  const id = addressed();
  if (id && id !== game?.id) send({ do: "open", id });
});
document.addEventListener("keydown", (event) => {
  if (event.target.closest("dialog, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { PageUp: -1, PageDown: 1, Home: -Infinity, End: Infinity }[event.key];
  if (step === undefined) return;
  showMove(shown + step);
  event.preventDefault();
});
