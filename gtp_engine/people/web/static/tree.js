// The tree of the game: all nodes with their positions, the one that is shown and the line through it; and the panel
// that draws the tree, shows the comment and edits. The tree itself lives in the server, which sends what changes.

import { svg } from "./board.js";
import { _ } from "./language.js";
import { emptyPosition, pointOf, positionAfter } from "./position.js";

const STEP = 24; // pixels between two nodes of the drawing
const MARGIN = 14; // pixels around it
const OVERSCAN = 4; // nodes that are drawn beyond what can be seen
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const TYPING = 1500; // milliseconds without a key after which a comment is kept, as it is when the field is left
const DRAFT = "comment"; // the key of a comment that was being typed when the page was left

/** The nodes of a game, the one that is shown, and the line through it. */
export class GameTree {
  constructor() {
    this.id = null; // of the game
    this.nodes = new Map();
    this.root = this.shown = null;
    this.line = [];
    this.size = [19, 19]; // columns and rows of the board
    this.version = 0; // changes with the nodes and their order
  }

  /** Take all nodes of a game, each before its children; what was shown stays if it is still there. */
  load({ id, nodes }) {
    const before = this.id === id ? this.shown?.id : undefined;
    const followed = new Map([...this.nodes].map(([key, node]) => [key, node.followed?.id]));
    Object.assign(this, { id, nodes: new Map(), root: null, shown: null, line: [] });
    for (const values of nodes) this.add(values);
    for (const node of this.nodes.values()) node.followed = this.nodes.get(followed.get(node.id));
    this.show(this.nodes.has(before) ? before : this.root.id);
  }

  /** Take nodes that are new or have changed. */
  merge({ nodes }) {
    for (const values of nodes) {
      const known = this.nodes.get(values.id);
      if (known) {
        const { parent, children, followed, place } = known;
        for (const name of Object.keys(known)) delete known[name];
        Object.assign(known, values, { parent, children, followed, place });
        this.forgetPositions(known);
      } else {
        this.add(values);
      }
    }
    this.draw(this.shown);
  }

  add(values) {
    const parent = this.nodes.get(values.parent) ?? null;
    const node = { ...values, parent, children: [], followed: null };
    this.nodes.set(node.id, node);
    this.version += 1;
    if (parent) parent.children.push(node);
    else this.root = node;
    this.count(node);
  }

  count(node) {
    node.moves = node.move ? [node.move, ...(node.more ?? [])] : [];
    node.number = (node.parent?.number ?? 0) + node.moves.length;
  }

  /** Let positions be worked out again from a node on. */
  forgetPositions(node) {
    const waiting = [node];
    while (waiting.length) {
      const next = waiting.pop();
      delete next.position;
      this.count(next);
      waiting.push(...next.children);
    }
  }

  /** Show a node; the line through it goes on where it was followed last, else along the main variation. */
  show(id) {
    const node = this.nodes.get(id);
    if (node) this.draw(node);
    return Boolean(node);
  }

  draw(node) {
    if (!node) return;
    this.shown = node;
    for (let child = node; child.parent; child = child.parent) child.parent.followed = child;
    const before = [];
    for (let each = node; each; each = each.parent) before.push(each);
    this.line = before.reverse();
    for (let next = after(node); next; next = after(next)) this.line.push(next);
  }

  /** The moves of the line that is shown, as [color, vertex]. */
  get moves() {
    return this.line.flatMap((node) => node.moves);
  }

  /** The last node of the line after a number of moves. */
  at(number) {
    return this.line.findLast((node) => node.number <= number) ?? this.root;
  }

  /** The node some steps before or behind the one that is shown. */
  stepped(steps) {
    const index = this.line.indexOf(this.shown) + steps;
    return this.line[Math.max(0, Math.min(this.line.length - 1, index))];
  }

  /** The position at a node: {rows, last, captures, toPlay}. */
  position(node = this.shown) {
    const path = [];
    let known = node;
    for (; known && !known.position; known = known.parent) path.push(known);
    for (const each of path.reverse()) {
      each.position = positionAfter(each.parent?.position ?? emptyPosition(...this.size), each);
      const next = each.children[0]?.move;
      if (!each.parent && !each.player) each.position.toPlay = next?.[0] ?? (handicap(each) ? "white" : "black");
    }
    return node.position;
  }

  /** What an analysis of the line needs: {setup, first, moves, number, offset}, where `number` moves lead to what is
   * shown, and `offset` moves of the line lie before the first position, after which no stones are set up. */
  get analysable() {
    const end = this.line.indexOf(this.shown);
    let start = 0;
    this.line.forEach((node, index) => {
      if (index <= end && (node.setup || node.player)) start = index;
    });
    const stop = this.line.findIndex((node, index) => index > end && (node.setup || node.player));
    const base = this.line[start];
    const { rows, toPlay } = this.position(base);
    const setup = rows.flatMap((row, y) => [...row].map((stone, x) => [stone, x, y])).filter(([stone]) => stone !== ".")
      .map(([stone, x, y]) => [stone === "X" ? "black" : "white", "ABCDEFGHJKLMNOPQRSTUVWXYZ"[x] + (this.size[1] - y)]);
    const moves = this.line.slice(start + 1, stop < 0 ? undefined : stop).flatMap((node) => node.moves);
    return { setup, first: toPlay, moves, number: this.shown.number - base.number, offset: base.number };
  }

  /** The numbers of the moves on the board by vertex: all of them, or the last one. */
  numbers(isAll) {
    const { number, moves } = this.shown;
    if (!isAll) return moves.length ? { [moves.at(-1)[1]]: number } : {};
    const path = this.line.slice(0, this.line.indexOf(this.shown) + 1);
    return Object.fromEntries(path.flatMap((node) => node.moves).map(([, vertex], index) => [vertex, index + 1])
      .filter(([vertex]) => vertex !== "pass"));
  }
}

function after(node) {
  return node.followed ?? node.children[0];
}

function handicap(root) {
  const stones = root.setup ?? [];
  return stones.length > 1 && stones.every(([color]) => color === "black");
}

/** The panel of the tree: its drawing, variations, comment and tools. */
export class TreePanel {
  /** The elements of the panel lie in `parent`; `send(message)` asks the server, `onShow(id)` shows a node, and
   * `asks(question, yes, no)` asks the person. */
  constructor(parent, tree, { send, onShow, asks }) {
    Object.assign(this, { parent, tree, send, onShow });
    this.find = (name) => parent.querySelector(name);
    this.view = this.find("#tree-view");
    this.space = this.view.firstElementChild;
    this.columns = [];
    this.arranged = null; // the version of the tree whose nodes have places
    this.current = null; // where the game goes on
    this.commented = null; // the node whose comment is in the field
    this.mayEdit = true;
    this.view.addEventListener("scroll", () => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(this.view);
    this.view.addEventListener("click", ({ target }) => target.dataset.id && onShow(Number(target.dataset.id)));
    this.view.addEventListener("keydown", (event) => this.key(event));
    const comment = this.find("#comment");
    comment.addEventListener("change", () => this.saveComment());
    comment.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.saveComment(), TYPING);
    });
    window.addEventListener("pagehide", () => this.keepDraft()); // it is too late to send anything
    this.find("#edit").onclick = () => this.turnEditing(this.tools.hidden);
    this.find("#go").onclick = () => this.ask({ do: "go" });
    this.find("#main-line").onclick = () => this.ask({ do: "main" });
    this.find("#delete").onclick = async () => {
      if (await asks(_("Delete this move and all that follow?"), _("Delete"), _("Cancel"))) this.ask({ do: "delete" });
    };
    this.find("#turn").onclick = () => this.ask({ do: "turn", player: tree.position().toPlay === "black" ? "W" : "B" });
  }

  get tools() {
    return this.find("#tools");
  }

  get isEditing() {
    return !this.tools.hidden;
  }

  turnEditing(isOn) {
    this.tools.hidden = !isOn;
    this.find("#edit").setAttribute("aria-pressed", isOn);
    this.parent.dispatchEvent(new CustomEvent("editing", { detail: isOn }));
  }

  ask(message) {
    this.saveComment();
    this.send({ node: this.tree.shown.id, ...message });
  }

  /** Do with a point of the board what the chosen tool does. */
  choose(vertex) {
    const tool = this.find("[name=tool]:checked").value;
    const { marks = {}, labels = {} } = this.tree.shown;
    if (tool === "move") this.ask({ do: "try", vertex, color: this.tree.position().toPlay });
    else if (["black", "white", "empty"].includes(tool)) this.ask({ do: "stone", vertex, stone: tool });
    else if (tool === "letter" || tool === "number") {
      this.ask({ do: "label", vertex, label: labels[vertex] ? "" : freeLabel(tool, Object.values(labels)) });
    } else this.ask({ do: "mark", vertex, mark: marks[vertex] === tool ? null : tool });
  }

  /** The comment that has been typed and not kept yet, as [game, node, comment], empty for none. */
  get typed() {
    const { value } = this.find("#comment");
    const node = this.tree.nodes.get(this.commented);
    return node && value !== (node.comment ?? "") ? [this.tree.id, node.id, value] : [];
  }

  saveComment([game, id, comment] = this.typed) {
    const node = game && this.tree.nodes.get(id);
    if (!node || (node.comment ?? "") === comment) return;
    node.comment = comment;
    this.send({ do: "comment", node: id, comment });
  }

  keepDraft() {
    if (this.typed.length) localStorage.setItem(DRAFT, JSON.stringify(this.typed));
  }

  /** Keep what was being typed when the page with this game was left. */
  takeDraft() {
    const draft = JSON.parse(localStorage.getItem(DRAFT) ?? "[]");
    if (draft[0] !== this.tree.id) return;
    localStorage.removeItem(DRAFT);
    this.saveComment(draft);
  }

  key(event) {
    const { shown } = this.tree;
    const siblings = shown.parent?.children ?? [shown];
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step) return;
    const other = siblings[siblings.indexOf(shown) + step];
    if (other) this.onShow(other.id);
    event.preventDefault();
  }

  /** Draw the node that is shown; `current` is the id of the one where the game goes on. */
  draw(current, mayEdit) {
    const { tree } = this;
    const { shown } = tree;
    Object.assign(this, { current, mayEdit });
    const field = this.find("#comment");
    if (this.commented !== shown.id) this.saveComment();
    if (this.commented !== shown.id || document.activeElement !== field) field.value = shown.comment ?? "";
    this.commented = shown.id;
    field.readOnly = !mayEdit;
    this.find("#edit").hidden = !mayEdit;
    this.find("#go").hidden = !mayEdit || shown.id === current;
    this.find("#main-line").disabled = isMain(shown);
    this.find("#delete").disabled = !shown.parent;
    this.find("#turn").textContent = tree.position().toPlay === "black" ? _("Black to play") : _("White to play");
    this.drawBranches(shown);
    if (this.arranged !== tree.version) this.arrange();
    this.view.parentElement.hidden = tree.nodes.size < 2;
    this.scrollTo(shown);
    this.drawNodes();
    const variations = shown.parent ? shown.parent.children.length : 1;
    const place = shown.parent ? shown.parent.children.indexOf(shown) + 1 : 1;
    this.view.setAttribute("aria-label", variations > 1
      ? _("Game tree: move {number}, variation {place} of {variations}", { number: shown.number, place, variations })
      : _("Game tree: move {number}", { number: shown.number }));
  }

  drawBranches(shown) {
    const box = this.find("#branches");
    box.hidden = shown.children.length < 2;
    if (box.hidden) return;
    box.replaceChildren(...shown.children.map((child) => {
      const button = document.createElement("button");
      button.textContent = child.move ? child.move[1] : _("position");
      button.onclick = () => this.onShow(child.id);
      return button;
    }));
  }

  /** Give every node its place: column by depth, row by variation, each variation in the first row that is free. */
  arrange() {
    const { tree } = this;
    const free = []; // by row: the columns from there on are taken
    this.columns = [];
    const waiting = [[tree.root, 0, 0]];
    let rows = 0;
    while (waiting.length) {
      const [start, column, least] = waiting.pop();
      const line = [];
      for (let node = start; node; node = node.children[0]) line.push(node);
      let row = least;
      while ((free[row] ?? Infinity) <= column + line.length) row++;
      free[row] = column - 1;
      rows = Math.max(rows, row + 1);
      line.forEach((node, index) => {
        node.place = [column + index, row];
        (this.columns[column + index] ??= []).push(node);
        for (const child of node.children.slice(1).reverse()) waiting.push([child, column + index + 1, row + 1]);
      });
    }
    this.space.style.width = `${2 * MARGIN + (this.columns.length - 1) * STEP}px`;
    this.space.style.height = `${2 * MARGIN + (rows - 1) * STEP}px`;
    this.arranged = tree.version;
  }

  scrollTo({ place: [column, row] }) {
    const { view } = this;
    const [x, y] = [MARGIN + column * STEP, MARGIN + row * STEP];
    if (x < view.scrollLeft + STEP || x > view.scrollLeft + view.clientWidth - STEP) view.scrollLeft = x - view.clientWidth / 2;
    if (y < view.scrollTop + STEP / 2 || y > view.scrollTop + view.clientHeight - STEP / 2) view.scrollTop = y - view.clientHeight / 2;
  }

  drawSoon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.arranged === this.tree.version && this.drawNodes());
  }

  /** Draw the part of the tree that can be seen. */
  drawNodes() {
    const { view, tree } = this;
    const [left, top] = [view.scrollLeft, view.scrollTop];
    const first = Math.max(0, Math.floor(left / STEP) - OVERSCAN);
    const last = Math.min(this.columns.length - 1, Math.ceil((left + view.clientWidth) / STEP) + OVERSCAN);
    const [low, high] = [Math.floor(top / STEP) - OVERSCAN, Math.ceil((top + view.clientHeight) / STEP) + OVERSCAN];
    const followed = new Set(tree.line);
    const [lines, stones] = [[], []];
    for (let column = first; column <= last; column++) {
      for (const node of this.columns[column] ?? []) {
        const [, row] = node.place;
        const [x, y] = [MARGIN + column * STEP, MARGIN + row * STEP];
        if (node.parent && row >= low && node.parent.place[1] <= high) {
          const above = MARGIN + node.parent.place[1] * STEP;
          const bend = Math.max(above, y - STEP);
          lines.push(svg("path", { class: followed.has(node) ? "branch followed" : "branch", d: `M${x - STEP} ${above}V${bend}L${x} ${y}` }));
        }
        if (row < low || row > high) continue;
        const kind = node.move ? node.move[0] : "position";
        const classes = ["node", kind, node === tree.shown && "shown", node.id === this.current && "current"];
        stones.push(svg("circle", { class: classes.filter(Boolean).join(" "), cx: x, cy: y, r: node.move ? 9 : 6, "data-id": node.id }));
        if (node.comment) stones.push(svg("circle", { class: "node-comment", cx: x + 7, cy: y - 7, r: 3 }));
        if (node.move) stones.push(svg("text", { class: `node-number ${kind}`, x, y }, String(node.number)));
      }
    }
    const picture = svg("svg", { width: "100%", height: "100%", "aria-hidden": true }, ...lines, ...stones);
    this.space.replaceChildren(picture);
  }
}

function isMain(node) {
  for (let each = node; each.parent; each = each.parent) if (each.parent.children[0] !== each) return false;
  return true;
}

/** Return the first letter or number that no label has. */
function freeLabel(kind, taken) {
  for (let number = 1; ; number++) {
    const label = kind === "number" ? String(number) : LETTERS[number - 1] ?? `A${number - LETTERS.length}`;
    if (!taken.includes(label)) return label;
  }
}

/** Return what the board shows of a node: {marks, labels, territory, branches}, points as [x, y]. */
export function markupOf(node, height) {
  const points = (entries) => entries.map(([vertex, value]) => [...pointOf(vertex, height), value]);
  return {
    marks: points(Object.entries(node.marks ?? {})),
    labels: points(Object.entries(node.labels ?? {})),
    territory: points((node.territory ?? []).map(([color, vertex]) => [vertex, color])),
    branches: node.children.length < 2 ? [] : points(node.children.filter(({ move }) => move && move[1] !== "pass")
      .map(({ move: [color, vertex] }) => [vertex, color])),
  };
}

/** Call `onFile(file)` for a record that is dropped on the page, or pasted into it. */
export function takeRecords(onFile) {
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const text = event.dataTransfer.getData("text");
    if (event.dataTransfer.files[0]) onFile(event.dataTransfer.files[0]);
    else if (text) onFile(new File([text], _("the text that was dropped")));
  });
  document.addEventListener("paste", (event) => {
    if (event.target.closest?.("input, textarea, dialog:not(#setup)")) return;
    const text = event.clipboardData.getData("text");
    if (event.clipboardData.files[0]) onFile(event.clipboardData.files[0]);
    else if (text.includes("(")) onFile(new File([text], _("the text that was pasted")));
    else return;
    event.preventDefault();
  });
}
