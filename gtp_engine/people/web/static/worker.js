// The service worker: it keeps the page as it was loaded last, for when the server is away. Games are kept by `keeping.js`.

const PAGE = "page"; // the cache
const FILE = /\/$|\.\w+$/; // what ends so does not depend on the moment
const PARTS = /(?:href|src)="([\w.-]+\.\w+)"/g; // the files that the page names

self.addEventListener("install", (event) => event.waitUntil(keepPage()));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { method, url, cache } = event.request;
  const { origin, pathname } = new URL(url);
  if (method === "GET" && cache !== "no-store" && origin === location.origin && FILE.test(pathname)) event.respondWith(answer(event.request));
});

/** Keep the page and its parts: this worker has not seen them being loaded. */
async function keepPage() {
  const page = await (await fetch("./")).text();
  const files = new Set(["./", ...Array.from(page.matchAll(PARTS), ([, file]) => file)]);
  await (await caches.open(PAGE)).addAll([...files]);
  await self.skipWaiting();
}

/** Return the server's answer, or the one before where there is none. */
async function answer(request) {
  const kept = await caches.open(PAGE);
  try {
    const response = await fetch(request);
    if (response.ok) await kept.put(request, response.clone());
    return response;
  } catch (error) {
    const before = await kept.match(request, { ignoreSearch: true });
    if (before) return before;
    throw error;
  }
}
