// The service worker: keeps styles, scripts and icons, shows a page of its own when the hub cannot be reached, and brings the
// person to the item when a notification is clicked. Pages are never kept: they hold what agents ask.
const KEPT = `countersign-${new URL(self.location).searchParams.get("build") ?? ""}`;
const OFFLINE = "/inbox/offline";
const WITH_IT = ["/inbox/assets/offline/app.css", "/inbox/assets/offline/icon.svg"];

async function install() {
  const cache = await caches.open(KEPT);
  await cache.addAll([OFFLINE, ...WITH_IT].map((path) => new Request(path, { cache: "reload" })));
  await self.skipWaiting();
}

async function activate() {
  for (const name of await caches.keys()) if (name.startsWith("countersign-") && name !== KEPT) await caches.delete(name);
  await self.clients.claim();
}

async function asset(request) {
  const cache = await caches.open(KEPT);
  const kept = await cache.match(request);
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}

async function page(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const offline = await caches.match(OFFLINE);
    if (offline) return offline;
    throw error;
  }
}

async function open(path) {
  const windows = await self.clients.matchAll({ type: "window" });
  const shown = windows.find((client) => new URL(client.url).pathname.startsWith("/inbox"));
  if (!shown) return self.clients.openWindow(path);
  await shown.focus();
  shown.postMessage({ visit: path });
}

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (url.pathname.startsWith("/inbox/assets/")) event.respondWith(asset(request));
  else if (request.mode === "navigate") event.respondWith(page(request));
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.path ?? "/inbox"));
});
