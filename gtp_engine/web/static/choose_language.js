// The language of the page: the reader's choice, else the one that the server was given, else the browser's.

import { bestLanguage, speak } from "./language.js";

const root = document.documentElement;

/** The languages of the page, each named in itself, by their tags. */
export const languages = JSON.parse(root.dataset.languages);

/** Let the page speak a language from now on, "" for the browser's. */
export function chooseLanguage(language) {
  localStorage.setItem("language", language);
  location.reload();
}

/** The language that the reader has chosen, "" for none. */
export const chosen = localStorage.getItem("language") ?? "";

const wanted = [chosen, root.dataset.language].filter(Boolean);
const best = bestLanguage(wanted.length ? wanted : navigator.languages, Object.keys(languages));
if (best !== "en") { // what imports this module waits
  const response = await fetch(`texts-${best}.json`).catch(() => null);
  if (response?.ok) speak(best, await response.json());
}
