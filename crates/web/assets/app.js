// Entry point of the inbox scripts. Pages work without scripts; the scripts add keys, live updates and page swaps.
import * as answer from "./answer.js";
import * as arrivals from "./arrivals.js";
import * as batch from "./batch.js";
import * as batchSend from "./batch_send.js";
import * as clock from "./clock.js";
import * as conversation from "./conversation.js";
import * as copy from "./copy.js";
import * as counts from "./counts.js";
import * as drafts from "./drafts.js";
import * as files from "./files.js";
import * as form from "./form.js";
import * as guard from "./guard.js";
import * as images from "./images.js";
import * as item from "./item.js";
import * as keys from "./keys.js";
import * as live from "./live.js";
import * as menus from "./menus.js";
import * as more from "./more.js";
import * as localTime from "./local_time.js";
import * as notify from "./notify.js";
import * as palette from "./palette.js";
import * as prefs from "./prefs.js";
import * as rows from "./rows.js";
import * as run from "./run.js";
import * as snooze from "./snooze.js";
import * as split from "./split.js";
import * as swipe from "./swipe.js";
import * as swap from "./swap.js";
import * as undo from "./undo.js";

/** The hash of this build: the name of the directory that holds its modules and icons. */
function buildHash() {
  return new URL(".", import.meta.url).pathname.split("/").at(-2) ?? "";
}

async function registerWorker() {
  if (!document.body.dataset.person || !navigator.serviceWorker) return;
  navigator.serviceWorker.addEventListener("message", ({ data }) => {
    if (typeof data?.visit === "string" && swap.isAppUrl(new URL(data.visit, location.href))) swap.visit(data.visit);
  });
  // A browser may refuse the service worker, for example without TLS; the inbox works without one.
  await navigator.serviceWorker.register(swap.workerUrl(buildHash()), { scope: "/inbox" }).catch(() => {});
}

/** Scrollable boxes within the page get keyboard focus, so that the arrow keys scroll them. */
function makeScrollersFocusable() {
  for (const box of document.querySelectorAll(":is(main, #detail) :is(pre, .table, .json, .diff .lines)")) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
  }
}

/** Per-page setup, for the first page and after each swap. */
function updatePage() {
  prefs.update();
  clock.update();
  localTime.update();
  form.update();
  batch.update();
  drafts.update();
  item.update();
  copy.update();
  run.update();
  undo.update();
  makeScrollersFocusable();
}

document.addEventListener("shown", () => {
  const id = document.querySelector("#item, #run")?.dataset.id;
  if (id) rows.rememberCursor(id);
  counts.readPage();
  drafts.restoreDraft();
  guard.arm();
  updatePage();
  conversation.update();
});
document.addEventListener("panel", updatePage);
document.addEventListener("rows", clock.update);

guard.start();
images.start();
copy.start();
localTime.start();
undo.start();
batchSend.start();
answer.start();
arrivals.start();
batch.start();
clock.start();
drafts.start();
files.start();
menus.start();
more.start();
form.start();
keys.start();
notify.start();
palette.start();
prefs.start(notify.onPrefChange);
run.start();
snooze.start();
split.start();
swap.start();
swipe.start();
live.start();
guard.arm();
counts.readPage();
drafts.restoreDraft();
updatePage();
conversation.update();
registerWorker();
