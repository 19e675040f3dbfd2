// The texts of a page in its reader's language: English is the key of each text in the catalogue.

const labels = ["title", "aria-label", "placeholder", "alt"];
let texts = {};

/** Return the first language of `wanted`, tags as of `navigator.languages`, that is one of `known`; "en" if none is. */
export function bestLanguage(wanted, known) {
  for (const tag of wanted) {
    const [language, ...rest] = tag.toLowerCase().split("-");
    const isTraditional = rest.some((part) => ["hant", "tw", "hk", "mo"].includes(part)) && !rest.includes("hans");
    const name = language === "zh" ? (isTraditional ? "zh-Hant" : "zh-Hans") : language;
    if (name === "en" || known.includes(name)) return name;
  }
  return "en";
}

/** Take the texts of a language, by their English, and put the page's own into it. */
export function speak(language, translated) {
  texts = translated;
  document.documentElement.lang = language;
  if (Object.keys(texts).length) translate(document.documentElement);
}

/** Return a text in the reader's language, with `values` in place of their names in braces. */
export function _(text, values = {}) {
  return (texts[text] ?? text).replace(/\{(\w+)\}/g, (name, key) => values[key] ?? name);
}

/** Return a text that is translated later, where it is shown. */
export const later = (text) => text;

/** Return the text for a number, which stands for `{count}`. */
export function ngettext(one, many, count, values = {}) {
  return _(texts[one] === undefined && count !== 1 ? many : one, { count, ...values });
}

/** Return by how many points a game under `rules` is won; in Chinese, games under Chinese rules are won by stones (子), each
 * of which is two points, and quarters of them. */
export function marginText(points, rules = "") {
  if (!/^chinese/.test(rules) || !document.documentElement.lang.startsWith("zh")) return ngettext("{count} point", "{count} points", points);
  const [whole, quarters] = [Math.floor(points / 2), (2 * points) % 4];
  return `${[whole || !quarters ? whole : "", ["", "1/4", "1/2", "3/4"][quarters]].filter((part) => part !== "").join("又")} 子`;
}

/** Return sentences one after the other, those that are empty left out; Chinese and Japanese have no space between. */
export function sentences(...parts) {
  return parts.filter(Boolean).join(/^(zh|ja)/.test(document.documentElement.lang) ? "" : " ");
}

/** Return a lead of Black's as the field writes it, and points with their sign. */
export const leadText = (lead) => (Math.abs(lead) < 0.05 ? _("even") : (lead > 0 ? "B+" : "W+") + Math.abs(lead).toFixed(1));
export const signed = (points) => (Math.abs(points) < 0.05 ? "0" : `${points < 0 ? "−" : "+"}${Math.abs(points).toFixed(1)}`);

/** Return a text as a sentence. */
export function sentenceOf(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.。]$/.test(text) ? "" : /[\u3040-\u9fff]$/.test(text) ? "。" : "."}`;
}

/** Translate the texts and labels of an element and of what is in it, except where it says translate="no". */
function translate(element) {
  if (element.translate === false || element.localName === "script" || element.localName === "style") return;
  for (const name of labels) {
    const known = texts[plain(element.getAttribute(name))];
    if (known) element.setAttribute(name, known);
  }
  for (const child of element.childNodes) {
    if (child.nodeType === Node.ELEMENT_NODE) translate(child);
    const known = child.nodeType === Node.TEXT_NODE && texts[plain(child.data)];
    if (known) child.data = child.data.replace(/\S[^]*\S|\S/, () => known);
  }
}

function plain(text) {
  return (text ?? "").trim().replace(/\s+/g, " ");
}
