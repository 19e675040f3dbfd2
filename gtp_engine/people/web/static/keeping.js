// What the browser keeps for when the server is away: the page itself, by a service worker, the games that were shown last
// with their reviews, and the list of games. Browsers do so for localhost and encrypted addresses only.
// @ts-check

const GAMES = "games"; // the cache
const MOST = 20; // games; the one that was shown the longest ago makes room

/** Let the page be kept. */
export function keepPage() {
  navigator.serviceWorker?.register("worker.js").catch(() => {}); // a browser that keeps nothing shows the page all the same
}

/** Keep the messages about a game, or about the list of games.
 * @param {string} name
 * @param {any[]} messages */
export async function keep(name, messages) {
  if (!globalThis.caches) return;
  const cache = await caches.open(GAMES);
  await cache.delete(`kept/${name}`); // so that it is the newest
  await cache.put(`kept/${name}`, new Response(JSON.stringify(messages)));
  const keys = await cache.keys();
  await Promise.all(keys.slice(0, -MOST).map((key) => cache.delete(key)));
}

/** Return the messages that were kept, none for a name that is not known.
 * @param {string} name
 * @returns {Promise<any[]>} */
export async function kept(name) {
  const found = globalThis.caches && (await (await caches.open(GAMES)).match(`kept/${name}`));
  return found ? found.json() : [];
}
