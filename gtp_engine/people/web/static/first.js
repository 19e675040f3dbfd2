// The first board, which needs a few files only: it is seen while the others are loaded.
// @ts-check

import { Board } from "./board.js";

export const EMPTY_BOARD = { width: 9, height: 9, rows: Array(9).fill(".".repeat(9)) }; // shown where nothing is open

new Board(/** @type {HTMLElement} */ (document.getElementById("board")), () => {}).render(EMPTY_BOARD);
