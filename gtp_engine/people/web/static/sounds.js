// What is heard and felt: stones, captures, the end, little time. All of it is made here; there are no files.

import { _ } from "./language.js";

const SOUNDS = { // [frequency, seconds from the start, seconds, volume] of tones, or of a knock without a frequency
  stone: [[null, 0, 0.07, 0.7]],
  capture: [[null, 0, 0.07, 0.7], [null, 0.09, 0.05, 0.35], [null, 0.15, 0.05, 0.3], [null, 0.2, 0.05, 0.25]],
  pass: [[330, 0, 0.12, 0.12]],
  end: [[392, 0, 0.3, 0.12], [494, 0.14, 0.3, 0.12], [587, 0.28, 0.5, 0.12]],
  low: [[880, 0, 0.08, 0.12]],
};
const FELT = { stone: 12, capture: [12, 40, 12], pass: 8, end: [30, 60, 30], low: 20 }; // milliseconds of vibration, and pauses
const FADE = 0.17; // of its length, in which a sound becomes weaker by a factor of e
const WOOD = { frequency: 1500, quality: 1.2 }; // of the filter that makes a knock of noise

export class Sounds {
  /** `values()` returns the settings: {sound, voice, vibration}. */
  constructor(values) {
    this.values = values;
    /** @type {AudioContext | null} */
    this.audio = null;
    /** @type {AudioBuffer | null} */
    this.noise = null;
  }

  /** Let something be heard and felt, unless that is off or the browser still waits for a click. */
  play(name) {
    if (!navigator.userActivation?.hasBeenActive) return;
    if (this.values().vibration) navigator.vibrate?.(FELT[name]);
    if (!this.values().sound) return;
    this.audio ??= new AudioContext();
    for (const tone of SOUNDS[name]) this.tone(...tone);
  }

  tone(frequency, after, length, loud) {
    const { audio } = this;
    const [start, volume] = [audio.currentTime + after, audio.createGain()];
    volume.gain.setValueAtTime(loud, start);
    volume.gain.setTargetAtTime(0, start, FADE * length);
    volume.connect(audio.destination);
    if (frequency) {
      const tone = audio.createOscillator();
      tone.frequency.value = frequency;
      tone.connect(volume);
      tone.start(start);
      tone.stop(start + length);
      return;
    }
    this.noise ??= noise(audio);
    const source = Object.assign(audio.createBufferSource(), { buffer: this.noise });
    const filter = Object.assign(audio.createBiquadFilter(), { type: "bandpass" });
    filter.frequency.value = WOOD.frequency;
    filter.Q.value = WOOD.quality;
    source.connect(filter).connect(volume);
    source.start(start, 0, length);
  }

  /** Warn of the last seconds of a clock: say them if the browser speaks, else let each be heard. */
  count(seconds) {
    const speaks = this.values().voice && globalThis.speechSynthesis;
    if (!speaks) return this.play("low");
    const spoken = new SpeechSynthesisUtterance(seconds === 10 ? _("ten seconds") : String(seconds));
    spoken.lang = document.documentElement.lang;
    speechSynthesis.cancel();
    speechSynthesis.speak(spoken);
  }
}

function noise(audio) {
  const made = audio.createBuffer(1, 0.1 * audio.sampleRate, audio.sampleRate);
  const samples = made.getChannelData(0);
  for (let index = 0; index < samples.length; index++) samples[index] = 2 * Math.random() - 1;
  return made;
}
