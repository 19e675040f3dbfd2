// The board as SVG: a grid of cells for mouse, touch and keyboard, and layers for what is on it.

import { _ } from "./language.js";
import { LETTERS, pointOf, vertexOf } from "./position.js";

const SVG = "http://www.w3.org/2000/svg";
const NAMES = { ".": () => _("empty"), X: () => _("black stone"), O: () => _("white stone") };
const OWNERS = { X: () => _("Black's point"), O: () => _("White's point") };
const MARGIN = 1.05;
const SHAPES = { // of marks, from the point on
  triangle: "m0 -.27l.24 .41h-.48z", square: "m-.2 -.2h.4v.4h-.4z", circle: "m-.24 0a.24 .24 0 1 0 .48 0a.24 .24 0 1 0 -.48 0z",
  cross: "m-.2 -.2l.4 .4m0 -.4l-.4 .4", selected: "m-.12 -.12h.24v.24h-.24z",
};
const LOSSES = [0.5, 1, 2, 5]; // points lost with which the next colour of the scale begins
const SMALL = 24; // pixels between two points of a board on which labels are short
const LIKELY = 0.5; // ownership from which a stone is expected to be captured

/** Return the class of points lost, from "loss-0", good, to "loss-4", bad: its colours are those of everything that shows them. */
export function lossClass(points) {
  return `loss-${LOSSES.filter((least) => points >= least).length}`;
}

/** Return points lost as a short text. */
export function lossText(points, digits = points < 10 ? 1 : 0) {
  const rounded = points.toFixed(digits);
  return Number(rounded) ? `−${rounded}` : "0";
}

/** Return a new SVG element. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

let boards = 0; // on this page

export class Board {
  /** A board inside `parent`; `onChoose(vertex)` is called for the point that is clicked, tapped or entered, the latter
   * only if the board `hasCursor`, which takes the arrow keys; `usage` says so to screen readers. */
  constructor(parent, onChoose, { hasCursor = true, usage = _("Arrow keys move, Enter plays.") } = {}) {
    this.parent = parent;
    this.id = boards += 1; // in the names of its colours: those of a board that is hidden are no colours for others
    this.onChoose = onChoose;
    this.hasCursor = hasCursor;
    this.usage = usage;
    this.width = this.height = 0;
    this.rows = [];
    this.cells = [];
    this.focus = [0, 0];
    this.ghostColor = null; // of the stone that a move would place; null where none can be placed
    this.pending = null; // on touch screens: the vertex that waits for its confirmation
    this.drawn = {}; // the analysis that is shown
    this.hovered = null; // [x, y] of the point under the pointer or the focus
    this.isSmall = false;
    this.isPointed = false; // whether the focus came by a click rather than by a key
    new ResizeObserver(() => this.resized()).observe(parent);
  }

  /** The stone on a point that is shown, "." for none. */
  stoneAt(vertex) {
    const [x, y] = pointOf(vertex, this.rows.length);
    return this.rows[y][x];
  }

  /** Show a position: {width, height, rows, last}, perhaps with dead stones, the owners of all points as rows, the
   * forbidden point of a ko, the numbers of stones by vertex, and the point that is played next. */
  show(position) {
    if (position.width !== this.width || position.height !== this.height) this.build(position.width, position.height);
    const before = this.rows;
    this.rows = position.rows;
    if (this.pending && before.join() !== this.rows.join()) this.wait(null);
    const dead = new Set(position.dead);
    const stones = [];
    for (let y = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++) {
        const stone = this.rows[y][x];
        const vertex = vertexOf(x, y, this.height);
        const isDead = dead.has(vertex);
        const isLast = position.last && position.last[0] === x && position.last[1] === y;
        const owner = stone === "." && OWNERS[position.owners?.[y][x]]?.();
        this.labels[y][x] = [vertex, NAMES[stone](), isDead && _("dead"), owner, isLast && _("last move")].filter(Boolean).join(", ");
        this.cells[y][x].setAttribute("aria-label", this.labels[y][x]);
        this.stones[y][x] = null;
        if (stone === ".") continue;
        const isNew = before.length && before[y]?.[x] === ".";
        this.stones[y][x] = this.stone(x, y, stone, isDead ? "dead" : isNew ? "new-stone" : "");
        stones.push(this.stones[y][x]);
        if (isDead) stones.push(svg("path", { class: "cross", d: `M${x - 0.2} ${y - 0.2}l.4 .4m0 -.4l-.4 .4` }));
      }
    }
    if (position.last && this.rows[position.last[1]][position.last[0]] !== ".") {
      const [x, y] = position.last;
      stones.push(svg("circle", { class: `last on-${this.rows[y][x] === "X" ? "black" : "white"}`, cx: x, cy: y, r: 0.24 }));
    }
    if (position.ko) stones.push(svg("rect", { class: "ko", x: position.ko[0] - 0.2, y: position.ko[1] - 0.2, width: 0.4, height: 0.4 }));
    for (const [vertex, number] of Object.entries(position.numbers ?? {})) {
      const [x, y] = pointOf(vertex, this.height);
      const stone = this.rows[y][x];
      if (stone !== ".") stones.push(text_(`number on-${stone === "X" ? "black" : "white"}`, x, y, number));
    }
    if (position.next) stones.push(svg("circle", { class: "next", cx: position.next[0], cy: position.next[1], r: 0.4 }));
    this.layers.stones.replaceChildren(...stones);
    this.hoverPending();
  }

  /** Draw an analysis over the position: `candidates` are marks on empty points, {x, y, text, loss}, and as far as given
   * `brief`, the text on a small board, `small`, a second line, `share` of the visits, `kind` ("best" or "played") and
   * `label`, what a screen reader says, and `line`, its continuation as vertices, from itself on, which the board shows
   * while the pointer is there (`color` moves first); `ownership` has numbers by row, Black's positive, drawn on empty points. Stones
   * that are expected to be captured fade. */
  overlay({ candidates = [], ownership = null } = {}) {
    this.drawn = { candidates, ownership };
    const owned = [];
    for (let y = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++) {
        const owner = ownership?.[y * this.width + x] ?? 0;
        const stone = this.rows[y]?.[x];
        this.cells[y][x].setAttribute("aria-label", this.labels[y][x]);
        this.stones[y][x]?.classList.toggle("doomed", (stone === "X" ? -owner : owner) >= LIKELY);
        if ((stone !== "." && !this.stones[y][x]?.classList.contains("dead")) || Math.abs(owner) < 0.1 || candidates.some((each) => each.x === x && each.y === y)) continue;
        const size = 0.42 * Math.sqrt(Math.abs(owner));
        owned.push(svg("rect", {
          class: owner > 0 ? "owner-black" : "owner-white", opacity: 0.65, x: x - size / 2, y: y - size / 2, width: size, height: size,
        }));
      }
    }
    this.layers.ownership.replaceChildren(...owned);
    this.layers.candidates.replaceChildren(...candidates.map((each) => this.candidate(each)));
    for (const { x, y, label } of candidates) if (label) this.cells[y][x].setAttribute("aria-label", `${this.labels[y][x]}, ${label}`);
    this.hover(this.hovered);
  }

  /** Show how the game goes on with a candidate, as when the pointer is there; null for none. */
  showLine(vertex) {
    this.hover(vertex && pointOf(vertex, this.height));
  }

  /** Draw what a record says about points: `marks`, `labels`, `territory` and the moves of `branches`, each [x, y, what]. */
  mark({ marks = [], labels = [], territory = [], branches = [] } = {}) {
    const on = (x, y) => ({ X: "on-black", O: "on-white" })[this.rows[y][x]] ?? "on-wood";
    const shape = ([x, y, kind]) => svg("path", { class: `mark ${kind} ${on(x, y)}`, d: `M${x} ${y}${SHAPES[kind]}` });
    const square = ([x, y, color]) => svg("rect", { class: `owner-${color}`, x: x - 0.14, y: y - 0.14, width: 0.28, height: 0.28 });
    const branch = ([x, y, color]) => svg("circle", { class: `branch-${color}`, cx: x, cy: y, r: 0.16 });
    const label = ([x, y, text]) => [
      ...(this.rows[y][x] === "." ? [svg("circle", { class: "wood", cx: x, cy: y, r: 0.36 })] : []),
      text_(`label ${on(x, y)}${text.length > 2 ? " long" : ""}`, x, y, text),
    ];
    this.layers.markup.replaceChildren(
      ...territory.map(square), ...branches.filter(([x, y]) => this.rows[y][x] === ".").map(branch), ...marks.map(shape), ...labels.flatMap(label),
    );
    for (const [x, y, text] of [...marks, ...labels]) this.cells[y][x].setAttribute("aria-label", `${this.cells[y][x].getAttribute("aria-label")}, ${text}`);
  }

  candidate({ x, y, text, brief = text, small = "", loss, share = 1, kind = "" }) {
    const content = this.isSmall ? [text_("candidate-text brief", x, y + 0.02, brief)]
      : [text_("candidate-text", x, y - (small ? 0.1 : 0), text), ...(small ? [text_("candidate-text small", x, y + 0.22, small)] : [])];
    const circle = svg("circle", { class: "disc", "fill-opacity": 0.75 + 0.25 * share, cx: x, cy: y, r: 0.46 });
    return svg("g", { class: `candidate ${lossClass(loss)} ${kind}`.trim() }, circle, ...content);
  }

  /** Draw long or short labels as the size of the board asks for. */
  resized() {
    const grid = this.parent.firstElementChild;
    const isSmall = Boolean(grid?.clientWidth) && grid.clientWidth / (this.width - 1 + 2 * MARGIN) < SMALL;
    if (isSmall === this.isSmall) return;
    this.isSmall = isSmall;
    this.overlay(this.drawn);
  }

  /** Let the next stone be placed by this colour, "black" or "white"; null if none can be placed. */
  placing(color) {
    this.ghostColor = color;
    if (!color) this.wait(null);
    this.hoverPending();
  }

  /** Whether a finger's tap has to be confirmed: it covers several points of a large board. */
  get needsConfirmation() {
    return this.width > 9;
  }

  /** Let a vertex wait for its confirmation, or null for none. */
  wait(vertex) {
    this.pending = vertex;
    this.parent.dispatchEvent(new CustomEvent("pending", { detail: vertex }));
  }

  build(width, height) {
    [this.width, this.height] = [width, height];
    this.rows = [];
    this.drawn = {};
    [this.labels, this.stones] = [0, 1].map(() => Array.from({ length: height }, () => Array(width).fill(null)));
    this.focus = [Math.floor(width / 2), Math.floor(height / 2)];
    this.wait(null);
    const grid = svg("svg", {
      viewBox: `${-MARGIN} ${-MARGIN} ${width - 1 + 2 * MARGIN} ${height - 1 + 2 * MARGIN}`,
      role: "grid", "aria-label": `${_("Board of {width} by {height}.", { width, height })}${this.hasCursor ? ` ${this.usage}` : ""}`,
      "aria-rowcount": height, "aria-colcount": width,
    });
    this.layers = {};
    for (const name of ["stones", "markup", "ownership", "candidates", "ghost"]) this.layers[name] = svg("g", { class: "overlay", "aria-hidden": true });
    this.cells = Array.from({ length: height }, (_, y) => Array.from({ length: width }, (_, x) => svg("rect", {
      class: "point", role: "gridcell", x: x - 0.5, y: y - 0.5, width: 1, height: 1, "data-x": x, "data-y": y,
      ...(this.hasCursor && { tabindex: -1 }),
    })));
    grid.append(
      definitions(this.id), wood(width, height), lines(width, height), ...stars(width, height), ...coordinates(width, height),
      this.layers.stones, this.layers.markup, this.layers.ownership, this.layers.candidates, this.layers.ghost,
      ...this.cells.map((row, y) => svg("g", { role: "row", "aria-rowindex": y + 1 }, ...row)),
    );
    grid.addEventListener("click", (event) => this.clicked(event));
    grid.addEventListener("pointermove", (event) => event.pointerType === "mouse" && this.hover(placeOf(event.target)));
    grid.addEventListener("pointerleave", () => this.hover(null));
    if (this.hasCursor) grid.addEventListener("keydown", (event) => this.key(event));
    grid.addEventListener("focusin", (event) => this.hover(placeOf(event.target)));
    grid.addEventListener("pointerdown", () => (this.isPointed = true));
    grid.addEventListener("focusout", () => (this.isPointed = false));
    this.setFocus(...this.focus);
    this.parent.replaceChildren(grid);
    grid.style.setProperty("--ratio", (width - 1 + 2 * MARGIN) / (height - 1 + 2 * MARGIN));
    this.resized();
  }

  clicked(event) {
    const place = placeOf(event.target);
    if (!place) return;
    this.setFocus(...place);
    const vertex = vertexOf(...place, this.height);
    // A finger covers several points of a large board: the first tap shows the stone, the second one places it.
    const isCoarse = event.pointerType === "touch" && this.needsConfirmation && this.ghostColor && this.pending !== vertex;
    if (isCoarse) {
      this.wait(vertex);
      this.hover(place);
      return;
    }
    this.choose(vertex);
  }

  choose(vertex) {
    this.wait(null);
    this.onChoose(vertex);
  }

  key(event) {
    if (this.isPointed && ["ArrowLeft", "ArrowRight"].includes(event.key)) return; // they are the page's
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) {
      const x = Math.min(this.width - 1, Math.max(0, this.focus[0] + step[0]));
      const y = Math.min(this.height - 1, Math.max(0, this.focus[1] + step[1]));
      this.setFocus(x, y);
      this.cells[y][x].focus();
    } else if (event.key === "Enter" || event.key === " ") {
      this.choose(vertexOf(...this.focus, this.height));
    } else {
      return;
    }
    event.preventDefault();
  }

  setFocus(x, y) {
    if (!this.hasCursor) return;
    this.cells[this.focus[1]]?.[this.focus[0]]?.setAttribute("tabindex", -1);
    this.focus = [x, y];
    this.cells[y][x].setAttribute("tabindex", 0);
  }

  /** Give the keyboard to the board. */
  takeFocus() {
    this.cells[this.focus[1]][this.focus[0]].focus();
  }

  hover(place) {
    this.hovered = place;
    const candidate = place && this.drawn.candidates?.find(({ x, y, line }) => line?.length > 1 && x === place[0] && y === place[1]);
    const isFree = place && this.ghostColor && this.rows[place[1]]?.[place[0]] === ".";
    const ghost = () => this.stone(...place, this.ghostColor === "black" ? "X" : "O", "ghost");
    this.layers?.candidates.classList.toggle("behind", Boolean(candidate));
    this.layers?.ghost.replaceChildren(...(candidate ? this.continuation(candidate) : isFree ? [ghost()] : []));
  }

  /** Return the numbered stones of a candidate's continuation; of moves at one point, the first. */
  continuation({ line, color }) {
    const places = new Map();
    line.forEach((vertex, index) => {
      const point = pointOf(vertex, this.height);
      if (point && !places.has(vertex)) places.set(vertex, [...point, (index % 2 === 0) === (color === "black") ? "black" : "white", index + 1]);
    });
    return [...places.values()].flatMap(([x, y, stone, number]) => [this.stone(x, y, stone === "black" ? "X" : "O", "in-line"), text_(`number on-${stone}`, x, y, number)]);
  }

  /** Show the stone that waits for its confirmation, if any, and no other one. */
  hoverPending() {
    this.hover(this.pending && pointOf(this.pending, this.height));
  }

  stone(x, y, stone, kind) {
    return svg("circle", { class: kind, cx: x, cy: y, r: 0.475, fill: `url(#${stone === "X" ? "black" : "white"}-${this.id})` });
  }
}

function placeOf(target) {
  return target.dataset?.x === undefined ? null : [Number(target.dataset.x), Number(target.dataset.y)];
}

function text_(kind, x, y, content) {
  return svg("text", { class: kind, x, y }, content ?? "");
}

function definitions(board) {
  const shade = (id, ...stops) => svg("radialGradient", { id, cx: 0.36, cy: 0.32, r: 0.75 },
    ...stops.map(([offset, color]) => svg("stop", { offset, "stop-color": color })));
  return svg("defs", {},
    shade(`black-${board}`, [0, "#6e6e6e"], [0.35, "#2b2b2b"], [1, "#0c0c0c"]),
    shade(`white-${board}`, [0, "#ffffff"], [0.6, "#f3f1ec"], [1, "#bdb8ad"]));
}

function wood(width, height) {
  return svg("rect", { class: "wood", x: -MARGIN, y: -MARGIN, width: width - 1 + 2 * MARGIN, height: height - 1 + 2 * MARGIN });
}

function lines(width, height) {
  let path = "";
  for (let y = 0; y < height; y++) path += `M0 ${y}h${width - 1}`;
  for (let x = 0; x < width; x++) path += `M${x} 0v${height - 1}`;
  return svg("path", { class: "lines", d: path });
}

function stars(width, height) {
  const along = (size) => {
    if (size < 7) return [];
    const edge = size > 11 ? 3 : 2;
    const middle = size % 2 ? [(size - 1) / 2] : [];
    return [edge, ...middle, size - 1 - edge];
  };
  const [columns, rows] = [along(width), along(height)];
  const isSmall = Math.min(width, height) < 15;
  return columns.flatMap((x, column) => rows.map((y, row) => [x, y, (column === 1) !== (row === 1) && columns.length === 3]))
    .filter(([, , isSide]) => !(isSide && isSmall))
    .map(([x, y]) => svg("circle", { class: "star", cx: x, cy: y, r: 0.1 }));
}

function coordinates(width, height) {
  const labels = [];
  const size = 0.2 + Math.max(width, height) / 100; // of a point: on a small board the points are large
  const add = (x, y, content) => labels.push(svg("text", { class: "coordinate", x, y, "font-size": size, "aria-hidden": true }, content));
  for (let x = 0; x < width; x++) {
    add(x, -0.76, LETTERS[x]);
    add(x, height - 0.24, LETTERS[x]);
  }
  for (let y = 0; y < height; y++) {
    add(-0.76, y, String(height - y));
    add(width - 0.24, y, String(height - y));
  }
  return labels;
}
