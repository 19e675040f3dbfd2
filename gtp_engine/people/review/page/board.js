// The board as SVG: a grid of cells for mouse, touch and keyboard, and layers for what is on it. `render` draws all of it from
// one value, a picture, so that no part of what is seen can be of another game.
// @ts-check

import { _ } from "./language.js";
import { LETTERS, pointOf, vertexOf } from "./position.js";

/**
 * What a board shows.
 *
 * @typedef {Object} Picture
 * @property {number} width
 * @property {number} height
 * @property {string[]} rows from the top: "." for an empty point, "X" for a black stone, "O" for a white one
 * @property {number[] | null} [last] the point of the last move
 * @property {string[]} [dead] vertices of stones that count as dead
 * @property {string[] | null} [owners] whose each point is, by rows as the stones are
 * @property {number[] | null} [ko] the point that a ko forbids
 * @property {Object<string, number>} [numbers] of stones, by vertex
 * @property {number[] | null} [next] the point that is played next
 * @property {Markup} [markup] what a record says about points
 * @property {Candidate[]} [candidates]
 * @property {number[] | null} [ownership] by row, Black's positive, drawn on empty points; stones that are expected to be captured fade
 * @property {"black" | "white" | null} [places] whose stone a move would place; null where none can be placed
 *
 * @typedef {Object} Markup
 * @property {any[][]} [marks] [x, y, kind] each, as those that follow
 * @property {any[][]} [labels] [x, y, text]
 * @property {any[][]} [territory] [x, y, color]
 * @property {any[][]} [branches] [x, y, color]: the moves of variations
 *
 * A mark on an empty point; `brief` is its text on a small board, `small` a second line, `share` that of the visits, `kind` "best"
 * or "played", `label` what a screen reader says, and `line` the continuation as vertices, from the move itself on, which the
 * board shows while the pointer is there (`color` moves first).
 * @typedef {{x: number, y: number, text: string, loss: number, brief?: string, small?: string, share?: number, kind?: string,
 *   label?: string, line?: string[], color?: string}} Candidate
 */

const SVG = "http://www.w3.org/2000/svg";
/** @type {Object<string, () => string>} */
const NAMES = { ".": () => _("empty"), X: () => _("black stone"), O: () => _("white stone") };
/** @type {Object<string, () => string>} */
const OWNERS = { X: () => _("Black's point"), O: () => _("White's point") };
const MARGIN = 1.15;
const BESIDE = 0.85; // points from the outermost line to the middle of a coordinate, which no stone there covers
const RADIUS = 0.48; // of a stone
const SHIFT = 0.035; // by which a stone lies beside its point at most
const GRAIN = 70; // lines of it
const WAVE = 0.35; // points by which they swing
/** @type {Object<string, string>} */
const SHAPES = { // of marks, from the point on
  triangle: "m0 -.27l.24 .41h-.48z", square: "m-.2 -.2h.4v.4h-.4z", circle: "m-.24 0a.24 .24 0 1 0 .48 0a.24 .24 0 1 0 -.48 0z",
  cross: "m-.2 -.2l.4 .4m0 -.4l-.4 .4", selected: "m-.12 -.12h.24v.24h-.24z",
};
/** @type {Object<string, () => string>} */
const MARKS = { triangle: () => _("triangle"), square: () => _("square"), circle: () => _("circle"), cross: () => _("cross"), selected: () => _("selected") };
const LOSSES = [0.5, 1, 2, 5]; // points lost with which the next colour of the scale begins
const SMALL = 24; // pixels between two points of a board on which labels are short
const LIKELY = 0.5; // ownership from which a stone is expected to be captured

/** Return the class of points lost, from "loss-0", good, to "loss-4", bad: its colours are those of everything that shows them.
 * @param {number} points */
export function lossClass(points) {
  const shown = Math.round(10 * points) / 10; // what reads the same has the same colour
  return `loss-${LOSSES.filter((least) => shown >= least).length}`;
}

/** Return points lost as a short text.
 * @param {number} points */
export function lossText(points, digits = points < 9.95 ? 1 : 0) {
  const rounded = points.toFixed(digits);
  return Number(rounded) ? `−${rounded}` : "0";
}

/** Return a new SVG element.
 * @param {string} name
 * @param {Object<string, any>} attributes
 * @param {(string | Node)[]} children */
export function svg(name, attributes = {}, ...children) {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, name));
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** Return what a drawing does by chance, the same each time: a number in [0, 1) for two others.
 * @param {number} one
 * @param {number} other */
function chance(one, other) {
  const wave = Math.sin(12.9898 * one + 78.233 * other) * 43758.5453; // the usual hash of shaders
  return wave - Math.floor(wave);
}

let boards = 0; // on this page

export class Board {
  /** A board inside `parent`; `onChoose(vertex)` is called for the point that is clicked, tapped or entered, the latter
   * only if the board `hasCursor`, which takes the arrow keys; `usage` says so to screen readers.
   * @param {HTMLElement} parent
   * @param {(vertex: string) => void} onChoose */
  constructor(parent, onChoose, { hasCursor = true, usage = _("Arrow keys move, Enter plays.") } = {}) {
    this.parent = parent;
    this.id = boards += 1; // in the names of its colours: those of a board that is hidden are no colours for others
    this.onChoose = onChoose;
    this.hasCursor = hasCursor;
    this.usage = usage;
    this.hasShifts = true; // whether stones lie a little beside their points
    /** @type {Picture} */
    this.picture = { width: 0, height: 0, rows: [] };
    /** @type {SVGElement[][]} */
    this.cells = [];
    /** @type {string[][]} */
    this.labels = [];
    /** @type {({stone: string, element: SVGElement, shade: SVGElement} | null)[][]} */
    this.stones = [];
    /** @type {Object<string, SVGElement>} */
    this.layers = {};
    this.focus = [0, 0];
    /** @type {string | null} */
    this.pending = null; // on touch screens: the vertex that waits for its confirmation
    /** @type {number[] | null} */
    this.hovered = null; // [x, y] of the point under the pointer or the focus
    this.isSmall = false;
    this.isPointed = false; // whether the focus came by a pointer: then the arrows to the sides are the page's
    new ResizeObserver(() => this.resized()).observe(parent);
  }

  /** Return the stone on a point that is shown, "." for none.
   * @param {string} vertex */
  stoneAt(vertex) {
    const [x, y] = /** @type {number[]} */ (pointOf(vertex, this.picture.height));
    return this.picture.rows[y][x];
  }

  /** Show a picture and nothing of the one before.
   * @param {Picture} picture */
  render(picture) {
    const before = this.picture;
    this.picture = picture;
    const isOther = picture.width !== before.width || picture.height !== before.height;
    if (isOther) this.build();
    if (this.pending && (!picture.places || before.rows.join() !== picture.rows.join())) this.wait(null);
    this.drawStones(isOther ? null : before.rows);
    this.drawMarkup();
    this.drawAnalysis();
    this.drawLabels();
    this.hover(this.pending ? pointOf(this.pending, picture.height) : this.hovered);
  }

  /** Draw the stones; those that stay keep their elements, and a single move with what it captures is seen.
   * @param {string[] | null} before */
  drawStones(before) {
    const { width, height, rows } = this.picture;
    const dead = new Set(this.picture.dead);
    /** @type {number[][]} */
    const placed = [];
    /** @type {SVGElement[]} */
    const gone = [];
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const stone = rows[y][x];
        const known = this.stones[y][x];
        if (known && known.stone !== stone) {
          known.element.remove();
          known.shade.remove();
          this.stones[y][x] = null;
          gone.push(known.element);
        }
        if (stone !== "." && !this.stones[y][x]) {
          const [element, shade] = [this.stone(x, y, stone, ""), svg("circle", { class: "shade", cx: x + 0.05, cy: y + 0.09, r: 0.55, fill: `url(#shade-${this.id})` })];
          this.layers.stones.append(element);
          this.layers.shades.append(shade);
          this.stones[y][x] = { stone, element, shade };
          placed.push([x, y]);
        }
        this.stones[y][x]?.element.classList.toggle("dead", dead.has(vertexOf(x, y, height)));
      }
    }
    if (!before || placed.length > 1) return;
    for (const [x, y] of placed) this.stones[y][x]?.element.classList.add("new-stone");
    if (!placed.length || !gone.length || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const element of gone) {
      element.classList.add("captured");
      element.addEventListener("animationend", () => element.remove());
    }
    this.layers.stones.prepend(...gone);
  }

  /** Draw what lies on stones and points: the last move, a ko, numbers, dead stones' crosses, and what a record says. */
  drawMarkup() {
    const { rows, height, last, ko, numbers = {}, next, dead = [], markup = {} } = this.picture;
    const { marks = [], labels = [], territory = [], branches = [] } = markup;
    /** @type {(x: number, y: number) => string} */
    const on = (x, y) => ({ X: "on-black", O: "on-white" })[rows[y][x]] ?? "on-wood";
    /** @type {SVGElement[]} */
    const drawn = [];
    for (const vertex of dead) {
      const [x, y] = /** @type {number[]} */ (pointOf(vertex, height));
      for (const kind of ["cross-rim", "cross"]) drawn.push(svg("path", { class: kind, d: `M${x - 0.2} ${y - 0.2}l.4 .4m0 -.4l-.4 .4` }));
    }
    if (last && rows[last[1]][last[0]] !== ".") drawn.push(svg("circle", { class: `last ${on(last[0], last[1])}`, cx: last[0], cy: last[1], r: 0.19 }));
    if (ko) drawn.push(svg("rect", { class: "ko", x: ko[0] - 0.2, y: ko[1] - 0.2, width: 0.4, height: 0.4 }));
    for (const [vertex, number] of Object.entries(numbers)) {
      const [x, y] = /** @type {number[]} */ (pointOf(vertex, height));
      if (rows[y][x] !== ".") drawn.push(numberOn(x, y, on(x, y), number));
    }
    if (next) drawn.push(svg("circle", { class: "next", cx: next[0], cy: next[1], r: 0.4 }));
    for (const [x, y, color] of territory) drawn.push(svg("rect", { class: `owner-${color}`, x: x - 0.14, y: y - 0.14, width: 0.28, height: 0.28 }));
    for (const [x, y, color] of branches) if (rows[y][x] === ".") drawn.push(svg("circle", { class: `branch-${color}`, cx: x, cy: y, r: 0.16 }));
    for (const [x, y, kind] of marks) drawn.push(svg("path", { class: `mark ${kind} ${on(x, y)}`, d: `M${x} ${y}${SHAPES[kind]}` }));
    for (const [x, y, text] of labels) {
      if (rows[y][x] === ".") drawn.push(svg("circle", { class: "wood", cx: x, cy: y, r: 0.36 }));
      drawn.push(text_(`label ${on(x, y)}${text.length > 2 ? " long" : ""}`, x, y, text));
    }
    this.layers.markup.replaceChildren(...drawn);
  }

  /** Draw who is expected to have each point, and the candidates. */
  drawAnalysis() {
    const { width, height, rows, ownership, candidates = [], dead = [] } = this.picture;
    const dying = new Set(dead);
    const owned = [];
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const owner = ownership?.[y * width + x] ?? 0;
        const stone = rows[y][x];
        this.stones[y][x]?.element.classList.toggle("doomed", (stone === "X" ? -owner : owner) >= LIKELY);
        if ((stone !== "." && !dying.has(vertexOf(x, y, height))) || Math.abs(owner) < 0.1 || candidates.some((each) => each.x === x && each.y === y)) continue;
        const size = 0.42 * Math.sqrt(Math.abs(owner));
        owned.push(svg("rect", {
          class: owner > 0 ? "owner-black" : "owner-white", opacity: 0.65, x: x - size / 2, y: y - size / 2, width: size, height: size,
        }));
      }
    }
    this.layers.ownership.replaceChildren(...owned);
    this.layers.candidates.replaceChildren(...candidates.map((each) => this.candidate(each)));
  }

  /** Say to screen readers what is on each point. */
  drawLabels() {
    const { width, height, rows, last, dead = [], owners, markup = {}, candidates = [] } = this.picture;
    const dying = new Set(dead);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const [stone, vertex] = [rows[y][x], vertexOf(x, y, height)];
        const owner = stone === "." && owners && OWNERS[owners[y][x]]?.();
        const isLast = last && last[0] === x && last[1] === y;
        this.labels[y][x] = [vertex, NAMES[stone](), dying.has(vertex) && _("dead"), owner, isLast && _("last move")].filter(Boolean).join(", ");
      }
    }
    for (const [x, y, kind] of markup.marks ?? []) this.labels[y][x] += `, ${MARKS[kind]()}`;
    for (const [x, y, text] of markup.labels ?? []) this.labels[y][x] += `, ${text}`;
    for (const { x, y, label } of candidates) if (label) this.labels[y][x] += `, ${label}`;
    this.cells.forEach((row, y) => row.forEach((cell, x) => {
      if (cell.getAttribute("aria-label") !== this.labels[y][x]) cell.setAttribute("aria-label", this.labels[y][x]);
    }));
  }

  /** Show how the game goes on with a candidate, as when the pointer is there; null for none.
   * @param {string | null} vertex */
  showLine(vertex) {
    this.hover(vertex && pointOf(vertex, this.picture.height));
  }

  /** @param {Candidate} candidate */
  candidate({ x, y, text, brief = text, small = "", loss, share = 1, kind = "" }) {
    const content = this.isSmall ? [text_("candidate-text brief", x, y + 0.02, brief)]
      : [text_("candidate-text", x, y - (small ? 0.1 : 0), text), ...(small ? [text_("candidate-text small", x, y + 0.22, small)] : [])];
    const circle = svg("circle", { class: "disc", "fill-opacity": 0.75 + 0.25 * share, cx: x, cy: y, r: 0.46 });
    return svg("g", { class: `candidate ${lossClass(loss)} ${kind}`.trim() }, circle, ...content);
  }

  /** Draw long or short labels as the size of the board asks for. */
  resized() {
    const width = this.parent.firstElementChild?.clientWidth ?? 0;
    this.parent.style.setProperty("--hair", `${1 / (globalThis.devicePixelRatio || 1)}px`); // a pixel of the screen
    const isSmall = width > 0 && width / (this.picture.width - 1 + 2 * MARGIN) < SMALL;
    if (isSmall === this.isSmall) return;
    this.isSmall = isSmall;
    this.drawAnalysis();
  }

  /** Whether a finger's tap has to be confirmed: it covers several points of a large board. */
  get needsConfirmation() {
    return this.picture.width > 9;
  }

  /** Let a vertex wait for its confirmation, or null for none.
   * @param {string | null} vertex */
  wait(vertex) {
    this.pending = vertex;
    this.parent.dispatchEvent(new CustomEvent("pending", { detail: vertex }));
  }

  build() {
    const { width, height } = this.picture;
    const empty = (/** @type {any} */ value) => Array.from({ length: height }, () => Array(width).fill(value));
    this.stones = empty(null);
    this.labels = empty("");
    this.focus = [Math.floor(width / 2), Math.floor(height / 2)];
    this.hovered = null;
    if (this.pending) this.wait(null);
    const grid = svg("svg", {
      viewBox: `${-MARGIN} ${-MARGIN} ${width - 1 + 2 * MARGIN} ${height - 1 + 2 * MARGIN}`,
      role: "grid", "aria-label": `${_("Board of {width} by {height}.", { width, height })}${this.hasCursor ? ` ${this.usage}` : ""}`,
      "aria-rowcount": height, "aria-colcount": width,
    });
    for (const name of ["shades", "stones", "ownership", "markup", "candidates", "ghost", "ring"]) this.layers[name] = svg("g", { class: `overlay layer-${name}`, "aria-hidden": true });
    this.cells = Array.from({ length: height }, (_row, y) => Array.from({ length: width }, (_cell, x) => svg("rect", {
      class: "point", role: "gridcell", x: x - 0.5, y: y - 0.5, width: 1, height: 1, "data-x": x, "data-y": y,
      ...(this.hasCursor && { tabindex: -1 }),
    })));
    grid.append(
      definitions(this.id), ...wood(width, height, this.id), lines(width, height), ...stars(width, height), ...coordinates(width, height),
      ...Object.values(this.layers),
      ...this.cells.map((row, y) => svg("g", { role: "row", "aria-rowindex": y + 1 }, ...row)),
    );
    grid.addEventListener("click", (event) => this.clicked(/** @type {PointerEvent} */ (event)));
    grid.addEventListener("pointermove", (event) => event.pointerType === "mouse" && this.hover(placeOf(event.target)));
    grid.addEventListener("pointerleave", () => this.hover(this.pending && pointOf(this.pending, this.picture.height)));
    if (this.hasCursor) grid.addEventListener("keydown", (event) => this.key(event));
    grid.addEventListener("focusin", ({ target }) => (this.isPointed || /** @type {Element} */ (target).matches(":focus-visible")) && this.hover(placeOf(target)));
    grid.addEventListener("pointerdown", () => (this.isPointed = true));
    grid.addEventListener("focusout", ({ relatedTarget }) => {
      if (!grid.contains(/** @type {Node | null} */ (relatedTarget))) this.isPointed = false;
    });
    this.setFocus(this.focus[0], this.focus[1]);
    this.parent.replaceChildren(grid);
    grid.style.setProperty("--ratio", String((width - 1 + 2 * MARGIN) / (height - 1 + 2 * MARGIN)));
    this.resized();
  }

  /** @param {PointerEvent} event */
  clicked(event) {
    const place = placeOf(event.target);
    if (!place) return;
    this.setFocus(place[0], place[1]);
    const vertex = vertexOf(place[0], place[1], this.picture.height);
    // A finger covers several points of a large board: the first tap shows the stone, the second one places it.
    const isCoarse = event.pointerType === "touch" && this.needsConfirmation && this.picture.places && this.pending !== vertex;
    if (isCoarse) {
      this.wait(vertex);
      this.hover(place);
      return;
    }
    this.choose(vertex);
  }

  /** @param {string} vertex */
  choose(vertex) {
    if (this.pending) this.wait(null);
    this.onChoose(vertex);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (this.isPointed && ["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) {
      this.isPointed = false;
      const x = Math.min(this.picture.width - 1, Math.max(0, this.focus[0] + step[0]));
      const y = Math.min(this.picture.height - 1, Math.max(0, this.focus[1] + step[1]));
      this.setFocus(x, y);
      this.cells[y][x].focus();
    } else if (event.key === "Enter" || event.key === " ") {
      this.choose(vertexOf(this.focus[0], this.focus[1], this.picture.height));
    } else {
      return;
    }
    event.preventDefault();
  }

  /** @param {number} x
   * @param {number} y */
  setFocus(x, y) {
    if (!this.hasCursor) return;
    this.cells[this.focus[1]]?.[this.focus[0]]?.setAttribute("tabindex", "-1");
    this.focus = [x, y];
    this.cells[y][x].setAttribute("tabindex", "0");
    const ring = (/** @type {string} */ kind) => svg("rect", { class: kind, x: x - 0.46, y: y - 0.46, width: 0.92, height: 0.92, rx: 0.12 });
    this.layers.ring.replaceChildren(ring("ring-dark"), ring("ring-light"));
  }

  /** Give the keyboard to the board. */
  takeFocus() {
    this.cells[this.focus[1]][this.focus[0]].focus();
  }

  /** Show what a move at a place would do, null for no place.
   * @param {number[] | null | "" | undefined} place */
  hover(place) {
    this.hovered = place || null;
    const { candidates = [], places, rows } = this.picture;
    const candidate = place && candidates.find(({ x, y, line }) => line && line.length > 1 && x === place[0] && y === place[1]);
    const isFree = place && places && rows[place[1]]?.[place[0]] === ".";
    this.layers.candidates?.classList.toggle("behind", Boolean(candidate));
    this.layers.ghost?.replaceChildren(...(candidate ? this.continuation(candidate)
      : place && isFree ? [this.stone(place[0], place[1], places === "black" ? "X" : "O", "ghost")] : []));
  }

  /** Return the numbered stones of a candidate's continuation; of moves at one point, the first.
   * @param {Candidate} candidate */
  continuation({ line = [], color }) {
    /** @type {Map<string, [number, number, string, number]>} */
    const places = new Map();
    line.forEach((vertex, index) => {
      const point = pointOf(vertex, this.picture.height);
      if (point && !places.has(vertex)) places.set(vertex, [point[0], point[1], (index % 2 === 0) === (color === "black") ? "black" : "white", index + 1]);
    });
    return [...places.values()].flatMap(([x, y, stone, number]) => [this.stone(x, y, stone === "black" ? "X" : "O", "in-line"), numberOn(x, y, `on-${stone}`, number)]);
  }

  /** @param {number} x
   * @param {number} y
   * @param {string} stone
   * @param {string} kind */
  stone(x, y, stone, kind) {
    const shift = (/** @type {number} */ seed) => (this.hasShifts ? SHIFT * (2 * chance(x + seed, y) - 1) : 0);
    const [cx, cy, color] = [x + shift(1), y + shift(2), stone === "X" ? "black" : "white"];
    const parts = [
      svg("circle", { class: `body ${color}`, cx, cy, r: RADIUS, fill: `url(#${color}-${this.id})` }),
    ];
    if (color === "white") { // the grain of shell, each stone turned another way
      parts.push(svg("path", { class: "shell", transform: `translate(${cx} ${cy}) rotate(${Math.round(360 * chance(x, y + 3))})`, d: SHELL }));
    }
    return svg("g", { class: `stone-${color} ${kind}`.trim() }, ...parts);
  }
}

const SHELL = [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3].map((y) => `M${-Math.sqrt(0.19 - y * y).toFixed(2)} ${y}q${Math.sqrt(0.19 - y * y).toFixed(2)} -.12 ${(2 * Math.sqrt(0.19 - y * y)).toFixed(2)} 0`).join("");

/** @param {EventTarget | null} target */
function placeOf(target) {
  const { x, y } = /** @type {SVGElement} */ (target)?.dataset ?? {};
  return x === undefined ? null : [Number(x), Number(y)];
}

/** @param {string} kind
 * @param {number} x
 * @param {number} y
 * @param {string | number} content */
function text_(kind, x, y, content) {
  return svg("text", { class: kind, x, y }, String(content ?? ""));
}

/** Return a number on a stone, as large as fits.
 * @param {number} x
 * @param {number} y
 * @param {string} on
 * @param {number} number */
function numberOn(x, y, on, number) {
  return text_(`number ${on}${number > 99 ? " long" : ""}`, x, y, number);
}

/** @param {number} board */
function definitions(board) {
  const shade = (/** @type {string} */ id, /** @type {Object<string, any>} */ place, /** @type {[number, string, number?][]} */ ...stops) => svg("radialGradient", { id: `${id}-${board}`, ...place },
    ...stops.map(([offset, color, opacity = 1]) => svg("stop", { offset, "stop-color": color, "stop-opacity": opacity })));
  const light = { cx: 0.36, cy: 0.3, r: 0.78 };
  return svg("defs", {},
    shade("black", light, [0, "#7d7f83"], [0.22, "#4a4c50"], [0.6, "#202124"], [1, "#08090a"]),
    shade("white", light, [0, "#ffffff"], [0.55, "#f6f3ec"], [0.85, "#dcd7cb"], [1, "#b4aea0"]),
    shade("shade", {}, [0.55, "#1a0f00", 0.55], [0.86, "#1a0f00", 0.28], [1, "#1a0f00", 0]),
    svg("linearGradient", { id: `rim-${board}`, x1: 0, y1: 0, x2: 1, y2: 1 }, svg("stop", { offset: 0, "stop-color": "#fff", "stop-opacity": 0.55 }),
      svg("stop", { offset: 0.5, "stop-color": "#000", "stop-opacity": 0.05 }), svg("stop", { offset: 1, "stop-color": "#000", "stop-opacity": 0.4 })));
}

/** Return the board itself: wood, its grain, which runs along the board, and its rim.
 * @param {number} width
 * @param {number} height
 * @param {number} board */
function wood(width, height, board) {
  const [across, along] = [width - 1 + 2 * MARGIN, height - 1 + 2 * MARGIN];
  const plank = { x: -MARGIN, y: -MARGIN, width: across, height: along };
  const grain = ["", "", ""];
  for (let index = 0; index < GRAIN; index++) {
    const x = -MARGIN + (across * (index + chance(index, 1))) / GRAIN;
    const swing = (/** @type {number} */ seed) => (x + WAVE * (chance(index >> 2, seed) - 0.5)).toFixed(2);
    grain[index % 3] += `M${swing(2)} ${-MARGIN}C${swing(3)} ${(along * 0.3).toFixed(2)} ${swing(4)} ${(along * 0.6).toFixed(2)} ${swing(5)} ${(along - MARGIN).toFixed(2)}`;
  }
  const edge = 0.05;
  return [
    svg("rect", { class: "wood", ...plank }),
    ...grain.map((d, index) => svg("path", { class: `grain grain-${index}`, d })),
    svg("rect", { class: "rim", x: -MARGIN + edge / 2, y: -MARGIN + edge / 2, width: across - edge, height: along - edge, "stroke-width": edge, stroke: `url(#rim-${board})` }),
  ];
}

/** @param {number} width
 * @param {number} height */
function lines(width, height) {
  let path = "";
  for (let y = 0; y < height; y++) path += `M0 ${y}h${width - 1}`;
  for (let x = 0; x < width; x++) path += `M${x} 0v${height - 1}`;
  return svg("path", { class: "lines", d: path });
}

/** @param {number} width
 * @param {number} height */
function stars(width, height) {
  const along = (/** @type {number} */ size) => {
    if (size < 7) return [];
    const edge = size > 11 ? 3 : 2;
    const middle = size % 2 ? [(size - 1) / 2] : [];
    return [edge, ...middle, size - 1 - edge];
  };
  const [columns, rows] = [along(width), along(height)];
  const isSmall = Math.min(width, height) < 15;
  /** @type {[number, number, boolean][]} */
  const points = columns.flatMap((x, column) => rows.map((y, row) => /** @type {[number, number, boolean]} */ ([x, y, (column === 1) !== (row === 1) && columns.length === 3])));
  return points.filter(([, , isSide]) => !(isSide && isSmall)).map(([x, y]) => svg("circle", { class: "star", cx: x, cy: y, r: 0.1 }));
}

/** @param {number} width
 * @param {number} height */
function coordinates(width, height) {
  /** @type {SVGElement[]} */
  const labels = [];
  const size = 0.2 + Math.max(width, height) / 100; // of a point: on a small board the points are large
  const add = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ content) => labels.push(svg("text", { class: "coordinate", x, y, "font-size": size, "aria-hidden": true }, content));
  for (let x = 0; x < width; x++) {
    add(x, -BESIDE, LETTERS[x]);
    add(x, height - 1 + BESIDE, LETTERS[x]);
  }
  for (let y = 0; y < height; y++) {
    add(-BESIDE, y, String(height - y));
    add(width - 1 + BESIDE, y, String(height - y));
  }
  return labels;
}
