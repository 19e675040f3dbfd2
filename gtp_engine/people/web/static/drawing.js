// A position as a picture on a canvas: small ones for lists, and large ones to copy.
// @ts-check

import { LETTERS } from "./position.js";

/** @type {Object<string, string>} */
const STONES = { X: "black", O: "white" };
const [WOOD, LINE] = ["#dfb766", "#5b4522"];

/** Return a canvas of `size` pixels with a position; `isWhole` with lines, coordinates and the last move.
 * @param {{rows: string[], last?: number[] | null}} position
 * @param {number} size */
export function pictureOf({ rows, last = null }, size, isWhole = false) {
  const margin = isWhole ? 1 : 0; // points
  const [width, height] = [rows[0].length + 2 * margin, rows.length + 2 * margin];
  const step = size / Math.max(width, height);
  const canvas = Object.assign(document.createElement("canvas"), isWhole ? { width: width * step, height: height * step } : { width: size, height: size });
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const at = (/** @type {number} */ place) => (place + margin + 0.5) * step;
  pen.fillStyle = WOOD;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  if (isWhole) drawLines(pen, rows[0].length, rows.length, step, at);
  rows.forEach((row, y) => [...row].forEach((stone, x) => {
    if (STONES[stone]) disc(pen, at(x), at(y), 0.46 * step, STONES[stone]);
  }));
  if (last) {
    const [x, y] = last;
    disc(pen, at(x), at(y), 0.16 * step, rows[y][x] === "X" ? "white" : "black");
  }
  return canvas;
}

/** @param {CanvasRenderingContext2D} pen
 * @param {number} width
 * @param {number} height
 * @param {number} step
 * @param {(place: number) => number} at */
function drawLines(pen, width, height, step, at) {
  pen.strokeStyle = pen.fillStyle = LINE;
  pen.lineWidth = Math.max(1, step / 30);
  pen.font = `${0.42 * step}px sans-serif`;
  Object.assign(pen, { textAlign: "center", textBaseline: "middle" });
  pen.beginPath();
  for (let x = 0; x < width; x++) {
    pen.moveTo(at(x), at(0));
    pen.lineTo(at(x), at(height - 1));
    pen.fillText(LETTERS[x], at(x), at(height - 0.15));
  }
  for (let y = 0; y < height; y++) {
    pen.moveTo(at(0), at(y));
    pen.lineTo(at(width - 1), at(y));
    pen.fillText(String(height - y), at(-0.85), at(y));
  }
  pen.stroke();
}

/** @param {CanvasRenderingContext2D} pen
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} color */
function disc(pen, x, y, radius, color) {
  pen.fillStyle = color;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
}
