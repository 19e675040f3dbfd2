// The dialog for a new game: three questions, and more for those who want it. What was chosen is chosen again.

import { _ } from "./language.js";
import { rankName, rulesNames } from "./names.js";
import { strengthIn } from "./rating.js";

/** The ranks of people, the strongest first: [name, text]. */
export const ranks = () => Array.from({ length: 9 }, (__, number) => [`${9 - number}d`, _("{rank} dan", { rank: 9 - number })])
  .concat(Array.from({ length: 20 }, (__, number) => [`${number + 1}k`, _("{rank} kyu", { rank: number + 1 })]));
export const levels = () => [["max", _("full strength")], ...ranks()];

/** Return the level above a rank. */
export function levelAbove(level) {
  const names = levels().map(([name]) => name);
  return names[Math.max(0, names.indexOf(level) - 1)];
}

const HANDICAP_KOMI = 0.5;
const [CORNERS, MOST_STONES] = [4, 9]; // handicap stones on boards without points in the middle of the sides, and on others
const USUAL_RULES = "chinese";
const FIRST_RANK = "10k"; // of those who have one and have not said which
const CHOICES = "setup"; // the key of what was chosen last
const FITTING = "fitting"; // the level that follows the person's results

export class Setup {
  /** The dialog `dialog`; `onStart(message, isNew)` gets the request for a new game, and whether the person is new to Go. */
  constructor(dialog, onStart) {
    this.dialog = dialog;
    this.form = dialog.querySelector("form");
    this.komi = new Map();
    const { elements } = this.form;
    elements.handicap.append(...Array.from({ length: MOST_STONES - 1 }, (__, index) => index + 2).map((count) => new Option(_("{count} stones", { count }), String(count))));
    elements.rank.append(...ranks().reverse().map(([name, text]) => new Option(text, name, name === FIRST_RANK, name === FIRST_RANK)));
    elements.level.append(...levels().map(([name, text]) => new Option(text, name)));
    this.form.addEventListener("change", (event) => this.changed(event.target.name));
    const more = this.form.querySelector("#more");
    this.form.addEventListener("invalid", ({ target }) => (more.open ||= more.contains(target)), true); // else nothing would tell what is wrong
    dialog.addEventListener("close", () => {
      if (dialog.returnValue !== "start") return;
      const isNew = this.isFirst && this.form.elements.experience.value === "new";
      this.remember();
      onStart(this.message(), isNew);
    });
    this.changed("clock");
  }

  /** Learn from the server what can be chosen; when the connection is back, what has been chosen stays. */
  offer({ rules, levels }) {
    const { elements } = this.form;
    this.form.querySelector("#level-row").hidden = !levels;
    if (this.komi.size) return;
    const known = Object.keys(rulesNames).filter((name) => rules.some((each) => each.name === name));
    elements.rules.append(...known.map((name) => new Option(rulesNames[name](), name, name === USUAL_RULES, name === USUAL_RULES)));
    this.komi = new Map(rules.map((each) => [each.name, each]));
    this.changed("rules");
    if (this.isFirst) this.fit();
    else this.recall();
  }

  /** Whether no game has been begun in this browser: then the page asks how well its reader plays. */
  get isFirst() {
    return localStorage.getItem(CHOICES) === null;
  }

  /** Choose an opponent that fits how well the person plays: a board and a level. */
  fit() {
    const { experience, rank, size, level } = this.form.elements;
    const [board, name] = { new: ["9", "20k"], some: ["9", "15k"], rank: ["19", rank.value] }[experience.value];
    [size.value, level.value] = [board, name];
    rank.hidden = experience.value !== "rank";
    this.changed("size");
  }

  /** Offer the level against which the person wins half of the games, once there are results: those of `games`, the newest first. */
  learn(games) {
    this.strength = strengthIn(games, levels().map(([name]) => name));
    const menu = this.form.elements.level;
    const option = menu.querySelector(`[value=${FITTING}]`) ?? new Option("", FITTING);
    if (!this.strength) return;
    option.textContent = _("by your results ({rank})", { rank: rankName(this.strength.rank) });
    menu.prepend(option);
    if (JSON.parse(localStorage.getItem(CHOICES) ?? "{}").level === FITTING) menu.value = FITTING;
  }

  /** Choose again what was chosen last. */
  recall() {
    const { elements } = this.form;
    for (const [name, value] of Object.entries(JSON.parse(localStorage.getItem(CHOICES) ?? "{}"))) {
      if (elements[name]) elements[name].value = value;
      if (elements[name] && name !== "komi" && name !== "rules") this.changed(name);
    }
    if (elements.level.selectedIndex < 0) elements.level.value = FIRST_RANK; // it followed results, which are not known yet
  }

  remember() {
    localStorage.setItem(CHOICES, JSON.stringify(Object.fromEntries(new FormData(this.form))));
  }

  open() {
    if (this.dialog.open) return;
    this.form.querySelector("#first-visit").hidden = !this.isFirst;
    this.form.querySelector("#more").open = !this.isUsual;
    this.dialog.returnValue = "";
    this.dialog.showModal();
  }

  /** Ask no more. */
  close() {
    if (this.dialog.open) this.dialog.close("");
  }

  /** Whether what the dialog hides at first, such as the handicap of the last game, is as usual. */
  get isUsual() {
    const { handicap, clock, rules, komi } = this.form.elements;
    return handicap.value === "0" && clock.value === "none" && ["", USUAL_RULES].includes(rules.value) && (!rules.value || Number(komi.value) === this.usualKomi);
  }

  /** The komi of a game with these rules, on this board and with this handicap. */
  get usualKomi() {
    const { handicap, rules, size } = this.form.elements;
    const { komi, komi_9x9 } = this.komi.get(rules.value);
    return handicap.value !== "0" ? HANDICAP_KOMI : size.value === "9" ? komi_9x9 : komi;
  }

  changed(name) {
    const { elements } = this.form;
    if (name === "experience" || name === "rank") this.fit();
    if (name === "size" || name === "placement") this.limitHandicap();
    if (name === "rules" || name === "handicap" || name === "size") {
      elements.komi.value = this.usualKomi;
    }
    if (name === "handicap") this.form.querySelector("#placement-row").hidden = elements.handicap.value === "0";
    if (name === "clock") {
      for (const row of this.form.querySelectorAll("[data-clock]")) {
        row.hidden = !row.dataset.clock.split(" ").includes(elements.clock.value);
        row.querySelector("input").disabled = row.hidden;
      }
    }
  }

  /** Offer only the handicaps for which the board has usual points, unless Black chooses them. */
  limitHandicap() {
    const { size, handicap, placement } = this.form.elements;
    const most = placement.value === "free" || (size.value % 2 && size.value > 7) ? MOST_STONES : CORNERS;
    for (const option of handicap.options) option.disabled = option.value > most;
    if (handicap.value <= most) return;
    handicap.value = most;
    this.changed("handicap");
  }

  message() {
    const { elements } = this.form;
    const value = (name) => elements[name].value;
    const main = String(60 * Number(value("main")));
    const clocks = {
      none: ["none"],
      absolute: ["absolute", main],
      byoyomi: ["byoyomi", main, value("period"), value("periods")],
      canadian: ["canadian", main, value("period"), value("stones")],
      fischer: ["fischer", main, value("increment")],
    };
    return {
      do: "new",
      size: Number(value("size")),
      human: value("human") || (Math.random() < 0.5 ? "B" : "W"),
      handicap: Number(value("handicap")),
      free_handicap: value("placement") === "free",
      rules: value("rules"),
      komi: value("komi") === "" ? null : Number(value("komi")),
      time: clocks[value("clock")].join(" "),
      level: this.form.querySelector("#level-row").hidden ? null : value("level") === FITTING ? this.strength.rank : value("level"),
    };
  }
}
