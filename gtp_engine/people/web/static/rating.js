// How strong a person is, from the results of their games against levels: pure functions.
// @ts-check

const POINTS = 100; // Elo between two ranks, as in the ratings of the European Go Federation
const SCALE = 400 / Math.LN10; // Elo by which the odds grow e times
const DRAWS = 2; // drawn games that are assumed against the first opponent: one win alone does not make a person endlessly strong
const NEWEST = 30; // games that count
const ROUNDS = 50; // of Newton's method, far more than it needs
const SURE = 1.96; // standard errors on each side of an interval of 95%

/** Return how strong a person is who has played these games, {count, rank, low, high}: `rank` on the scale of `levels`, numbers
 * of names from the strongest on, `low` and `high` the ends of the interval in which it lies with 95%. Null without a game that counts.
 * @param {{level: string | null, result: string, human: string, opened: boolean, handicap: number}[]} games the newest first
 * @param {string[]} levels */
export function strengthIn(games, levels) {
  const played = games.filter(({ level, result, opened, handicap }) => !opened && handicap < 2 && level && level !== "max" && levels.includes(level) && /^[BW]\+/.test(result))
    .slice(0, NEWEST).map(({ level, result, human }) => ({ at: -POINTS * levels.indexOf(/** @type {string} */ (level)), won: (result[0] === "B") === (human === "black") ? 1 : 0 }));
  if (!played.length) return null;
  const first = /** @type {{at: number}} */ (played.at(-1)).at;
  const all = [...played, ...Array.from({ length: DRAWS }, () => ({ at: first, won: 0.5 }))];
  let [rating, weight] = [first, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const expected = all.map(({ at }) => 1 / (1 + Math.exp((at - rating) / SCALE)));
    weight = expected.reduce((sum, share) => sum + share * (1 - share), 0);
    rating += Math.max(-POINTS, Math.min(POINTS, (SCALE * all.reduce((sum, { won }, index) => sum + won - expected[index], 0)) / weight));
  }
  const error = (SURE * SCALE) / Math.sqrt(weight);
  const rankAt = (/** @type {number} */ elo) => Math.max(0, Math.min(levels.length - 1, Math.round(-elo / POINTS)));
  return { count: played.length, rank: levels[rankAt(rating)], low: levels[rankAt(rating - error)], high: levels[rankAt(rating + error)] };
}
