// The service worker: caches styles, scripts and icons, shows an offline page when the hub is unreachable, and opens the item
// when its notification is clicked. Pages are never cached, because they contain the questions of agents.
const BUILD = new URL(self.location).searchParams.get("build") ?? "";
const CACHE_NAME = `countersign-${BUILD}`;
const OFFLINE = "/inbox/offline";
/** The assets of the offline page, which may be of another build, so it names them without one. */
const OFFLINE_ASSETS = ["app.css", "icon.svg"].map((name) => `/inbox/assets/${BUILD}/${name}`);

/** The page that installs this worker has just loaded the assets, so they come from the browser's own cache. */
async function install() {
  const cache = await caches.open(CACHE_NAME);
  await cache.addAll([new Request(OFFLINE, { cache: "reload" }), ...OFFLINE_ASSETS]);
  await self.skipWaiting();
}

async function activate() {
  for (const name of await caches.keys()) if (name.startsWith("countersign-") && name !== CACHE_NAME) await caches.delete(name);
  await self.clients.claim();
}

async function serveAsset(request) {
  const cache = await caches.open(CACHE_NAME);
  const cached = await cache.match(request.url.replace("/assets/offline/", `/assets/${BUILD}/`));
  if (cached) return cached;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}

async function servePage(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const offline = await caches.match(OFFLINE);
    if (offline) return offline;
    throw error;
  }
}

async function openPath(path) {
  const windows = await self.clients.matchAll({ type: "window" });
  const existing = windows.find((client) => new URL(client.url).pathname.startsWith("/inbox"));
  if (!existing) return self.clients.openWindow(path);
  await existing.focus();
  existing.postMessage({ visit: path });
}

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (url.pathname.startsWith("/inbox/assets/")) event.respondWith(serveAsset(request));
  else if (request.mode === "navigate") event.respondWith(servePage(request));
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openPath(event.notification.data?.path ?? "/inbox"));
});
