// QR codes of links: bytes in the versions 1 to 10 with the lowest error correction, always with mask 0. After ISO/IEC 18004.
// @ts-check

const TOTAL = [26, 44, 70, 100, 134, 172, 196, 242, 292, 346]; // codewords by version
const CORRECTION = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18]; // of them for errors, in each block
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4];
const ALIGNED = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]];
const FORMAT = 0b111011111000100; // lowest correction, mask 0

const POWERS = new Uint8Array(255); // of 2 in the field of 256 elements
const LOGARITHMS = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power++) {
  [POWERS[power], LOGARITHMS[value]] = [value, power];
  value = value << 1 ^ (value & 128 ? 0x11d : 0);
}

/** @param {number} one
 * @param {number} other */
const times = (one, other) => (one && other ? POWERS[(LOGARITHMS[one] + LOGARITHMS[other]) % 255] : 0);

/** Return the rows of a code, true for a dark module; null for a text that is too long.
 * @param {string} text */
export function qrCode(text) {
  const bytes = new TextEncoder().encode(text);
  const version = TOTAL.findIndex((total, index) => bytes.length + (index < 9 ? 2 : 3) <= total - CORRECTION[index] * BLOCKS[index]);
  return version < 0 ? null : drawn(version, woven(version, packed(version, bytes)));
}

/** Return the codewords of data.
 * @param {number} version
 * @param {Uint8Array} bytes */
function packed(version, bytes) {
  let bits = "0100" + bytes.length.toString(2).padStart(version < 9 ? 8 : 16, "0");
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  const data = (`${bits}0000`.match(/.{8}/g) ?? []).map((each) => parseInt(each, 2));
  for (let pad = 0xec; data.length < TOTAL[version] - CORRECTION[version] * BLOCKS[version]; pad ^= 0xfd) data.push(pad);
  return data;
}

/** Return all codewords in their order: those of the blocks by turns, and then what corrects errors in them.
 * @param {number} version
 * @param {number[]} data */
function woven(version, data) {
  const [count, extra] = [BLOCKS[version], CORRECTION[version]];
  let divisor = [1];
  for (let power = 0; power < extra; power++) divisor = [...divisor, 0].map((value, index) => value ^ times(divisor[index - 1] ?? 0, POWERS[power]));
  /** @type {number[][]} */
  const blocks = [];
  for (let block = 0, from = 0; block < count; block++) {
    const length = Math.floor((data.length + block) / count); // the shorter ones come first
    blocks.push(data.slice(from, from + length));
    from += length;
  }
  const corrections = blocks.map((block) => {
    const rest = [...block, ...Array(extra).fill(0)];
    block.forEach((_value, index) => {
      const factor = rest[index];
      divisor.forEach((value, place) => (rest[index + place] ^= times(value, factor)));
    });
    return rest.slice(block.length);
  });
  const byTurns = (/** @type {number[][]} */ lists) => Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_value, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
  return [...byTurns(blocks), ...byTurns(corrections)];
}

/** @param {number} version
 * @param {number[]} codewords */
function drawn(version, codewords) {
  const size = 21 + 4 * version;
  /** @type {(boolean | null)[][]} */
  const rows = Array.from({ length: size }, () => Array(size).fill(null));
  const square = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ radius, /** @type {number[]} */ light) => {
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) if (rows[y + dy]?.[x + dx] !== undefined) rows[y + dy][x + dx] = !light.includes(Math.max(Math.abs(dx), Math.abs(dy)));
    }
  };
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(x, y, 4, [2, 4]);
  for (const x of ALIGNED[version]) for (const y of ALIGNED[version]) if (rows[y][x] === null) square(x, y, 2, [1]);
  for (let each = 8; each < size - 8; each++) {
    rows[6][each] ??= each % 2 === 0;
    rows[each][6] ??= each % 2 === 0;
  }
  for (let bit = 0; bit < 15; bit++) {
    const isDark = Boolean(FORMAT >> bit & 1);
    if (bit < 8) rows[8][size - 1 - bit] = rows[bit < 6 ? bit : bit + 1][8] = isDark;
    else rows[size - 15 + bit][8] = rows[8][bit === 8 ? 7 : 14 - bit] = isDark;
  }
  rows[size - 8][8] = true;
  if (version >= 6) {
    let rest = version + 1;
    for (let step = 0; step < 12; step++) rest = rest << 1 ^ (rest >> 11 ? 0x1f25 : 0);
    const info = version + 1 << 12 | rest;
    for (let bit = 0; bit < 18; bit++) rows[Math.floor(bit / 3)][size - 11 + bit % 3] = rows[size - 11 + bit % 3][Math.floor(bit / 3)] = Boolean(info >> bit & 1);
  }
  let place = 0;
  for (let right = size - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right -= 1; // the column of the timing pattern
    for (let step = 0; step < size; step++) {
      const y = isUp ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (rows[y][x] !== null) continue;
        const bit = (codewords[place >> 3] ?? 0) >> 7 - (place & 7) & 1;
        rows[y][x] = Boolean(bit) !== ((x + y) % 2 === 0);
        place += 1;
      }
    }
  }
  return /** @type {boolean[][]} */ (rows);
}
