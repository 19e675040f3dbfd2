// One's own mistakes in games that were reviewed come again, the next day first and then at growing distance; so do the problems
// that ship which were wrong.
// @ts-check

const KEY = "repetition"; // in the browser's storage
const LONGEST = 32; // days; what is right after so many is not asked again
const MOST = 60; // mistakes that are kept, the newest
const MOST_MOVES = 8; // of a continuation

/**
 * A position of the person's in which a move lost points, as it is kept.
 *
 * @typedef {{name: string, width: number, height: number, setup: string[][], first: string, vertex: string, loss: number, best: string,
 *   answers: {vertex: string, points_lost: number, line: string[]}[]}} Mistake
 */

const PROBLEM = /^problem (\d+)$/;

/** Return the name under which a problem that ships comes again.
 * @param {number} number */
export function problemName(number) {
  return `problem ${number}`;
}

/** Return the number of a day where the reader is. */
export function dayOf(time = Date.now()) {
  return Math.floor((time - 60000 * new Date(time).getTimezoneOffset()) / 86400000);
}

export class Repetition {
  constructor(day = dayOf) {
    this.day = day;
    /** @type {string | null} */
    this.text = null;
    /** @type {{due: Object<string, number[]>, mistakes: Mistake[]}} */
    this.read = { due: {}, mistakes: [] };
  }

  /** What is kept: `mistakes`, and when each of them and of the problems is `due`: by name, [day, days since the time before].
   * @returns {{due: Object<string, number[]>, mistakes: Mistake[]}} */
  get values() {
    const text = localStorage.getItem(KEY) ?? "{}";
    if (text !== this.text) this.read = { due: {}, mistakes: [], ...parsed(text) };
    this.text = text; // every drawing asks
    return this.read;
  }

  /** @param {Object<string, any>} changes */
  change(changes) {
    try {
      localStorage.setItem(KEY, JSON.stringify({ ...this.values, ...changes }));
    } catch {
      // without storage nothing comes again
    }
  }

  /** Take how a mistake or a problem was solved: at the "first" try, "later", or only "shown".
   * @param {string} name
   * @param {string} how */
  answered(name, how) {
    const { due: { [name]: before, ...due }, mistakes } = this.values;
    if (before?.[0] > this.day()) return; // solved once more, before it is due
    const days = how === "first" ? 2 * (before?.[1] ?? LONGEST) : 1; // none of a new problem, or where another window has taken it out
    if (days > LONGEST) this.change({ due, mistakes: mistakes.filter((each) => each.name !== name) });
    else this.change({ due: { ...due, [name]: [this.day() + days, days] } });
  }

  /** Keep mistakes of a game that was reviewed; they come from the next day on.
   * @param {Mistake[]} found */
  keep(found) {
    const { mistakes, due } = this.values;
    const fresh = found.filter(({ name }) => !mistakes.some((each) => each.name === name) && !due[name]);
    if (!fresh.length) return;
    const short = fresh.map((each) => ({ ...each, answers: each.answers.map((answer) => ({ ...answer, line: answer.line.slice(0, MOST_MOVES) })) }));
    const kept = [...mistakes, ...short].slice(-MOST);
    const isKept = (/** @type {string} */ name) => PROBLEM.test(name) || kept.some((each) => each.name === name);
    const all = { ...due, ...Object.fromEntries(fresh.map(({ name }) => [name, [this.day() + 1, 1]])) };
    this.change({ mistakes: kept, due: Object.fromEntries(Object.entries(all).filter(([name]) => isKept(name))) });
  }

  /** What is due, the longest overdue first: mistakes, or the numbers of problems.
   * @returns {(Mistake | number)[]} */
  get due() {
    const { due, mistakes } = this.values;
    const names = Object.keys(due).filter((name) => due[name][0] <= this.day()).sort((one, other) => due[one][0] - due[other][0]);
    return names.map((name) => Number(name.match(PROBLEM)?.[1]) || mistakes.find((each) => each.name === name)).filter((each) => each !== undefined);
  }

  /** Return the number of the next problem that is neither solved nor to come again; null where there is none.
   * @param {number} count of the problems
   * @param {number[]} solved
   * @returns {number | null} */
  newProblem(count, solved) {
    const isNew = (/** @type {number} */ each) => !solved.includes(each) && !this.values.due[problemName(each)];
    return Array.from({ length: count }, (__, index) => index + 1).find(isNew) ?? null;
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {}; // damaged
  }
}
