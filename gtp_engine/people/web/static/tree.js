// The panel of the game's tree, which draws it, shows the comment and edits; and records that are dropped or pasted.

import { svg } from "./board.js";
import { _ } from "./language.js";

const STEP = 24; // pixels between two nodes of the drawing
const MARGIN = 14; // pixels around it
const OVERSCAN = 4; // nodes that are drawn beyond what can be seen
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const TYPING = 1500; // milliseconds without a key after which a comment is kept, as it is when the field is left
const DRAFT = "comment"; // the key of a comment that was being typed when the page was left

/** The panel of the tree: its drawing, variations, comment and tools. */
export class TreePanel {
  /** The elements of the panel lie in `parent`; `treeNow()` returns the tree that is shown, `send(message)` asks the server, `onShow(id)` shows a node, and
   * `asks(question, yes, no)` asks the person. */
  constructor(parent, treeNow, { send, onShow, asks }) {
    this.parent = parent;
    this.treeNow = treeNow;
    this.send = send;
    this.onShow = onShow;
    this.find = (name) => parent.querySelector(name);
    this.view = this.find("#tree-view");
    this.space = this.view.firstElementChild;
    this.columns = [];
    this.arranged = []; // the tree whose nodes have places, and its version
    this.current = null; // where the game goes on
    this.commented = this.commentedIn = null; // the node whose comment is in the field, and its game
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
    this.find("#turn").onclick = () => this.ask({ do: "turn", player: this.tree.position().toPlay === "black" ? "W" : "B" });
  }

  get tree() {
    return this.treeNow();
  }

  get isArranged() {
    return this.arranged[0] === this.tree && this.arranged[1] === this.tree?.version;
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
    const node = this.commentedIn === this.tree?.id && this.tree?.nodes.get(this.commented);
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
    if (!this.tree) return;
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
    const isOther = this.commented !== shown.id || this.commentedIn !== tree.id;
    if (isOther) this.saveComment();
    if (isOther || document.activeElement !== field) field.value = shown.comment ?? "";
    [this.commented, this.commentedIn] = [shown.id, tree.id];
    field.readOnly = !mayEdit;
    Object.assign(this.find("#edit"), { hidden: !mayEdit, disabled: false });
    this.find("#go").hidden = !mayEdit || shown.id === current;
    this.find("#main-line").disabled = isMain(shown);
    this.find("#delete").disabled = !shown.parent;
    this.find("#turn").textContent = tree.position().toPlay === "black" ? _("Black to play") : _("White to play");
    this.drawBranches(shown);
    if (!this.isArranged) this.arrange();
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
    this.arranged = [tree, tree.version];
  }

  scrollTo({ place: [column, row] }) {
    const { view } = this;
    const [x, y] = [MARGIN + column * STEP, MARGIN + row * STEP];
    if (x < view.scrollLeft + STEP || x > view.scrollLeft + view.clientWidth - STEP) view.scrollLeft = x - view.clientWidth / 2;
    if (y < view.scrollTop + STEP / 2 || y > view.scrollTop + view.clientHeight - STEP / 2) view.scrollTop = y - view.clientHeight / 2;
  }

  drawSoon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.tree && this.isArranged && this.drawNodes());
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
    if (/** @type {Element} */ (event.target).closest?.("input:not([type=radio], [type=checkbox]), textarea, dialog:not(#setup)")) return;
    const text = event.clipboardData.getData("text");
    if (event.clipboardData.files[0]) onFile(event.clipboardData.files[0]);
    else if (text.includes("(")) onFile(new File([text], _("the text that was pasted")));
    else return;
    event.preventDefault();
  });
}
