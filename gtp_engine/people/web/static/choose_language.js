// The language of the page: the reader's choice, else the one that the server was given, else the browser's.

import { _, bestLanguage, speak } from "./language.js";
import { learn } from "./messages.js";

const root = document.documentElement;
const languages = JSON.parse(root.dataset.languages); // each named in itself, by their tags
const chosen = localStorage.getItem("language") ?? ""; // "" for the browser's
const wanted = [chosen, root.dataset.language].filter(Boolean);
const best = bestLanguage(wanted.length ? wanted : navigator.languages, Object.keys(languages));
if (best !== "en") { // what imports this module waits
  const response = await fetch(`texts-${best}.json`).catch(() => null);
  const { texts, messages } = response?.ok ? await response.json() : {};
  if (texts) speak(best, texts);
  if (messages) learn(messages);
}

const menu = /** @type {HTMLSelectElement} */ (document.getElementById("language"));
menu.append(new Option(_("the browser's"), ""), ...Object.entries(languages).map(([tag, name]) => new Option(name, tag)));
menu.value = chosen;
menu.onchange = () => {
  localStorage.setItem("language", menu.value);
  location.reload();
};
