// Positions of a game as rows of text, "." for an empty point, "X" for a black stone, "O" for a white one; row 0 is the
// top. The server says what is legal; here moves are only replayed, to show earlier positions.

export const LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
const STONES = { black: "X", white: "O", empty: "." };
const OTHER = { black: "white", white: "black" };

/** Return [x, y] of a vertex such as "Q16", null for "pass". */
export function pointOf(vertex, height) {
  if (vertex.toLowerCase() === "pass") return null;
  return [LETTERS.indexOf(vertex[0].toUpperCase()), height - Number(vertex.slice(1))];
}

/** Return the vertex of a point. */
export function vertexOf(x, y, height) {
  return LETTERS[x] + (height - y);
}

/** Return the position of an empty board: {rows, last: [x, y] or null, captures by colour, toPlay}. */
export function emptyPosition(width, height) {
  return { rows: Array(height).fill(".".repeat(width)), last: null, captures: { black: 0, white: 0 }, toPlay: "black" };
}

/** Return the position after stones have been set up, or moves played, [color, vertex] each; `player` is then to play.
 * @param {any} before
 * @param {{setup?: any[], moves?: any[], player?: string | null}} changes */
export function positionAfter({ rows, last, captures, toPlay }, { setup = [], moves = [], player = null }) {
  const board = rows.map((row) => [...row]);
  for (const [color, vertex] of setup) {
    const [x, y] = pointOf(vertex, board.length);
    board[y][x] = STONES[color];
  }
  for (const [color, vertex] of moves) {
    last = pointOf(vertex, board.length);
    if (last) {
      const [taken, lost] = play(board, last, STONES[color]);
      captures = { ...captures, [color]: captures[color] + taken, [OTHER[color]]: captures[OTHER[color]] + lost };
    }
    toPlay = OTHER[color];
  }
  return { rows: board.map((row) => row.join("")), last: moves.length ? last : null, captures, toPlay: player ?? toPlay };
}

/** Return all positions of a game, the set-up one first. */
export function positionsOf({ width, height, setup, moves }) {
  const positions = [positionAfter(emptyPosition(width, height), { setup })];
  for (const move of moves) positions.push(positionAfter(positions.at(-1), { moves: [move] }));
  return positions;
}

/** Put a stone on the board and take off what it captures, its own chain last; return how many stones of each. */
function play(board, [x, y], stone) {
  board[y][x] = stone;
  let taken = 0;
  for (const [column, row] of neighbours(board, x, y)) {
    if (board[row][column] !== "." && board[row][column] !== stone) taken += removeIfCaptured(board, column, row);
  }
  return [taken, removeIfCaptured(board, x, y)];
}

/** Take a chain without liberties off the board; return how many stones it had, 0 if it stays. */
function removeIfCaptured(board, x, y) {
  const stone = board[y][x];
  const chain = [[x, y]];
  const seen = new Set([`${x},${y}`]);
  for (const [column, row] of chain) {
    for (const next of neighbours(board, column, row)) {
      const found = board[next[1]][next[0]];
      if (found === ".") return 0;
      if (found === stone && !seen.has(`${next}`)) {
        seen.add(`${next}`);
        chain.push(next);
      }
    }
  }
  for (const [column, row] of chain) board[row][column] = ".";
  return chain.length;
}

function neighbours(board, x, y) {
  return [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]].filter(([column, row]) => board[row]?.[column]);
}
