// The dialog for a new game.

const LEVELS = [["max", "full strength"]]
  .concat(Array.from({ length: 9 }, (_, number) => [`${9 - number}d`, `${9 - number} dan`]))
  .concat(Array.from({ length: 20 }, (_, number) => [`${number + 1}k`, `${number + 1} kyu`]));
const HANDICAP_KOMI = 0.5;
const USUAL_RULES = "chinese";

function titled(name) {
  return name.length < 4 ? name.toUpperCase() : name[0].toUpperCase() + name.slice(1).replaceAll("-", " ");
}

export class Setup {
  /** The dialog `dialog`; `onStart(message)` gets the request for a new game. */
  constructor(dialog, onStart) {
    this.dialog = dialog;
    this.form = dialog.querySelector("form");
    this.komi = new Map();
    const { elements } = this.form;
    elements.handicap.append(...[2, 3, 4, 5, 6, 7, 8, 9].map((count) => new Option(`${count} stones`, count)));
    elements.level.append(...LEVELS.map(([name, text]) => new Option(text, name)));
    this.form.addEventListener("change", (event) => this.changed(event.target.name));
    dialog.addEventListener("close", () => dialog.returnValue === "start" && onStart(this.message()));
    this.changed("clock");
  }

  /** Learn from the server what can be chosen; when the connection is back, what has been chosen stays. */
  offer({ rules, levels }) {
    const { elements } = this.form;
    this.form.querySelector("#level-row").hidden = !levels;
    if (this.komi.size) return;
    elements.rules.append(...rules.map(({ name }) => new Option(titled(name), name, name === USUAL_RULES, name === USUAL_RULES)));
    this.komi = new Map(rules.map(({ name, komi }) => [name, komi]));
    this.changed("rules");
  }

  open() {
    if (this.dialog.open) return;
    this.dialog.returnValue = "";
    this.dialog.showModal();
  }

  changed(name) {
    const { elements } = this.form;
    if (name === "rules" || name === "handicap") {
      elements.komi.value = elements.handicap.value === "0" ? this.komi.get(elements.rules.value) : HANDICAP_KOMI;
    }
    if (name === "handicap") this.form.querySelector("#placement-row").hidden = elements.handicap.value === "0";
    if (name === "clock") {
      for (const row of this.form.querySelectorAll("[data-clock]")) {
        row.hidden = !row.dataset.clock.split(" ").includes(elements.clock.value);
        row.querySelector("input").disabled = row.hidden;
      }
    }
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
      level: this.form.querySelector("#level-row").hidden ? null : value("level"),
    };
  }
}
