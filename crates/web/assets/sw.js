// The service worker: caches styles, scripts and icons, shows an offline page when the hub is unreachable, and opens the item
// when its notification is clicked. Pages are never cached, because they contain the questions of agents.
const CACHE_NAME = `countersign-${new URL(self.location).searchParams.get("build") ?? ""}`;
const OFFLINE = "/inbox/offline";
const OFFLINE_ASSETS = ["/inbox/assets/offline/app.css", "/inbox/assets/offline/icon.svg"];

async function install() {
  const cache = await caches.open(CACHE_NAME);
  await cache.addAll([OFFLINE, ...OFFLINE_ASSETS].map((path) => new Request(path, { cache: "reload" })));
  await self.skipWaiting();
}

async function activate() {
  for (const name of await caches.keys()) if (name.startsWith("countersign-") && name !== CACHE_NAME) await caches.delete(name);
  await self.clients.claim();
}

async function serveAsset(request) {
  const cache = await caches.open(CACHE_NAME);
  const cached = await cache.match(request);
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
