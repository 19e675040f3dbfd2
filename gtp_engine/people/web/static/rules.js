// The rules of Go on two pages, with positions as pictures.

import { pictureOf } from "./drawing.js";

const PICTURE = 300; // pixels, shown smaller

/** Open the dialog at its first page. */
export function openRules(dialog) {
  const pages = [...dialog.querySelectorAll("section")];
  const turn = (/** @type {number} */ shown) => {
    pages.forEach((page, index) => (page.hidden = index !== shown));
    dialog.querySelector("[name=before]").disabled = shown === 0;
    dialog.querySelector("[name=after]").disabled = shown === pages.length - 1;
    dialog.querySelector("[name=before]").onclick = () => turn(shown - 1);
    dialog.querySelector("[name=after]").onclick = () => turn(shown + 1);
    dialog.scrollTop = 0;
  };
  for (const figure of dialog.querySelectorAll("[data-rows]:empty")) figure.append(pictureOf({ rows: figure.dataset.rows.split(" ") }, PICTURE, true));
  turn(0);
  dialog.showModal();
}
