// The page of a review: the game to step through, its graphs, the biggest mistakes and both players in numbers.

import { Board, lossClass, lossText } from "./board.js";
import { Graph } from "./graph.js";
import { bestLanguage, speak } from "./language.js";
import { pointOf, positionsOf, vertexOf } from "./position.js";

const review = JSON.parse(document.getElementById("data").textContent);
const { width, height } = review.game;
const { positions, moves } = review;
const language = document.documentElement.dataset.language;
const texts = JSON.parse(document.getElementById("texts").textContent);
const best = bestLanguage(language ? [language] : navigator.languages, Object.keys(texts));
speak(best, texts[best]);
const NAMES = { B: "Black", W: "White" };
const COLORS = { B: "black", W: "white", X: "black", O: "white" };
const MARKS = { BM: "bad move", DO: "doubtful", IT: "interesting", TE: "fine move" };
const SHOWN = 3; // candidates of a position
const SWIPE = 40; // pixels
const $ = (id) => document.getElementById(id);
const board = new Board($("board"), choose, { hasCursor: false });
let now = 0;
let showHints = true;
let showOwner = false;
let line = null; // the continuation that is shown

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const percent = (value) => `${(100 * value).toFixed(1)} %`;
const leadText = (lead) => (Math.abs(lead) < 0.05 ? "even" : (lead > 0 ? "B+" : "W+") + Math.abs(lead).toFixed(1));
const other = (color) => (color === "B" ? "W" : "B");
const stoneOf = (color) => element("span", { class: `stone ${color}` });
const candidates = () => positions[now].candidates.slice(0, SHOWN);

function drawBoard() {
  const { stones, ownership, to_play: first } = positions[now];
  const setup = [...stones].flatMap((stone, index) => stone === "." ? [] : [[COLORS[stone], vertexOf(index % width, Math.floor(index / width), height)]]);
  const played = (line ?? []).map((vertex, index) => [COLORS[index % 2 ? other(first) : first], vertex]);
  const { rows } = positionsOf({ width, height, setup, moves: played }).at(-1);
  const areHintsShown = showHints && !line;
  board.show({
    width, height, rows,
    last: now && !line ? pointOf(moves[now - 1].vertex, height) : null,
    numbers: Object.fromEntries((line ?? []).flatMap((vertex, index) => vertex === "pass" ? [] : [[vertex, index + 1]])),
    next: areHintsShown && moves[now] ? pointOf(moves[now].vertex, height) : null,
  });
  const marks = areHintsShown ? candidates().map(markOf) : [];
  board.overlay({
    candidates: marks.filter(({ point }) => point).map(({ point: [x, y], ...mark }) => ({ x, y, ...mark })),
    ownership: showOwner && !line ? ownership.map((percents) => percents / 100) : null,
  });
}

/** Return a candidate as the board draws it. */
function markOf(candidate, rank) {
  const loss = lossOf(candidate);
  const label = rank ? `loses ${loss.toFixed(1)} points` : "best move";
  return { point: pointOf(candidate.vertex, height), loss, text: lossText(loss), brief: lossText(loss, 0), kind: rank ? "" : "best", label };
}

/** Return what a candidate of the position that is shown loses against the best one, in points. */
function lossOf({ lead }) {
  const { candidates: [best], to_play: color } = positions[now];
  return Math.max(0, color === "B" ? best.lead - lead : lead - best.lead);
}

/** Show the continuation of the candidate on a point of the board. */
function choose(vertex) {
  const found = showHints && !line && candidates().find((candidate) => candidate.vertex === vertex);
  if (found) show(now, found.line);
}

function describe() {
  const position = positions[now];
  const after = now > 0 ? moves[now - 1] : null;
  const first = element("p");
  if (after) {
    first.append(stoneOf(after.color), `Move ${now}: ${NAMES[after.color]} ${after.vertex}`);
    if (after.mark) first.append(" ", element("span", { class: after.mark }, MARKS[after.mark]));
    if (after.points_lost > 0) first.append(`, loses ${after.points_lost.toFixed(1)} points, ${percent(after.winrate_lost)} winrate`);
  } else first.append("Start of the game");
  const second = element("p", { class: "soft" },
    `Black's winrate ${percent(position.winrate)}, lead ${leadText(position.lead)}. ${NAMES[position.to_play]} to play; ${position.visits} visits.`);
  const list = element("div", { class: "candidates" });
  candidates().forEach((candidate, rank) => {
    const winrate = position.to_play === "B" ? candidate.winrate : 1 - candidate.winrate;
    const button = element("button", { "aria-pressed": String(line === candidate.line) },
      `${"ABC"[rank]} ${candidate.vertex}  ${percent(winrate)}  ${leadText(candidate.lead)}`);
    button.addEventListener("click", () => show(now, line === candidate.line ? null : candidate.line));
    list.append(button);
  });
  $("now").replaceChildren(first, second, list);
}

/** Return the graphs by their elements, each with what it draws. */
function newGraphs() {
  const marked = moves.filter(({ mark }) => mark === "BM" || mark === "DO").map(({ number }) => [number, `dot ${lossClass(moves[number - 1].points_lost)}`]);
  const far = Math.max(2, ...positions.map(({ lead }) => Math.abs(lead)));
  const most = Math.max(2, ...moves.map((move) => move.points_lost));
  const series = {
    winrate: { kind: "graph-line", values: positions.map((each) => each.winrate), low: 0, high: 1, marks: [0, 0.5, 1],
      text: (value) => `${Math.round(100 * value)} %`, area: "graph-area", dots: marked },
    lead: { kind: "graph-line", values: positions.map((each) => each.lead), low: -far, high: far, marks: [-far, 0, far],
      text: leadText, dots: marked },
    lost: { kind: (move) => `graph-bar ${lossClass(moves[move].points_lost)}`, values: moves.map((move) => move.points_lost), low: 0, high: most,
      marks: [0, most / 2, most], text: (value) => String(+value.toFixed(1)) },
  };
  return Object.entries(series).map(([id, drawn]) => [new Graph($(id), (number) => show(number), [64, 8, 8, 18]), drawn]);
}

function drawMistakes() {
  const items = review.mistakes.map((number) => {
    const move = moves[number - 1];
    const [candidate] = positions[number - 1].candidates;
    const button = element("button", {}, element("span", {}, stoneOf(move.color), `${number}`),
      element("span", {}, `${NAMES[move.color]} ${move.vertex}, better ${move.best}`),
      element("span", { class: `loss ${lossClass(move.points_lost)}` }, lossText(move.points_lost)),
      element("span", { class: "more" }, candidate.line.join(" ")));
    button.addEventListener("click", () => {
      show(number - 1, candidate.line);
      if (matchMedia("(max-width: 860px)").matches) $("board").scrollIntoView({ behavior: "smooth" });
    });
    return element("li", {}, button);
  });
  if (!items.length) items.push(element("li", {}, "No move lost 2 points or more."));
  $("mistakes").replaceChildren(...items);
}

function drawPlayers() {
  const { B, W } = review.players;
  const shown = (value) => (value === null ? "–" : String(value));
  const interval = (side) => (side.accuracy_interval ? side.accuracy_interval.join(" – ") : "–");
  const rows = [["Accuracy", B.accuracy, W.accuracy], ["95 % interval", interval(B), interval(W)],
    ["Moves", B.moves, W.moves], ["Same as the engine's", B.best_moves, W.best_moves],
    ["Points lost per move", B.mean_points_lost, W.mean_points_lost],
    ...Object.keys(B.by_phase).map((phase) => [`· in the ${phase}`, B.by_phase[phase], W.by_phase[phase]]),
    ...Object.keys(B.blunders).map((least) => [`Lost ${least} points or more`, B.blunders[least], W.blunders[least]])];
  const head = element("tr", {}, element("th"), ...["B", "W"].map((color) =>
    element("th", {}, stoneOf(color), review.players[color].name || NAMES[color])));
  $("players").replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows.map(([name, black, white]) =>
    element("tr", {}, element("th", {}, name), element("td", {}, shown(black)), element("td", {}, shown(white))))));
}

function show(number, variation = null) {
  now = Math.max(0, Math.min(positions.length - 1, number));
  line = variation;
  $("slider").value = now;
  drawBoard();
  describe();
  for (const [graph, drawn] of graphs) graph.show(moves.length, now, [drawn]);
}

function jump(step) {
  const marked = moves.filter((move) => move.points_lost >= 2).map((move) => move.number);
  const found = step > 0 ? marked.find((number) => number > now) : marked.filter((number) => number < now).pop();
  if (found !== undefined) show(found);
}

function toggle(id) {
  if (id === "hints") showHints = !showHints; else showOwner = !showOwner;
  $(id).setAttribute("aria-pressed", String(id === "hints" ? showHints : showOwner));
  line = null;
  drawBoard();
  describe();
}

function begin() {
  const name = (color) => [review.players[color].name || NAMES[color], review.players[color].rank].filter(Boolean).join(" ");
  $("title").replaceChildren(stoneOf("B"), name("B"), " – ", stoneOf("W"), name("W"));
  const { game } = review;
  const facts = [`${width}×${height}`, game.rules, `komi ${game.komi}`];
  if (game.handicap) facts.push(`handicap ${game.handicap}`);
  if (game.result) facts.push(`result ${game.result}`);
  if (game.date) facts.push(game.date);
  $("facts").textContent = facts.join(" · ");
  $("footer").textContent = [`Reviewed by ${review.program} with ${review.network}.`, ...review.notes].join(" ");
  $("slider").max = positions.length - 1;
  $("slider").addEventListener("input", ({ target }) => show(Number(target.value)));
  const actions = { first: () => show(0), back: () => show(now - 1), next: () => show(now + 1),
    last: () => show(positions.length - 1), hints: () => toggle("hints"), owner: () => toggle("owner"),
    "previous-mistake": () => jump(-1), "next-mistake": () => jump(1) };
  for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
  const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", h: "hints", o: "owner",
    p: "previous-mistake", n: "next-mistake" };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    actions[keys[event.key]]();
    event.preventDefault();
  });
  let touch = null;
  $("board").addEventListener("touchstart", (event) => { touch = event.touches[0].clientX; }, { passive: true });
  $("board").addEventListener("touchend", (event) => {
    const moved = event.changedTouches[0].clientX - touch;
    if (Math.abs(moved) > SWIPE) show(now + (moved < 0 ? 1 : -1));
  });
  drawMistakes();
  drawPlayers();
  const wanted = /^#([0-9]+)$/.exec(location.hash);
  show(wanted ? Number(wanted[1]) : 0);
}

const graphs = newGraphs();
begin();
