// Positions of a game as rows of text, "." for an empty point, "X" for a black stone, "O" for a white one; row 0 is the
// top. The server says what is legal; here moves are only replayed, to show earlier positions.

export const LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
const STONES = { black: "X", white: "O" };

/** Return [x, y] of a vertex such as "Q16", null for "pass". */
export function pointOf(vertex, height) {
  if (vertex.toLowerCase() === "pass") return null;
  return [LETTERS.indexOf(vertex[0].toUpperCase()), height - Number(vertex.slice(1))];
}

/** Return the vertex of a point. */
export function vertexOf(x, y, height) {
  return LETTERS[x] + (height - y);
}

/** Return all positions of a game, the set-up one first: {rows, last: [x, y] or null}. */
export function positionsOf(game) {
  const board = Array.from({ length: game.height }, () => Array(game.width).fill("."));
  for (const [color, vertex] of game.setup) {
    const [x, y] = pointOf(vertex, game.height);
    board[y][x] = STONES[color];
  }
  const positions = [{ rows: rowsOf(board), last: null }];
  for (const [color, vertex] of game.moves) {
    const point = pointOf(vertex, game.height);
    if (point) play(board, point, STONES[color]);
    positions.push({ rows: rowsOf(board), last: point });
  }
  return positions;
}

function rowsOf(board) {
  return board.map((row) => row.join(""));
}

/** Put a stone on the board and take off what it captures, its own chain last. */
function play(board, [x, y], stone) {
  board[y][x] = stone;
  for (const [column, row] of neighbours(board, x, y)) {
    if (board[row][column] !== "." && board[row][column] !== stone) removeIfCaptured(board, column, row);
  }
  removeIfCaptured(board, x, y);
}

function removeIfCaptured(board, x, y) {
  const stone = board[y][x];
  const chain = [[x, y]];
  const seen = new Set([`${x},${y}`]);
  for (const [column, row] of chain) {
    for (const next of neighbours(board, column, row)) {
      const found = board[next[1]][next[0]];
      if (found === ".") return;
      if (found === stone && !seen.has(`${next}`)) {
        seen.add(`${next}`);
        chain.push(next);
      }
    }
  }
  for (const [column, row] of chain) board[row][column] = ".";
}

function neighbours(board, x, y) {
  return [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]].filter(([column, row]) => board[row]?.[column]);
}
