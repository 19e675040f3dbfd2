// Settings that last: how the board looks, what is heard, how much analyses and reviews search.

import { ngettext } from "./language.js";

const KEY = "board"; // in the browser's storage
const DEFAULTS = {
  numbers: "none", coordinates: true, sound: true, voice: false, vibration: true, analysis: "none", review: "none",
  theme: "system", wood: "kaya", stones: "shell", shifts: true, guide: false,
};
const LIMITS = { // of analyses and reviews: the choices in both menus
  visits: [[100, 1000, 10000, 100000], [20, 200, 500, 2000]], seconds: [[1, 5, 20, 60], [0.5, 2, 5, 20]],
};

export class Preferences {
  /** Fields in `parent` are named as the settings; `onChange(name)` is called when one has changed. */
  constructor(parent, onChange) {
    this.parent = parent;
    this.values = { ...DEFAULTS, ...stored() };
    ["analysis", "review"].forEach((name, menu) => parent.querySelector(`[name=${name}]`).append(
      ...LIMITS.visits[menu].map((count) => new Option(ngettext("{count} visit", "{count} visits", count), `visits ${count}`)),
      ...LIMITS.seconds[menu].map((count) => new Option(ngettext("{count} second", "{count} seconds", count), `seconds ${count}`)),
    ));
    for (const name of Object.keys(DEFAULTS)) {
      const field = parent.querySelector(`[name=${name}]`);
      const property = field.type === "checkbox" ? "checked" : "value";
      field[property] = this.values[name];
      field.onchange = () => {
        this.values[name] = field[property];
        localStorage.setItem(KEY, JSON.stringify(this.values));
        this.apply();
        onChange(name);
      };
    }
    this.apply();
  }

  /** Change a setting, as its field does. */
  set(name, value) {
    const field = this.parent.querySelector(`[name=${name}]`);
    field[field.type === "checkbox" ? "checked" : "value"] = value;
    field.onchange();
  }

  /** Let the page look as it was chosen. */
  apply() {
    const { dataset } = document.documentElement;
    for (const name of ["theme", "wood", "stones"]) dataset[name] = this.values[name];
  }

  /** Return what an "analysis" or a "review" may spend on a position: {visits} or {seconds}, neither without a limit. */
  limit(name) {
    const [kind, amount] = this.values[name].split(" ");
    return kind === "none" ? {} : { [kind]: Number(amount) };
  }
}

function stored() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}
