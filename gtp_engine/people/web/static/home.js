// The games on the server's disk, to continue, rename or delete, and links to a game for others.

import { pictureOf } from "./drawing.js";
import { _, ngettext, sentences } from "./language.js";
import { playerName, rankName } from "./names.js";
import { resultText } from "./result.js";

const STEP = 30; // games of the list that come at once
const TYPING = 250; // milliseconds without a key after which the list is searched
const QUIET = 4; // modules of white around a QR code
const THUMBNAIL = 144; // pixels
const LOCAL = /^(localhost|127\..*|\[::1\])$/; // hosts that are this computer, whichever it is

export class Home {
  /** The dialog; `send(message)` asks the server, `onOpen(id)` opens a game, `asks(question, yes, no)` asks the person;
   * `current()` is the id of the game that is shown. */
  constructor(dialog, { send, onOpen, onNew, asks, current }) {
    this.dialog = dialog;
    this.send = send;
    this.onOpen = onOpen;
    this.onNew = onNew;
    this.asks = asks;
    this.current = current;
    dialog.querySelector("#home-close").onclick = () => dialog.close();
    dialog.querySelector("#home-new").onclick = () => {
      dialog.close();
      onNew();
    };
    this.search = dialog.querySelector("#game-search");
    this.count = STEP;
    this.search.oninput = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.ask(STEP), TYPING);
    };
    dialog.querySelector("#more-games").onclick = () => this.ask(this.count + STEP);
    this.naming = /** @type {HTMLDialogElement} */ (document.getElementById("naming"));
    this.title = /** @type {HTMLInputElement} */ (document.getElementById("title"));
    this.naming.addEventListener("close", () => {
      if (this.naming.returnValue) send({ do: "rename_game", id: this.named, title: this.title.value, ...this.wanted });
    });
  }

  /** Show the list, which the server sends soon. */
  open() {
    this.search.value = "";
    if (this.ask(STEP) && !this.dialog.open) this.dialog.showModal();
  }

  /** What the list shows, also after a change. */
  get wanted() {
    return { text: this.search.value.trim(), count: this.count };
  }

  ask(count) {
    this.count = count;
    return this.send({ do: "games", ...this.wanted });
  }

  receive({ games, text, has_more: hasMore }) {
    this.dialog.querySelector("#no-games").hidden = games.length > 0 || text !== "";
    this.dialog.querySelector("#none-found").hidden = games.length > 0 || text === "";
    this.dialog.querySelector("#more-games").hidden = !hasMore;
    this.dialog.querySelector("#game-list").replaceChildren(...games.map((game) => this.row(game)));
  }

  row(game) {
    const item = document.createElement("li");
    const open = document.createElement("button");
    const text = document.createElement("span");
    const players = `${playerName(game.names.black)} – ${playerName(game.names.white)}`;
    const name = game.title || players;
    const state = game.result ? resultText(game.result, game.rules, game.opened ? null : game.human) : _("Not finished.");
    const when = new Date(1000 * game.time).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
    const moves = ngettext("{count} move", "{count} moves", game.moves);
    const size = `${game.rows[0].length} × ${game.rows.length}`;
    const level = game.opened || !game.level || game.level === "max" ? "" : `Tengen ${rankName(game.level)}`;
    const facts = [sentences(state, moves), size, level].filter(Boolean).join(" · ");
    text.append(
      Object.assign(document.createElement("strong"), { textContent: name, dir: "auto" }),
      Object.assign(document.createElement("span"), { textContent: facts }),
      Object.assign(document.createElement("span"), { textContent: when }),
    );
    if (game.title) text.firstChild.after(Object.assign(document.createElement("span"), { textContent: players, dir: "auto" }));
    if (game.accuracy) text.append(Object.assign(document.createElement("span"), { textContent: accuracyText(game.accuracy) }));
    open.className = "game";
    open.dataset.id = game.id;
    open.append(Object.assign(pictureOf(game, THUMBNAIL), { ariaHidden: "true" }), text);
    open.onclick = () => {
      this.dialog.close();
      this.onOpen(game.id);
    };
    const rename = Object.assign(document.createElement("button"), { textContent: _("Rename") });
    rename.setAttribute("aria-label", _("Rename the game {name}", { name }));
    rename.onclick = () => this.rename(game, players);
    const remove = Object.assign(document.createElement("button"), { textContent: _("Delete") });
    remove.setAttribute("aria-label", _("Delete the game {name}", { name }));
    remove.onclick = async () => (await this.asks(_("Delete this game for good?"), _("Delete"), _("Cancel"))) && this.send({ do: "delete_game", id: game.id, ...this.wanted });
    remove.disabled = game.id === this.current(); // it is shown
    const buttons = document.createElement("div");
    buttons.append(rename, remove);
    item.append(open, buttons);
    return item;
  }

  /** Ask for another name for a game; without one it goes by its players. */
  rename(game, players) {
    this.named = game.id;
    Object.assign(this.title, { value: game.title, placeholder: players });
    this.naming.returnValue = "";
    this.naming.showModal();
    this.title.select();
  }
}

/** Return the accuracy of both players; one who has not moved has none. */
function accuracyText({ B, W }) {
  const [black, white] = [B, W].map((each) => each?.toFixed(0) ?? "–");
  return _("Accuracy: Black {black}, White {white}", { black, white });
}

/** Show links to a game in a dialog: one to watch and, for who may play, one to play. */
export async function share(dialog, id, role) {
  for (const kind of ["watch", "play"]) {
    const box = dialog.querySelector(`#share-${kind}`);
    const answer = role === "watch" && kind === "play" ? null : await fetch(`invitation?role=${kind}`, { cache: "no-store" }).catch(() => null);
    box.hidden = !answer?.ok;
    if (!answer?.ok) continue;
    const { token, host } = await answer.json();
    const link = new URL(token === null ? "./" : `./?token=${token}`, location.href);
    link.hash = `game=${id}`;
    if (LOCAL.test(link.hostname)) link.hostname = host ?? link.hostname;
    dialog.querySelector("#links-here").hidden = !LOCAL.test(link.hostname);
    await offer(box, link.href);
  }
  dialog.querySelector("#links-close").onclick = () => dialog.close();
  dialog.showModal();
}

/** Offer a link: to copy, to share with the system's dialog where there is one, and as a QR code for a phone. */
async function offer(box, link) {
  const { qrCode } = await import("./qr.js");
  const [field, copy, pass] = ["input", ".copy", ".pass"].map((each) => box.querySelector(each));
  field.value = link;
  field.onfocus = () => field.select();
  copy.textContent = _("Copy");
  copy.onclick = async () => {
    await navigator.clipboard?.writeText(link).catch(() => field.select());
    copy.textContent = _("Copied");
  };
  pass.hidden = !navigator.share;
  pass.onclick = () => navigator.share({ title: "Tengen", url: link }).catch(() => {}); // the person has changed their mind
  const [code, rows] = [box.querySelector("canvas"), qrCode(link)];
  code.hidden = !rows;
  if (!rows) return;
  code.width = code.height = rows.length + 2 * QUIET;
  const pen = code.getContext("2d");
  pen.fillStyle = "white";
  pen.fillRect(0, 0, code.width, code.height);
  pen.fillStyle = "black";
  rows.forEach((row, y) => row.forEach((isDark, x) => isDark && pen.fillRect(x + QUIET, y + QUIET, 1, 1)));
}
