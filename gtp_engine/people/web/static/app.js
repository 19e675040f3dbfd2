// The page: one game, its board, clocks and analysis. The game itself lives in the server; this shows it and asks.

import "./choose_language.js"; // first: what follows speaks it
import { Analysis, lookAt, marked, queryOf } from "./analysis.js";
import { Board } from "./board.js";
import { Connection } from "./connection.js";
import { Course } from "./course.js";
import { GameTree, markupOf } from "./game_tree.js";
import { Home, share } from "./home.js";
import { _, ngettext, sentences } from "./language.js";
import { messageText } from "./messages.js";
import { Openings } from "./openings.js";
import { UNNAMED, playerName, rankName } from "./names.js";
import { emptyPosition, pointOf, positionAfter } from "./position.js";
import { Preferences } from "./preferences.js";
import { Problems } from "./problems.js";
import { countingText, drawTally, resultText } from "./result.js";
import { Review, download } from "./review.js";
import { Setup } from "./setup.js";
import { TreePanel, takeRecords } from "./tree.js";

const CANDIDATES = 8; // on the board and in the table
const PV_LENGTH = 8;
const ERROR_TIME = 6000; // milliseconds
const LOW_TIME = 10; // seconds
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
const COMPILING_TIME = 3000; // milliseconds between two questions whether the engine is compiled

const element = (id) => document.getElementById(id);

let game = null;
let isAsked = false; // whether this page has asked for the next position of the game
let mayEdit = true; // whether this page may change the game
let received = 0; // when the clocks of `game` were right
let ahead = null; // the vertex of a move that the server has not answered yet
let played = -Infinity; // when the person's last move was made
let wantsHint = false; // at the person's next turn
let hints = null;
let announced = "";
let hasFingers = matchMedia("(any-pointer: coarse)").matches;
let lastClick = null;
let loaded = {}; // the file that was to be opened last, in base 64
let role = "compute"; // what the page may do: watch, play or compute
let longestFile = Infinity; // bytes that the server takes

const board = new Board(element("board"), choose);
const tree = new GameTree();
const panel = new TreePanel(element("tree"), tree, { send, onShow: showNode, asks });
const preferences = new Preferences(element("preferences"), () => game && [draw(), followAnalysis()]);
const course = new Course(element("graph"), (number) => showMove(number + tree.analysable.offset));
const analysis = new Analysis(drawAnalysis, () => preferences.limit("analysis"));
const review = new Review(element("review"), { send, onChoose: showMistake, onPreview: () => game && draw(), judge: lookAt, limit: () => preferences.limit("review") });
const problems = new Problems(element("problems"), { send, onChange: draw });
const openings = new Openings(element("openings"), { send, base: explored, onChange: draw });
const setup = new Setup(element("setup"), (message) => send(message));
board.show({ width: 9, height: 9, rows: Array(9).fill(".".repeat(9)), last: null, dead: [], ko: null });
const home = new Home(element("home"), { send, onOpen: openGame, onNew: newGame, asks, current: () => game?.id });
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
  const { file, number } = problems.stored ?? {};
  if (file) loadText(file, number);
  else if (!game && !id && role !== "watch") setup.open();
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
      role = hello.role;
      for (const name of ["new", "load"]) element(name).hidden = role === "watch";
      element("games").hidden = role !== "compute";
      setup.offer(hello);
      longestFile = hello.max_file;
      mayEdit = hello.role !== "watch";
      element("about").textContent = `Tengen ${hello.version}`;
      document.body.classList.toggle("limited", role !== "compute");
      if (element("preferences").open) askForNetworks();
      if (!game) say(_("Start a new game, or open a record."));
    },
    game: showGame,
    tree: (message) => {
      tree.load(message);
      panel.takeDraft();
    },
    nodes: (message) => tree.id === message.id && tree.merge(message), // the game comes next, and is drawn
    at: ({ node }) => showNode(node),
    hint: ({ moves }) => {
      showNode(game.node);
      hints = moves;
      draw();
      const [best] = moves;
      if (best) say(_("Hint: {vertex}, winrate {percent}%.", { vertex: best.vertex, percent: (100 * best.winrate).toFixed(0) }));
    },
    openings: (found) => openings.receive(found),
    problems: ({ count }) => beginProblems(count),
    problem: (problem) => problems.receive(problem),
    answer: (found) => problems.answered(found),
    games: (found) => home.receive(found),
    networks: showNetworks,
    record: ({ content }) => saveRecord(content),
    review: showReview,
    review_file: (file) => review.saveFile(file),
    error: (error) => {
      const text = refusalText(error);
      if (!game && text.startsWith("there is no game")) {
        localStorage.removeItem("game");
        history.replaceState(null, "", location.pathname);
        if (role === "watch") showError(text);
        else setup.open();
      } else {
        ahead = null;
        wantsHint &&= game?.is_engine_turn;
        problems.refused();
        openings.refuse();
        draw(); // nothing is looked for any more
        if (element("network").disabled) askForNetworks();
        showError(text);
      }
    },
  };
  handlers[message.type]?.(message);
}

function showGame(message) {
  const isNew = game?.id !== message.id;
  const isFollowed = isNew || tree.shown.id === game.node || !tree.nodes.has(game.node) || (isAsked && game.node !== message.node);
  if (isNew || game.node !== message.node) {
    hints = null;
    review.leave();
  }
  if (isNew || game.node !== message.node || game.is_engine_turn !== message.is_engine_turn) ahead = null;
  if (isFollowed && message.node !== game?.node) {
    isAsked = false;
    if (!isNew && tree.nodes.get(message.node)?.parent?.id === game.node) preferences.click();
  }
  const isOther = isNew && game;
  game = message;
  received = performance.now() - 1000 * game.age;
  tree.size = [game.width, game.height];
  if (isFollowed) tree.show(game.node);
  if (isOther) {
    problems.stop();
    openings.close();
  }
  if (isNew) {
    localStorage.setItem("game", game.id);
    remember(game.id);
  }
  draw();
  followAnalysis();
  if (wantsHint && !game.is_engine_turn && !ahead) askForHint();
  clearInterval(showGame.clock); // without one, a page that is left open costs nothing
  if (game.clocks && running()) showGame.clock = setInterval(tick, TICK);
  clearTimeout(showGame.timer);
  if (game.compiling) showGame.timer = setTimeout(() => server.send({ do: "open", id: game.id }), COMPILING_TIME);
}

function showReview(message) {
  review.receive(message);
  review.draw(viewed(), tree.shown.number);
  drawAnalysis();
}

/** Return the game with the moves of the line that is shown. */
function viewed() {
  return { ...game, moves: tree.moves };
}

function followAnalysis() {
  if (!analysis.isOn || !game) return;
  const { number, ...line } = tree.analysable;
  analysis.follow({ ...game, ...line }, number);
}

/** Put a game into the address, above the one before or the page without a game, so that Back does not leave the page. */
function remember(id) {
  if (addressed() === id && history.state) return;
  if (!history.state) history.replaceState({ isHome: true }, "", location.pathname);
  history.pushState({ id }, "", `#game=${id}`);
}

// --- what the person does ---

function openGame(id) {
  if (id === game?.id) remember(id); // its page lies below that of the list
  else send({ do: "open", id });
}

async function newGame() {
  const isRunning = game && game.moves.length > 0 && game.phase !== "finished" && !game.opened;
  if (isRunning && !(await asks(_("Leave this game? It stays in your games."), _("New game"), _("Cancel")))) return;
  setup.open();
}

function choose(vertex) {
  if (problems.choose(vertex) || openings.choose(vertex)) return;
  if (!game || ahead || review.choose(vertex, board.stoneAt(vertex)) || !mayEdit) return;
  if (panel.isEditing) panel.choose(vertex);
  else if (!isCurrent()) playInThePast(vertex);
  else if (game.phase === "scoring") send({ do: "toggle_dead", vertex });
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
  if (panel.isEditing) return panel.ask({ do: "try", vertex: "pass", color: tree.position().toPlay });
  if (!isCurrent()) return playInThePast("pass");
  if (performance.now() - played < PASS_TIME && !(await asks(_("Pass?"), _("Pass"), _("Cancel")))) return;
  return send({ do: "play", vertex: "pass" });
}

/** Ask for a hint, at the person's next turn if it is the engine's. */
function askForHint() {
  wantsHint = Boolean(game.is_engine_turn || ahead) && game.phase === "playing";
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

/** Let the game go on with another move in an earlier position, if it is the person's turn there. */
function playInThePast(vertex) {
  if (tree.position().toPlay !== game.human) {
    say(_("It is Tengen's turn here: “Play on here” lets it move, “Edit” lets you move for both."));
    return;
  }
  isAsked = true;
  send({ do: "play", vertex, node: tree.shown.id });
}

/** Whether the position on the board is the one where the game goes on. */
function isCurrent() {
  return tree.shown.id === game.node;
}

function showMove(number) {
  if (game) showNode(tree.at(number).id);
}

function showNode(id) {
  if (!game) return;
  const before = tree.shown;
  if (!tree.show(id)) return;
  review.leave();
  if (tree.shown.parent === before && tree.shown.move) preferences.click();
  hints = null;
  draw();
  followAnalysis();
}

function showMistake(number) {
  showMove(number);
  element("board").scrollIntoView({ block: "nearest" });
}

function askForNetworks() {
  if (role === "compute") server.send({ do: "networks" });
}

/** Show the networks to choose from; analyses begin anew when it is another one. */
function showNetworks({ names, current, best }) {
  const menu = element("network");
  const isOther = menu.dataset.current !== undefined && menu.dataset.current !== current;
  const builtin = (name) => _("{name}, which ships with Tengen", { name });
  menu.replaceChildren(...Object.entries(names).map(([name, text]) => new Option(name === "builtin" ? builtin(text) : text, name)));
  if (best) menu.append(new Option(_("the best one that is published, {megabytes} MB to download", best), "best"));
  menu.dataset.current = menu.value = current;
  menu.disabled = false;
  element("network-news").textContent = isOther
    ? sentences(_("Tengen plays and analyses with {name} now.", { name: names[current] }), _("Programs connected by GTP keep the network before until they connect again.")) : "";
  if (!isOther) return;
  analysis.restart();
  followAnalysis();
}

/** Let the server use another network, for everyone. */
async function useNetwork() {
  const menu = element("network");
  const name = menu.value;
  menu.value = menu.dataset.current;
  if (name === "best" && !(await asks(_("Download the network? It comes from the package index of Python, in a few minutes."), _("Download"), _("Cancel")))) return;
  menu.value = name;
  menu.disabled = send({ do: "network", name });
  element("network-news").textContent = _("Loading the network …");
}

function turnAnalysis(isOn) {
  if (isOn) {
    analysis.turnOn();
    followAnalysis();
  } else {
    analysis.turnOff();
  }
  drawAnalysis();
}

async function loadRecord(file) {
  setup.close(); // which a first visit shows
  if (file.size > longestFile) {
    showError(_("{file} has {size}; a game record may have {most} at most.", { file: file.name, size: kilobytes(file.size), most: kilobytes(longestFile) }));
    return;
  }
  const bytes = new Uint8Array(await file.arrayBuffer()); // as they are: records have many encodings
  loadText(btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")));
}

/** Open a file in base 64; where it holds problems, those that were open in this window go on with this `number`. */
function loadText(file, number = null) {
  loaded = { file, number };
  send({ do: "load", file, asks: true });
}

/** Solve the problems of the file that was to be opened, or open its first game. */
async function beginProblems(count) {
  const { file, number } = loaded;
  const question = ngettext("This file has {count} problem. Solve it?", "This file has {count} problems. Solve them?", count);
  if (number !== null || (await asks(question, _("Solve"), _("Open as a game")))) problems.begin(file, count, number);
  else send({ do: "load", file });
}

function kilobytes(bytes) {
  return `${Math.ceil(bytes / 1000)} kB`;
}

/** Save the record, which comes in base 64. */
function saveRecord(content) {
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  download(bytes, `tengen-${new Date().toISOString().slice(0, 10)}-${game.id.slice(0, 4)}.sgf`, "application/x-go-sgf");
}

element("new").onclick = newGame;
element("games").onclick = () => home.open();
element("share").onclick = () => share(element("links"), game.id, role);
element("moments").onclick = () => {
  element("review").scrollIntoView({ block: "nearest" });
  element("review-start").focus(); // from there the review goes on with the focus
  element("review-start").click();
};
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
  element("confirm").textContent = detail ? _("Play {vertex}", { vertex: detail }) : _("Place a stone");
  drawConfirm();
});

/** Show the button that confirms a tap where there are fingers: always, so that no other button takes its place. */
function drawConfirm() {
  const isMove = game?.phase === "playing" || game?.phase === "placing" || preview()?.places;
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

/** Go some nodes back or forth in the line that is shown. */
function step(steps) {
  if (problems.step(steps) || (Number.isFinite(steps) && openings.step(steps))) return;
  if (!game || !tree.shown || (Number.isFinite(steps) && review.step(steps))) return;
  showNode(tree.stepped(steps).id);
}

/** Ask for a change after which the page shows where the game goes on. */
function ask(name) {
  isAsked = true;
  send({ do: name });
}

/** Go through the game with the wheel. */
function turned(event) {
  if (event.ctrlKey || !(game || preview())) return;
  event.preventDefault();
  turned.sum = (turned.sum ?? 0) + event.deltaY;
  if (Math.abs(turned.sum) < NOTCH) return;
  step(Math.sign(turned.sum));
  turned.sum = 0;
}

// --- drawing ---

/** What the board shows instead of the game: a problem, an opening, or a position of the review; null for the game. */
function preview() {
  return problems.preview ?? openings.preview ?? review.preview;
}

/** The position from which openings are explored: that which is shown, or the empty board. */
function explored() {
  if (!game) return { position: emptyPosition(19, 19), query: { ...queryOf({ ...NO_GAME, setup: [], first: "black" }), moves: [] } };
  const { number, moves, ...line } = tree.analysable;
  const query = queryOf({ ...game, ...line });
  return { position: tree.position(), query: { ...query, moves: moves.slice(0, number).map(([color, vertex]) => [color === "black" ? "B" : "W", vertex]) } };
}

/** Draw what the board shows instead of the game; false if that is the game. */
function drawPreview() {
  const shown = preview();
  document.body.classList.toggle("solving", problems.isOpen);
  element("problems").hidden = !problems.problem;
  openings.follow();
  if (!shown) return false;
  board.show({ width: game?.width, height: game?.height, ...shown });
  board.mark({});
  board.placing(shown.places);
  board.overlay({ candidates: shown.marks });
  drawConfirm();
  return true;
}

/** Draw everything; where the button that has the keyboard's focus goes, another takes it. */
function draw() {
  const focused = document.querySelector("button:focus-visible");
  drawAll();
  if (focused && !isUsable(focused)) keepFocus(focused);
}

function isUsable(button) {
  return button.checkVisibility() && !button.disabled;
}

/** Focus what is nearest to a button that has gone: the main one or the next of its group, else the board, where the game goes on. */
function keepFocus(button) {
  const others = [...(button.closest("#actions, #history, #tree")?.querySelectorAll("button") ?? [])].filter(isUsable);
  const follows = (other) => button.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
  const isTurn = button.closest("#actions") && game?.phase === "playing";
  const next = others.find(({ className }) => className === "main") ?? others.find(follows) ?? others.at(-1);
  if (next && !isTurn) next.focus();
  else board.takeFocus();
}

function drawAll() {
  const isPreview = drawPreview();
  if (!game) return;
  const isLast = isCurrent();
  const isScored = isLast && (game.phase === "scoring" || game.phase === "finished");
  const isAhead = isLast && ahead;
  const position = isAhead ? positionAfter(tree.position(), { moves: [[game.human, ahead]] }) : tree.position();
  const { numbers, coordinates } = preferences.values;
  if (!isPreview) board.show({
    width: game.width, height: game.height,
    rows: isLast && !isAhead ? game.rows : position.rows,
    last: position.last && !isAhead && tree.shown.marks?.[tree.shown.moves.at(-1)?.[1]] ? null : position.last,
    dead: isScored ? game.dead : [],
    owners: isScored && game.owners.length ? game.owners : null,
    ko: isLast && !isAhead && game.ko ? pointOf(game.ko, game.height) : null,
    numbers: numbers === "none" ? {} : tree.numbers(numbers === "all"),
  });
  element("board").classList.toggle("bare", !coordinates);
  element("board").classList.toggle("numbered", numbers !== "none");
  if (!isPreview) board.mark(markupOf(tree.shown, game.height));
  const isMyTurn = isLast && !isAhead && !game.is_engine_turn && (game.phase === "playing" || game.phase === "placing");
  const mayPlay = panel.isEditing ? position.toPlay : isMyTurn || (!isLast && position.toPlay === game.human) ? game.human : null;
  if (!isPreview) board.placing(mayEdit ? mayPlay : null);
  panel.draw(game.node, mayEdit && game.phase !== "placing");
  drawPlayers();
  drawButtons(mayPlay);
  drawScore(isScored);
  const text = statusText();
  if (text !== announced) say(text);
  element("notes").hidden = !game.notes.length;
  element("notes").textContent = _("The record: {notes}.", { notes: game.notes.map(messageText).join("; ") });
  review.draw(viewed(), tree.shown.number);
  drawAnalysis();
}

function drawPlayers() {
  for (const color of ["black", "white"]) {
    const box = element(color);
    const isEngine = color !== game.human;
    box.classList.toggle("turn", isCurrent() ? game.phase === "playing" && game.to_play === color : tree.position().toPlay === color);
    box.querySelector(".name").textContent = playerText(game.names[color], isEngine);
    box.querySelector(".captures").textContent = _("{count} captured", { count: tree.position().captures[color] });
  }
  drawClocks();
}

/** Return what is shown of a player; the name may be that of a record which the game continues. */
function playerText(name, isEngine) {
  const isRecord = game.opened && game.phase === "finished"; // between others, perhaps
  if (!isEngine && !(isRecord && name !== UNNAMED)) return name === UNNAMED ? playerName(name) : _("{name} (you)", { name });
  return name === "Tengen" && game.level && game.level !== "max" ? `${name} (${rankName(game.level)})` : name;
}

function drawButtons(mayPlay) {
  const isOver = game.phase === "finished";
  const isScoring = game.phase === "scoring";
  for (const name of ["pass", "hint", "resign"]) element(name).hidden = isOver || isScoring;
  element("resign").disabled = game.phase !== "playing";
  element("pass").disabled = !mayPlay || game.phase === "placing";
  element("hint").disabled = game.phase !== "playing" || wantsHint;
  const hasPlaced = game.phase === "placing" && game.rows.some((row) => row.includes("X"));
  element("undo").disabled = !hasPlaced && !game.moves.some(([color]) => color === game.human);
  element("accept").hidden = !isScoring || !game.score;
  element("resume").hidden = !isScoring && !isOver;
  element("redo").hidden = isScoring || !game.can_redo;
  drawConfirm();
  element("actions").hidden = role === "watch";
  element("share").hidden = false;
  element("moments").hidden = !isOver || role !== "compute" || game.opened || !game.moves.length || review.fits;
  element("save").disabled = false;
  element("number").textContent = `${tree.shown.number} / ${tree.line.at(-1).number}`;
  element("first").disabled = element("back").disabled = !tree.shown.parent;
  element("forward").disabled = element("last").disabled = tree.shown === tree.line.at(-1);
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
  if (!isCurrent()) return pastText();
  return game.compiling && game.phase !== "finished" ? sentences(gameText(), _("Tengen is weak until it is compiled, which takes about a minute.")) : gameText();
}

/** Say which position is on the board when it is not the one where the game goes on. */
function pastText() {
  const { move, number } = tree.shown;
  const turn = tree.position().toPlay === "black" ? _("Black to play") : _("White to play");
  if (!move) return number ? _("After move {number}. {turn}.", { number, turn }) : _("The start. {turn}.", { turn });
  const [color, vertex] = move;
  const text = { black: [_("Move {number}: Black {vertex}. {turn}."), _("Move {number}: Black passes. {turn}.")],
    white: [_("Move {number}: White {vertex}. {turn}."), _("Move {number}: White passes. {turn}.")] }[color][vertex === "pass" ? 1 : 0];
  return _(text, { number, vertex, turn });
}

function gameText() {
  const person = game.opened ? null : game.human;
  const after = (text) => sentences(moveText(), text);
  if (game.phase === "finished") return after(resultText(game.result, person));
  if (game.phase === "scoring") return game.score ? sentences(resultText(game.score, person, false), _("Click a group to switch it between alive and dead.")) : _("Counting …");
  if (game.phase === "placing") return ngettext("Place {count} handicap stone.", "Place {count} handicap stones.", game.stones_to_place);
  if (game.thinking || ahead) return after(_("Tengen is thinking …"));
  return after(game.is_engine_turn ? _("Tengen's turn.") : _("Your move."));
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
  board.layers && board.overlay(preview() ? { candidates: preview().marks } : {
    candidates: (analysis.isOn ? moves : stillMoves()).filter(({ x }) => x !== undefined),
    ownership: countedOwnership() ?? (element("ownership").checked ? analysis.live?.ownership : null),
  });
  element("verdict").hidden = element("moves").hidden = !analysis.isOn;
  element("graph").hidden = !analysis.isOn && !review.fits;
  if (!game) return;
  const { offset, number, ...line } = tree.analysable;
  const [reviewed, analysed] = [review.values, analysis.valuesOf({ ...game, ...line })];
  const values = Array.from({ length: line.moves.length + 1 }, (__, index) => reviewed[index + offset] ?? analysed[index]);
  course.show(values, line.moves.length, number, review.lost.slice(offset));
  if (!analysis.isOn) return;
  const root = analysis.live?.rootInfo;
  const lead = root && `${root.scoreLead >= 0 ? "B" : "W"}+${Math.abs(root.scoreLead).toFixed(1)}`;
  element("verdict").textContent = root
    ? _("Black {winrate}% · {lead} · {visits} visits", { winrate: (100 * root.winrate).toFixed(1), lead, visits: root.visits })
    : _("Analysing …");
  element("moves").tBodies[0].replaceChildren(...moves.map((move) => {
    const row = document.createElement("tr");
    const cells = [move.vertex, `${(100 * move.winrate).toFixed(1)} %`, signed(move.lead), String(move.visits), move.pv.slice(1, PV_LENGTH).join(" ")];
    row.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    row.onpointerenter = row.onclick = () => board.showLine(move.vertex);
    row.onpointerleave = ({ pointerType }) => pointerType === "mouse" && board.showLine(null);
    return row;
  }));
}

/** Return who has each empty point and each dead stone, 1 for Black, by rows; null where no score is counted. */
function countedOwnership() {
  const isShown = game && !analysis.isOn && game.owners.length && isCurrent() && game.phase !== "playing";
  return isShown ? Array.from(game.owners.join(""), (owner) => ({ X: 1, O: -1 })[owner] ?? 0) : null;
}

/** Return what the board shows without a live analysis: hints, or what the review says about the next move. */
function stillMoves() {
  const at = (vertex) => {
    const point = pointOf(vertex, game.height);
    return { x: point?.[0], y: point?.[1] };
  };
  if (hints) return marked(hints, element("labels").value).map((hint) => ({ ...hint, line: hint.pv, color: game.human, ...at(hint.vertex) }));
  return game ? review.marks(tree.shown.number) : [];
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

/** Show how time goes by. */
function tick() {
  drawClocks();
  if (server.isOpen && game.running === game.human && timeLeft(game.human).isOver) send({ do: "check_time" });
}

// --- words ---

function say(text) {
  announced = text;
  element("status").textContent = text;
}

/** Return why the server refuses something; the rules' reasons are told in the reader's language. */
function refusalText({ message, reason, vertex }) {
  const texts = {
    occupied: _("{vertex} is occupied.", { vertex }), ko: _("{vertex} retakes a ko.", { vertex }),
    superko: _("{vertex} repeats an earlier position.", { vertex }), suicide: _("{vertex} is suicide.", { vertex }),
  };
  return texts[reason] ?? messageText(message);
}

function hideError() {
  clearTimeout(showError.timer);
  element("error").hidden = true;
}

function showError(text) {
  const box = element("error");
  const dialog = document.querySelector("dialog[open]");
  if (dialog) dialog.append(box); // which covers its usual place
  else element("status").after(box);
  box.textContent = text;
  box.hidden = false;
  clearTimeout(showError.timer);
  showError.timer = setTimeout(hideError, ERROR_TIME);
}

window.addEventListener("hashchange", () => {
  const id = addressed();
  if (id && id !== game?.id) send({ do: "open", id });
});
window.addEventListener("popstate", () => addressed() || role !== "compute" || home.open());
document.addEventListener("keydown", (event) => {
  if (event.target.closest("dialog, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = event.target.closest("textarea, input:not([type=checkbox], [type=radio])");
  if (event.defaultPrevented || isTyping || (event.target.type === "radio" && event.key.startsWith("Arrow"))) return;
  const steps = { PageUp: -1, PageDown: 1, ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
  if (steps === undefined) return;
  step(steps);
  event.preventDefault();
});
