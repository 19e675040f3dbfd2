// The clocks of a game: what is left at this moment, and how it is written.
// @ts-check

/** @typedef {{main: number, periods: number, period: number, stones: number, isOver?: boolean}} Clock */

export const LOW_TIME = 10; // seconds

/** Return whose clock runs, null for none; the engine's runs while it thinks about its move.
 * @param {any} game */
export function runningIn(game) {
  const engine = game.human === "black" ? "white" : "black";
  return game.running ?? (game.thinking && game.phase === "playing" ? engine : null);
}

/** Return a clock of a game, whose message is `seconds` old.
 * @param {any} game
 * @param {string} color
 * @param {number} seconds
 * @returns {Clock} */
export function timeLeft(game, color, seconds) {
  const clock = { ...game.clocks[color] };
  if (runningIn(game) !== color) return clock;
  let spent = Math.max(0, seconds - clock.main);
  clock.main = Math.max(0, clock.main - seconds);
  const full = Number(game.time[2] ?? 0);
  while (spent > clock.period && clock.periods > 1) {
    spent -= clock.period;
    clock.periods -= 1;
    clock.period = full;
  }
  clock.isOver = spent > 0 && spent >= clock.period && clock.periods <= 1;
  clock.period = Math.max(0, clock.period - spent);
  return clock;
}

/** @param {Clock} clock */
export function clockText({ main, periods, period, stones }) {
  if (main > 0 || !period) return minutes(main) + (periods ? ` + ${periods} × ${minutes(period)}` : "");
  return minutes(period) + (periods ? ` (${periods})` : "") + (stones ? ` / ${stones}` : "");
}

/** @param {number} seconds */
function minutes(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
