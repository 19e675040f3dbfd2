// Settings that last: numbers on the stones, coordinates, the sound of a stone, how much analyses and reviews search.

import { ngettext } from "./language.js";

const KEY = "board"; // in the browser's storage
const SECONDS = 0.07; // of the sound
const FADE = 0.012; // seconds in which it becomes weaker by a factor of e
const DEFAULTS = { numbers: "none", coordinates: true, sound: true, analysis: "none", review: "none" };
const LIMITS = { // of analyses and reviews: the choices in both menus
  visits: [[100, 1000, 10000, 100000], [20, 200, 500, 2000]], seconds: [[1, 5, 20, 60], [0.5, 2, 5, 20]],
};

export class Preferences {
  /** Fields in `parent` are named as the settings; `onChange()` is called when one has changed. */
  constructor(parent, onChange) {
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
        onChange();
      };
    }
  }

  /** Return what an "analysis" or a "review" may spend on a position: {visits} or {seconds}, neither without a limit. */
  limit(name) {
    const [kind, amount] = this.values[name].split(" ");
    return kind === "none" ? {} : { [kind]: Number(amount) };
  }

  /** Let a stone be heard, unless that is off or the browser still waits for a click. */
  click() {
    if (!this.values.sound || !navigator.userActivation?.hasBeenActive) return;
    this.audio ??= new AudioContext();
    const { audio } = this;
    this.noise ??= knock(audio);
    const source = Object.assign(audio.createBufferSource(), { buffer: this.noise });
    const filter = Object.assign(audio.createBiquadFilter(), { type: "bandpass" });
    filter.frequency.value = 1500;
    filter.Q.value = 1.2;
    const volume = audio.createGain();
    volume.gain.value = 0.7;
    source.connect(filter).connect(volume).connect(audio.destination);
    source.start();
    this.heard = (this.heard ?? 0) + 1;
  }
}

/** Return a short noise that fades. */
function knock(audio) {
  const noise = audio.createBuffer(1, SECONDS * audio.sampleRate, audio.sampleRate);
  const samples = noise.getChannelData(0);
  samples.forEach((_, index) => (samples[index] = (2 * Math.random() - 1) * Math.exp(-index / (FADE * audio.sampleRate))));
  return noise;
}

function stored() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}
