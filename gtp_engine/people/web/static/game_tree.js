// The tree of the game: all nodes with their positions, the one that is shown and the line through it. The tree itself lives
// in the server, which sends what changes.

import { emptyPosition, pointOf, positionAfter, vertexOf } from "./position.js";

/** The nodes of a game, the one that is shown, and the line through it. */
export class GameTree {
  /** A tree of a game on a board with this `size`, columns and rows. */
  constructor(size) {
    this.size = size;
    this.id = null; // of the game
    this.nodes = new Map();
    this.root = this.shown = null;
    this.line = [];
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
      .map(([stone, x, y]) => [stone === "X" ? "black" : "white", vertexOf(x, y, this.size[1])]);
    const moves = this.line.slice(start + 1, stop < 0 ? undefined : stop).flatMap((node) => node.moves);
    return { setup, first: toPlay, moves, number: this.shown.number - base.number, offset: base.number };
  }

  /** The numbers of the moves on the board by vertex: all of them, or the last one. */
  numbers(isAll) {
    const path = this.line.slice(0, this.line.indexOf(this.shown) + 1);
    const numbered = path.flatMap((node) => node.moves).map(([, vertex], index) => [vertex, index + 1]);
    return Object.fromEntries((isAll ? numbered : numbered.slice(-1)).filter(([vertex]) => vertex !== "pass"));
  }
}

function after(node) {
  return node.followed ?? node.children[0];
}

function handicap(root) {
  const stones = root.setup ?? [];
  return stones.length > 1 && stones.every(([color]) => color === "black");
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
