// The page: what it knows of one game, what people do with it, and the server. The game itself lives in the server. What is to be
// seen is worked out by `view.js` from one state; `render` below puts it on the page.

import "./choose_language.js"; // first: what follows speaks it
import { Analysis, lookAt, queryOf } from "./analysis.js";
import { Board } from "./board.js";
import { LOW_TIME, clockText, runningIn, timeLeft } from "./clock.js";
import { Connection } from "./connection.js";
import { Course } from "./course.js";
import { EMPTY_BOARD } from "./first.js";
import { Guessing, found as foundIn, nextOf } from "./finding.js";
import { GameTree } from "./game_tree.js";
import { Guide } from "./guide.js";
import { keep, keepPage, kept } from "./keeping.js";
import { _, leadText, ngettext, sentenceOf, sentences, signed } from "./language.js";
import { messageText } from "./messages.js";
import { Openings } from "./openings.js";
import { rankName } from "./names.js";
import { emptyPosition, pointOf } from "./position.js";
import { Preferences } from "./preferences.js";
import { Problems } from "./problems.js";
import { countingText, drawTally } from "./result.js";
import { Review, download } from "./review.js";
import { Setup, levelAbove } from "./setup.js";
import { Sounds } from "./sounds.js";
import { TreePanel, takeRecords } from "./tree.js";
import { anotherGame, boardOf, buttonsOf, candidatesShown, courseOf, heardOf, isCurrent, mayEdit, newState, playerOf, statusOf } from "./view.js";

const PV_LENGTH = 8;
const ERROR_TIME = 6000; // milliseconds
const STATUS_TIME = 2000; // milliseconds to wait for the status of a server that is gone or refuses
const UNAUTHORIZED = 401; // the HTTP status where the token is wrong
const WAIT_TIME = 2000; // milliseconds without an answer after which the page says so
const SLOW = new Set(["network", "openings", "problem", "check_answer", "hint", "load", "open", "review", "stop_review", "review_file", "check_time"]); // requests that take their time
const PASS_TIME = 2000; // milliseconds after a move in which a pass is more likely a finger that slipped
const DOUBLE_DISTANCE = 30; // pixels
const DOUBLE_TIME = 500; // milliseconds in which a second click at the same place is not meant for another button
const NOTCH = 40; // pixels that the wheel turns for one move
const NO_GAME = { width: 19, height: 19, rules: "chinese", komi: 7.5 }; // whose opening is explored where no game is open
const TICK = 500; // milliseconds between two looks at a clock that runs
const RATED = 100; // games of the list whose results say how strong the person is
const PICTURE = 1200; // pixels of a picture that is copied
const COMPILING_TIME = 3000; // milliseconds between two questions whether the engine is compiled

const element = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));

const state = newState();
let incoming = null; // the tree of a game whose state comes next
let isAsked = false; // whether this page has asked for the next position of the game
let received = 0; // when the clocks of the game were right
let played = -Infinity; // when the person's last move was made
let news = null; // [what the status says instead of the game, the text of the game meanwhile]
let hasFingers = matchMedia("(any-pointer: coarse)").matches;
let lastClick = null;
let loaded = { file: "", number: null, isSet: false }; // the file that was to be opened last, in base 64, and what of it is to be solved
let longestFile = Infinity; // bytes that the server takes
let turns = 0; // pixels that the wheel has turned
let counted = 0; // the second that was counted last
/** @type {Object<string, number>} */
const timers = {};
let isDrawing = false; // whether the page is drawn as soon as what happens now is over
let copied = null; // takes the record that comes next instead of a file
let loadedHome = null; // a promise of the list of games
let takesFocus = false; // whether the board gets the focus with the next game

const board = new Board(element("board"), choose);
const panel = new TreePanel(element("tree"), () => state.tree, { send, onShow: showNode, asks });
const preferences = new Preferences(element("preferences"), (name) => {
  if (name === "guide") guide.forget();
  draw();
  followAnalysis();
});
const sounds = new Sounds(() => preferences.values);
const course = new Course(element("graph"), (number) => showMove(number + state.tree.analysable.offset));
const analysis = new Analysis(draw, () => preferences.limit("analysis"));
const review = new Review(element("review"), { send, onChoose: showMistake, onPreview: draw, evaluate: lookAt, limit: () => preferences.limit("review"), onMistakes: (mistakes) => problems.repetition.keep(mistakes) });
const problems = new Problems(element("problems"), { send, onChange: draw, onSet: loadSet });
const guessing = new Guessing(() => state.tree, { onShow: showNode, onChange: draw });
const openings = new Openings(element("openings"), { send, base: explored, onChange: draw });
const guide = new Guide(element("guide"), () => preferences.values.guide);
const setup = new Setup(element("setup"), (message, isNew) => {
  takesFocus = true;
  if (isNew) preferences.set("guide", true);
  send(message);
});
const server = new Connection("play", { onMessage: receive, onLost: lost });

// --- the server ---

function send(message) {
  hideError();
  if (!server.send(message)) {
    showError(_("The server cannot be reached at the moment."));
    return false;
  }
  clearTimeout(timers.answer);
  if (!SLOW.has(message.do)) timers.answer = setTimeout(() => say(_("Waiting for the server …")), WAIT_TIME);
  return true;
}

/** Return the id of the game in the page's address, null without one. */
function addressed() {
  return new URLSearchParams(location.hash.slice(1)).get("game");
}

/** Show the game of the address or the one before, the problems that were open in this window, or the dialog of a new game. */
function enter() {
  state.ahead = null;
  const id = state.game?.id ?? addressed() ?? localStorage.getItem("game");
  if (id) server.send({ do: "open", id });
  const { file, ...stored } = problems.stored ?? {};
  if (file) loadText(file, stored);
  else if (!id && mayEdit(state)) setup.open();
}

/** Say why there is no connection: a WebSocket does not tell the status with which a server refuses it. */
async function lost() {
  const request = /** @type {RequestInit} */ ({ cache: "no-store", signal: AbortSignal.timeout(STATUS_TIME) });
  const response = await fetch(location.pathname, request).catch(() => null);
  if (server.isOpen) return;
  if (!state.game) await showKept(addressed() ?? localStorage.getItem("game"));
  if (state.game && state.role === "watch" && !response) say(_("The server is away: this is the game as you last saw it."));
  else if (response?.status === UNAUTHORIZED) say(_("The server's token has changed: open the address that it printed."));
  else say(_("The connection to the server is lost; trying again …"));
}

/** Show a game as it was in this browser last, in place of the one that is shown only if `isOther`. */
async function showKept(id, isOther = false) {
  const messages = id && !server.isOpen ? await kept(id) : [];
  if (!messages.length || (state.game && !isOther) || server.isOpen) return;
  setup.close();
  state.role = "watch"; // nothing can be played
  messages.forEach(receive);
}

/** Keep the game with its tree and its review, for when the server is away. */
function keepGame() {
  const { game, tree } = state;
  if (!game || !server.isOpen) return;
  const { found } = review;
  const nodes = [...tree.nodes.values()].map(({ parent, children, followed, place, position, moves, number, ...values }) => ({ ...values, parent: parent?.id ?? null }));
  keep(game.id, [{ type: "tree", id: game.id, nodes }, { ...game, thinking: false }, ...(found?.id === game.id && found.state === "finished" ? [found] : [])]);
}

/** Take the list of games: it also says how strong the person is. */
function takeGames(found) {
  if (!found.text && (!found.has_more || found.games.length >= RATED)) setup.learn(found.games);
  if (element("home").open) homeOf().then((home) => home.receive(found));
  if (!found.text && server.isOpen) keep("games", [found]);
  draw();
}

function receive(message) {
  clearTimeout(timers.answer);
  const isOfGame = message.id === state.game?.id;
  const handlers = {
    hello: greet,
    game: showGame,
    tree: takeTree,
    nodes: () => isOfGame && state.tree.merge(message), // the game comes next, and is drawn
    at: ({ node }) => isOfGame && showNode(node),
    hint: ({ moves }) => isOfGame && showHints(moves),
    openings: (found) => openings.receive(found),
    problems: ({ count }) => beginProblems(count),
    problem: (problem) => problems.receive(problem),
    answer: (found) => problems.answered(found),
    games: takeGames,
    networks: showNetworks,
    record: ({ content }) => saveRecord(content),
    review: (found) => {
      review.receive(found);
      keepGame();
      draw();
    },
    review_file: (file) => review.saveFile(file),
    error: refuse,
  };
  handlers[message.type]?.(message);
}

function greet(hello) {
  state.role = hello.role;
  for (const name of ["new", "load"]) element(name).hidden = hello.role === "watch";
  element("games").hidden = hello.role !== "compute";
  setup.offer(hello);
  longestFile = hello.max_file;
  element("about").textContent = `Tengen ${hello.version}`;
  document.body.classList.toggle("limited", hello.role !== "compute");
  if (element("preferences").open) askForNetworks();
  if (!addressed()) askForResults(); // else with the game
  if (!state.game) say(mayEdit(state) ? _("Start a new game, or open a record.") : _("You are watching: only the players can move."));
  enter();
  draw();
}

function refuse(error) {
  const text = refusalText(error);
  if (!state.game && error.message.startsWith("there is no game")) {
    localStorage.removeItem("game");
    history.replaceState(null, "", location.pathname);
    if (mayEdit(state)) setup.open();
    else showError(text);
    return;
  }
  state.ahead = null;
  state.wantsHint &&= state.game?.is_engine_turn;
  takesFocus = false;
  problems.refused();
  openings.refuse();
  draw(); // nothing is looked for any more
  if (element("network").disabled) askForNetworks();
  showError(text);
}

/** Take all nodes of a game; those of another one wait until its state has come too. */
function takeTree(message) {
  if (message.id === state.game?.id) {
    state.tree.load(message);
    panel.takeDraft();
  } else {
    incoming = message;
  }
}

function showGame(message) {
  if (state.game?.id !== message.id) begin(message);
  else goOn(message);
  received = performance.now() - 1000 * message.age;
  news = null; // such as that the connection was lost
  followAnalysis();
  if (state.wantsHint && !message.is_engine_turn && !state.ahead) askForHint();
  keepGame();
  clearInterval(timers.clock); // without one, a page that is left open costs nothing
  if (message.clocks && runningIn(message)) timers.clock = setInterval(tick, TICK);
  clearTimeout(timers.compiling);
  if (message.compiling) timers.compiling = setTimeout(() => server.send({ do: "open", id: message.id }), COMPILING_TIME);
  draw();
}

/** Show another game: what belongs to the one before goes with it. */
function begin(game) {
  if (incoming?.id !== game.id) return; // its tree comes with the next message
  const tree = new GameTree([game.width, game.height]);
  tree.load(incoming);
  tree.show(game.node);
  if (guessing.isOn) guessing.turn(false);
  panel.keepDraft();
  review.leave();
  Object.assign(state, { game, tree, hints: null, ahead: null, wantsHint: false });
  incoming = news = null;
  isAsked = false;
  problems.stop();
  openings.close();
  panel.takeDraft();
  localStorage.setItem("game", game.id);
  remember(game.id);
  askForResults();
}

/** Show the game as it is now. */
function goOn(game) {
  const { game: before, tree } = state;
  const isFollowed = tree.shown.id === before.node || !tree.nodes.has(before.node) || (isAsked && before.node !== game.node);
  if (before.node !== game.node) {
    state.hints = null;
    review.leave();
  }
  if (before.node !== game.node || before.is_engine_turn !== game.is_engine_turn) state.ahead = null;
  state.game = game;
  if (isFollowed) tree.show(game.node);
  if (isFollowed && game.node !== before.node) {
    isAsked = false;
    if (tree.shown.parent?.id === before.node) soundOf(tree.shown);
  }
  if (!game.result || before.result) return;
  sounds.play("end");
  askForResults();
}

/** Let the move of a node be announced. */
function soundOf(node) {
  if (!node.move) return;
  const [color, vertex] = node.move;
  const count = (each) => (each ? state.tree.position(each).captures[color] : 0);
  sounds.play(vertex === "pass" ? "pass" : count(node) > count(node.parent) ? "capture" : "stone");
}

function showHints(moves) {
  showNode(state.game.node);
  state.hints = moves;
  draw();
  const [best] = moves;
  if (best) say(_("Hint: {vertex}, winrate {percent}%.", { vertex: best.vertex, percent: (100 * best.winrate).toFixed(0) }));
}

/** Return the game with the moves of the line that is shown. */
function viewed() {
  return { ...state.game, moves: state.tree.moves };
}

/** Return the line that an analysis is about, and how many of its moves lead to what is shown. */
function analysed() {
  const { number, ...line } = state.tree.analysable;
  return [{ ...state.game, ...line }, number];
}

function followAnalysis() {
  if (analysis.isOn && state.game) analysis.follow(...analysed());
}

/** Put a game into the address, above the one before or the page without a game, so that Back does not leave the page. */
function remember(id) {
  if (addressed() === id && history.state) return;
  if (!history.state) history.replaceState({ isHome: true }, "", location.pathname);
  history.pushState({ id }, "", `#game=${id}`);
}

// --- what the person does ---

/** Return the dialog with the list of games, which is loaded when it is opened first. */
function homeOf() {
  return (loadedHome ??= import("./home.js").then(({ Home }) => new Home(element("home"), { send, onOpen: openGame, onNew: newGame, asks, current: () => state.game?.id })));
}

/** Show the list of games; while the server is away, as it was last. */
async function openHome() {
  const home = await homeOf();
  if (server.isOpen) return home.open();
  const lists = await kept("games");
  home.dialog.showModal();
  return lists.forEach((list) => home.receive(list));
}

function openGame(id) {
  if (!server.isOpen && id !== state.game?.id) {
    showKept(id, true);
    return;
  }
  if (id === state.game?.id) remember(id); // its page lies below that of the list
  else send({ do: "open", id });
}

async function newGame() {
  const { game } = state;
  const isRunning = game && game.moves.length > 0 && game.phase !== "finished" && !game.opened;
  if (isRunning && !(await asks(_("Leave this game? It stays in your games."), _("New game"), _("Cancel")))) return;
  setup.open();
}

function choose(vertex) {
  const { game } = state;
  if (problems.choose(vertex) || openings.choose(vertex) || guessing.choose(vertex)) return;
  if (!game || state.ahead || review.choose(vertex, board.stoneAt(vertex))) return;
  if (!mayEdit(state)) say(_("You are watching: only the players can move."));
  else if (panel.isEditing) panel.choose(vertex);
  else if (!isCurrent(state)) playInThePast(vertex);
  else if (game.phase === "scoring") send({ do: "toggle_dead", vertex });
  else if (game.phase !== "finished") play(vertex);
}

/** Ask for a move, and show its stone at once. */
function play(vertex) {
  const { game } = state;
  if (!send({ do: "play", vertex })) return;
  const point = pointOf(vertex, game.height);
  if (!point || game.phase !== "playing" || game.is_engine_turn || game.rows[point[1]][point[0]] !== "." || vertex === game.ko) return;
  state.ahead = vertex;
  played = performance.now();
  draw();
}

async function pass() {
  if (panel.isEditing) return panel.ask({ do: "try", vertex: "pass", color: state.tree.position().toPlay });
  if (!isCurrent(state)) return playInThePast("pass");
  if (performance.now() - played < PASS_TIME && !(await asks(_("Pass?"), _("Pass"), _("Cancel")))) return;
  return send({ do: "play", vertex: "pass" });
}

/** Ask for a hint, at the person's next turn if it is the engine's. */
function askForHint() {
  const { game, ahead } = state;
  state.wantsHint = Boolean(game.is_engine_turn || ahead) && game.phase === "playing";
  if (state.wantsHint) {
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

/** Let the game go on with another move in an earlier position, if it is the person's turn there. */
function playInThePast(vertex) {
  if (state.tree.position().toPlay !== state.game.human) {
    say(_("It is Tengen's turn here: “Play on here” lets it move, “Edit” lets you move for both."));
    return;
  }
  isAsked = true;
  send({ do: "play", vertex, node: state.tree.shown.id });
}

function showMove(number) {
  if (state.game) showNode(state.tree.at(number).id);
}

function showNode(id) {
  const { game, tree } = state;
  if (!game) return;
  const before = tree.shown;
  if (!tree.show(id)) return;
  review.leave();
  if (tree.shown.parent === before) soundOf(tree.shown);
  state.hints = null;
  draw();
  followAnalysis();
}

function showMistake(number) {
  showMove(number);
  queueMicrotask(() => element("mistake").scrollIntoView({ block: "nearest" })); // after the drawing; the board stays above it
}

/** Ask for the results of the last games. */
function askForResults() {
  if (state.role === "compute" && server.isOpen) server.send({ do: "games", count: RATED });
}

/** Go to what a text names: a move by its number, a point, or a word of a comment; again, to the next one. */
function find(text) {
  if (!state.game) return;
  const next = nextOf(foundIn(state.tree, text), state.tree.shown);
  if (next) showNode(next.id);
  else say(_("“{text}” is not in this game.", { text }));
}

/** Show what the record says of the game, to be changed by who may. */
function showInformation() {
  const dialog = element("information");
  /** @type {HTMLInputElement[]} */
  const fields = [...dialog.querySelectorAll("[name]")];
  const { information = {} } = state.tree.root;
  for (const field of fields) Object.assign(field, { value: information[field.name] ?? "", readOnly: !mayEdit(state) });
  dialog.returnValue = "";
  dialog.showModal();
  dialog.onclose = () => {
    const changed = fields.filter(({ name, value }) => value.trim() !== (information[name] ?? ""));
    if (dialog.returnValue && changed.length && mayEdit(state)) send({ do: "information", node: state.tree.root.id, ...Object.fromEntries(changed.map(({ name, value }) => [name, value.trim()])) });
  };
}

/** Copy what `make` promises, a text or a picture, as the button says then. */
async function copy(button, type, make) {
  try {
    await navigator.clipboard.write([new ClipboardItem({ [type]: make() })]);
    button.textContent = _("Copied");
  } catch {
    showError(_("The browser lets pages copy only at encrypted addresses and on localhost."));
  }
}

/** Promise the record of the game as a text. */
function recordText() {
  return new Promise((resolve) => {
    copied = (content) => resolve(new Blob([new TextDecoder().decode(bytesOf(content))], { type: "text/plain" }));
    send({ do: "save" });
  });
}

/** Promise the position that is shown as a picture. */
async function pictureShown() {
  const { pictureOf } = await import("./drawing.js");
  return new Promise((resolve) => pictureOf(board.picture, PICTURE, true).toBlob(resolve, "image/png"));
}

function askForNetworks() {
  if (state.role === "compute") server.send({ do: "networks" });
}

/** Show the networks to choose from; analyses begin again when it is another one. */
function showNetworks({ names, current, best }) {
  const menu = element("network");
  const isOther = menu.dataset.current !== undefined && menu.dataset.current !== current;
  const builtin = (name) => _("{name}, which ships with Tengen", { name });
  menu.replaceChildren(...Object.entries(names).map(([name, text]) => new Option(name === "builtin" ? builtin(text) : text, name)));
  if (best) menu.append(new Option(_("the best published network, {megabytes} MB to download", best), "best"));
  menu.dataset.current = menu.value = current;
  menu.disabled = false;
  element("network-news").textContent = isOther
    ? sentences(_("Tengen plays and analyses with {name} now.", { name: names[current] }), _("Programs connected by GTP keep the previous network until they reconnect.")) : "";
  if (!isOther) return;
  analysis.restart();
  followAnalysis();
}

/** Let the server use another network, for everyone. */
async function useNetwork() {
  const menu = element("network");
  const name = menu.value;
  menu.value = menu.dataset.current;
  if (name === "best" && !(await asks(_("Download the network from Python's package index? It takes a few minutes."), _("Download"), _("Cancel")))) return;
  menu.value = name;
  menu.disabled = send({ do: "network", name });
  element("network-news").textContent = _("Loading the network …");
}

function turnAnalysis(isOn) {
  if (isOn) analysis.turnOn();
  else analysis.turnOff();
  followAnalysis();
  draw();
}

async function loadRecord(file) {
  setup.close(); // which a first visit shows
  if (file.size > longestFile) {
    showError(_("{file} has {size}; a game record may have at most {most}.", { file: file.name, size: kilobytes(file.size), most: kilobytes(longestFile) }));
    return;
  }
  const bytes = new Uint8Array(await file.arrayBuffer()); // as they are: records have many encodings
  loadText(btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")));
}

/** Open a file in base 64; where it holds problems, those that were open in this window go on with this `number`. */
function loadText(file, { number = null, isSet = false } = {}) {
  loaded = { file, number, isSet };
  send({ do: "load", file, asks: true });
}

/** Open the problems that ship. */
async function loadSet() {
  const answer = await fetch("problems.sgf").catch(() => null);
  if (answer?.ok) loadText(btoa(await answer.text()), { isSet: true });
  else showError(_("The server cannot be reached at the moment."));
}

/** Solve the problems of the file that was to be opened, or open its first game. */
async function beginProblems(count) {
  const { file, number, isSet } = loaded;
  const question = ngettext("This file has {count} problem. Solve it?", "This file has {count} problems. Solve them?", count);
  if (number || isSet || (await asks(question, _("Solve"), _("Open as a game")))) problems.begin(file, count, { number, isSet });
  else send({ do: "load", file });
}

function kilobytes(bytes) {
  return `${Math.ceil(bytes / 1000)} kB`;
}

function bytesOf(content) {
  return Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
}

/** Save or copy the record, which comes in base 64. */
function saveRecord(content) {
  if (copied) {
    copied(content);
    copied = null;
    return;
  }
  const bytes = bytesOf(content);
  download(bytes, `tengen-${new Date().toISOString().slice(0, 10)}-${state.game.id.slice(0, 4)}.sgf`, "application/x-go-sgf");
}

element("new").onclick = newGame;
element("games").onclick = openHome;
element("help").onclick = () => element("keys").showModal();
for (const button of document.querySelectorAll(".show-rules")) /** @type {HTMLElement} */ (button).onclick = async () => (await import("./rules.js")).openRules(element("rules"));
element("repeat").onclick = () => problems.repeat();
element("guide-end").onclick = () => preferences.set("guide", false);
element("guess").onclick = () => guessing.turn(!guessing.isOn);
element("about-game").onclick = showInformation;
element("find").onkeydown = (event) => event.key === "Enter" && find(event.target.value);
element("copy-record").onclick = ({ target }) => copy(target, "text/plain", recordText);
element("copy-picture").onclick = ({ target }) => copy(target, "image/png", pictureShown);
element("share").onclick = async () => (await import("./home.js")).share(element("links"), state.game.id, state.role);
element("moments").onclick = () => {
  review.showMoments(state.game.id);
  element("review").scrollIntoView({ block: "nearest" });
};
element("again").onclick = () => playAgain(state.game.level);
element("harder").onclick = () => playAgain(levelAbove(state.game.level));
element("load").onclick = () => element("file").click();
element("file").onchange = ({ target }) => {
  if (target.files[0]) loadRecord(target.files[0]);
  target.value = "";
};
element("save").onclick = () => send({ do: "save" });
element("pass").onclick = pass;
element("undo").onclick = () => ask("undo");
element("redo").onclick = () => ask("redo");
element("hint").onclick = askForHint;
element("resign").onclick = async () => (await asks(_("Resign this game?"), _("Resign"), _("Cancel"))) && send({ do: "resign" });
element("accept").onclick = () => send({ do: "accept" });
element("resume").onclick = () => send({ do: "resume" });
element("to-board").onclick = (event) => {
  event.preventDefault();
  board.takeFocus();
};
element("first").onclick = () => step(-Infinity);
element("back").onclick = () => step(-1);
element("forward").onclick = () => step(1);
element("last").onclick = () => step(Infinity);
element("tree").addEventListener("editing", () => draw());
element("board").addEventListener("wheel", turned, { passive: false });
takeRecords(loadRecord);
element("network").onchange = useNetwork;
element("preferences").ontoggle = ({ target }) => target.open && askForNetworks();
element("analyse").onchange = ({ target }) => turnAnalysis(target.checked);
element("ownership").onchange = draw;
element("labels").value = localStorage.getItem("labels") ?? "points";
element("labels").onchange = ({ target }) => {
  localStorage.setItem("labels", target.value);
  draw();
};
element("confirm").onclick = () => board.pending && board.choose(board.pending);
element("board").addEventListener("pending", ({ detail }) => {
  hasFingers ||= Boolean(detail);
  element("confirm").disabled = !detail;
  element("confirm").textContent = detail ? _("Play {vertex}", { vertex: detail }) : _("Place a stone");
  drawConfirm();
});

/** Show the button that confirms a tap where there are fingers: always, so that no other button takes its place. */
function drawConfirm() {
  const isMove = ["playing", "placing"].includes(state.game?.phase) || board.picture.places;
  element("confirm").hidden = !(hasFingers && isMove && board.needsConfirmation);
}

/** Begin another game like the one that has ended. */
function playAgain(level) {
  takesFocus = true;
  send(anotherGame(state.game, level));
}

// A second click or tap of a pair is not meant for a button that has just come to its place.
document.addEventListener("click", (event) => {
  const button = /** @type {Element} */ (event.target).closest("button");
  const before = lastClick;
  lastClick = { button, x: event.clientX, y: event.clientY, time: performance.now() };
  const isPair = before && event.detail > 0 && lastClick.time - before.time < DOUBLE_TIME && Math.hypot(event.clientX - before.x, event.clientY - before.y) < DOUBLE_DISTANCE;
  if (isPair && button && button !== before.button) event.stopImmediatePropagation();
}, true);

/** Go some nodes back or forth in the line that is shown. */
function step(steps) {
  if (problems.step(steps) || (Number.isFinite(steps) && openings.step(steps))) return;
  if (!state.game || (Number.isFinite(steps) && review.step(steps))) return;
  showNode(state.tree.stepped(steps).id);
}

/** Ask for a change after which the page shows where the game goes on. */
function ask(name) {
  isAsked = true;
  send({ do: name });
}

/** Go through the game with the wheel. */
function turned(event) {
  if (event.ctrlKey || !(state.game || state.preview)) return;
  event.preventDefault();
  turns += event.deltaY;
  if (Math.abs(turns) < NOTCH) return;
  step(Math.sign(turns));
  turns = 0;
}

// --- drawing ---

/** The position from which openings are explored: that which is shown, or the empty board. */
function explored() {
  if (!state.game) return { position: emptyPosition(19, 19), query: { ...queryOf({ ...NO_GAME, setup: [], first: "black" }), moves: [] } };
  const [{ moves, ...line }, number] = analysed();
  return { position: state.tree.position(), query: { ...queryOf(line), moves: moves.slice(0, number).map(([color, vertex]) => [color === "black" ? "B" : "W", vertex]) } };
}

/** Draw the page as soon as what happens now is over: then everything that it shows is of one moment. */
function draw() {
  if (isDrawing) return;
  isDrawing = true;
  queueMicrotask(() => {
    isDrawing = false;
    render();
  });
}

/** Put what the state says on the page; where the button that has the keyboard's focus goes, another takes it. */
function render() {
  const focused = document.querySelector("button:focus-visible");
  openings.follow();
  if (state.game) review.draw(viewed(), state.tree.shown.number);
  Object.assign(state, {
    isGuessing: guessing.isOn,
    preview: problems.preview ?? guessing.preview ?? openings.preview ?? (state.game && review.previewOf(state.game)) ?? null,
    isEditing: panel.isEditing,
    analysis: state.game ? analysis.of(...analysed()) : analysis.of(null, 0),
    review: state.game && review.of(viewed()),
    settings: { labels: element("labels").value, numbers: preferences.values.numbers, hasOwnership: element("ownership").checked },
  });
  guide.follow(state);
  const parts = [drawBoard, drawTools, ...(state.game ? [drawPanel, drawPlayers, drawButtons, drawScore, drawCourse, drawReport, drawStatus] : [])];
  for (const part of parts) {
    try {
      part();
    } catch (error) {
      reportError(error); // and what follows is drawn all the same
    }
  }
  if (focused && !isUsable(focused) && [focused, document.body].includes(document.activeElement)) keepFocus(focused);
  if (takesFocus && state.game && !document.querySelector("dialog[open]")) {
    takesFocus = false;
    board.takeFocus();
  }
}

function isUsable(button) {
  return button.checkVisibility() && !button.disabled;
}

/** Focus what is nearest to a button that has gone: the main one or the next of its group, else the board, where the game goes on. */
function keepFocus(button) {
  const others = [...(button.closest("#actions, #ending, #history, #tree")?.querySelectorAll("button") ?? [])].filter(isUsable);
  const follows = (other) => button.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
  const isTurn = button.closest("#actions") && state.game?.phase === "playing";
  const next = others.find(({ className }) => className === "main") ?? others.find(follows) ?? others.at(-1);
  if (next && !isTurn) next.focus();
  else board.takeFocus();
}

function drawBoard() {
  board.hasShifts = preferences.values.shifts;
  const picture = state.game || state.preview ? boardOf(state) : EMPTY_BOARD;
  const marks = guide.marks(state);
  board.render(marks.length ? { ...picture, markup: { ...picture.markup, marks: [...(picture.markup.marks ?? []), ...marks] } } : picture);
  element("board").classList.toggle("bare", !preferences.values.coordinates);
  element("board").classList.toggle("numbered", !state.preview && preferences.values.numbers !== "none");
  drawConfirm();
}

function drawTools() {
  document.body.classList.toggle("solving", problems.isOpen);
  const due = problems.repetition.due.length;
  element("repeat").hidden = problems.isOpen || (!due && state.role !== "compute");
  element("repeat").textContent = due ? ngettext("{count} problem to repeat", "{count} problems to repeat", due) : _("Problem of the day");
  element("problems").hidden = !problems.problem;
  element("verdict").hidden = element("moves").hidden = !analysis.isOn;
}

function drawPanel() {
  panel.draw(state.game.node, mayEdit(state) && state.game.phase !== "placing");
}

function drawPlayers() {
  for (const color of ["black", "white"]) {
    const { name, captures, isTurn } = playerOf(state, color);
    const box = element(color);
    box.classList.toggle("turn", isTurn);
    Object.assign(box.querySelector(".name"), { textContent: name, title: name });
    box.querySelector(".captures").textContent = _("{count} captured", { count: captures });
  }
  drawClocks();
}

function drawButtons() {
  for (const [name, [isHidden, isDisabled]] of Object.entries(buttonsOf(state))) Object.assign(element(name), { hidden: isHidden, disabled: isDisabled });
  element("actions").hidden = state.role === "watch";
  drawStrength();
  element("guess").setAttribute("aria-pressed", String(guessing.isOn));
  element("guess").textContent = guessing.isOn ? _("Stop guessing") : _("Guess the move");
  element("new").classList.toggle("main", !["placing", "playing", "scoring"].includes(state.game.phase)); // one primary action at a time
  element("ending").hidden = ["moments", "again", "harder"].every((name) => element(name).hidden);
  const { shown, line } = state.tree;
  element("number").textContent = `${shown.number} / ${line.at(-1).number}`;
}

/** Say how strong the person is by the games on this server. */
function drawStrength() {
  const { strength } = setup;
  element("strength").hidden = !strength || state.game.opened;
  if (!strength) return;
  const [rank, low, high] = [strength.rank, strength.low, strength.high].map(rankName);
  const values = { rank, low, high };
  element("strength").textContent = ngettext("After {count} game here you play like {rank}, between {low} and {high}.", "After {count} games here you play like {rank}, between {low} and {high}.", strength.count, values);
}

/** Show what each side has, where the score is counted and the board shows it. */
function drawScore() {
  const { game } = state;
  const isCounted = isCurrent(state) && ["scoring", "finished"].includes(game.phase) && game.owners.length > 0 && (game.score || game.result);
  element("score").hidden = !isCounted;
  if (!isCounted) return;
  drawTally(element("tally"), game.tally);
  element("counting").textContent = countingText(game);
}

function drawCourse() {
  const found = courseOf(state);
  element("graph").hidden = !found;
  const { moves } = state.tree.analysable;
  course.show({ ...found ?? { values: [], moves: 0, now: 0, lost: [] }, isBlack: (move) => moves[move]?.[0] === "black" });
}

/** Show the numbers of the analysis. */
function drawReport() {
  if (!analysis.isOn) return;
  const { report } = state.analysis;
  const root = report?.rootInfo;
  element("verdict").textContent = root
    ? _("Black {winrate}% · {lead} · {visits} visits", { winrate: (100 * root.winrate).toFixed(1), lead: leadText(root.scoreLead), visits: root.visits })
    : _("Analysing …");
  element("moves").tBodies[0].replaceChildren(...candidatesShown(state).map((move) => {
    const row = document.createElement("tr");
    const cells = [move.vertex, `${(100 * move.winrate).toFixed(1)}%`, signed(move.lead), String(move.visits), move.pv.slice(1, PV_LENGTH).join(" ")];
    row.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    row.onpointerenter = row.onclick = () => board.showLine(move.vertex);
    row.onpointerleave = ({ pointerType }) => pointerType === "mouse" && board.showLine(null);
    return row;
  }));
}

/** Say what there is to say about the game, unless something else has been said since. */
function drawStatus() {
  const { game } = state;
  const text = guessing.isOn ? guessing.text : statusOf(state);
  if (news?.[1] !== text) news = null;
  if (!news) element("status").textContent = text;
  const heard = guessing.isOn ? guessing.text : heardOf(state);
  if (!news && heard) announce(heard);
  element("notes").hidden = !game.notes.length;
  element("notes").textContent = _("The record: {notes}.", { notes: game.notes.map(messageText).join("; ") });
}

// --- clocks ---

function secondsOf() {
  return (performance.now() - received) / 1000;
}

function drawClocks() {
  const { game } = state;
  for (const color of ["black", "white"]) {
    const output = element(color).querySelector(".clock");
    output.hidden = !game.clocks;
    if (!game.clocks) continue;
    const clock = timeLeft(game, color, secondsOf());
    output.textContent = clockText(clock);
    output.classList.toggle("low", runningIn(game) === color && clock.main + clock.period < LOW_TIME);
  }
}

/** Show how time goes by, and count the person's last seconds. */
function tick() {
  drawClocks();
  const { game } = state;
  if (game.running !== game.human || !mayEdit(state)) return;
  const clock = timeLeft(game, game.human, secondsOf());
  const seconds = Math.ceil(clock.main + clock.period);
  if (seconds !== counted && (seconds === LOW_TIME || (seconds > 0 && seconds <= 5))) sounds.count(seconds);
  counted = seconds;
  if (server.isOpen && clock.isOver) send({ do: "check_time" });
}

// --- words ---

/** Say something instead of the state of the game, until that changes. */
function say(text) {
  news = [text, state.game && statusOf(state)];
  element("status").textContent = text;
  announce(text);
}

/** Let a screen reader say a text. */
function announce(text) {
  if (element("heard").textContent !== text) element("heard").textContent = text;
}

/** Return why the server refuses something; the rules' reasons are told in the reader's language. */
function refusalText({ message, reason, vertex }) {
  const texts = {
    occupied: _("{vertex} is occupied.", { vertex }), ko: _("{vertex} retakes a ko.", { vertex }),
    superko: _("{vertex} repeats an earlier position.", { vertex }), suicide: _("{vertex} is suicide.", { vertex }),
    levels: _("The network has no levels for this board: choose full strength, or another network under Settings."),
    binary: _("This file is not a game record, but a picture, a program or the like."),
  };
  return texts[reason] ?? sentenceOf(messageText(message));
}

function hideError() {
  clearTimeout(timers.error);
  element("error").hidden = true;
}

function showError(text) {
  const box = element("error");
  const dialog = document.querySelector("dialog[open]");
  if (dialog) dialog.append(box); // which covers its usual place
  else document.body.append(box);
  box.textContent = text;
  box.hidden = false;
  clearTimeout(timers.error);
  timers.error = setTimeout(hideError, ERROR_TIME);
}

draw();
window.addEventListener("hashchange", () => {
  const id = addressed();
  if (id && id !== state.game?.id) send({ do: "open", id });
});
window.addEventListener("popstate", () => addressed() || state.role !== "compute" || openHome());
keepPage();
document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLInputElement} */ (event.target);
  if (target.closest("dialog, select") || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const isTyping = target.closest("textarea, input:not([type=checkbox], [type=radio])");
  if (event.defaultPrevented || isTyping || (target.type === "radio" && event.key.startsWith("Arrow"))) return undefined;
  if (event.key === "?") element("keys").showModal();
  if (event.key === "/") element("find").focus();
  if (event.key === "?" || event.key === "/") return event.preventDefault();
  const steps = { PageUp: -1, PageDown: 1, ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
  if (steps === undefined) return undefined;
  step(steps);
  return event.preventDefault();
});
