// Where the scripts of the inbox begin. Pages read and answer without any of this; with it, keys work and nothing reloads.
import * as answer from "./answer.js";
import * as arrivals from "./arrivals.js";
import * as batch from "./batch.js";
import * as clock from "./clock.js";
import * as counts from "./counts.js";
import * as drafts from "./drafts.js";
import * as files from "./files.js";
import * as guard from "./guard.js";
import * as item from "./item.js";
import * as keys from "./keys.js";
import * as live from "./live.js";
import * as notify from "./notify.js";
import * as passkey from "./passkey.js";
import * as prefs from "./prefs.js";
import * as rows from "./rows.js";
import * as run from "./run.js";
import * as swap from "./swap.js";

/** All modules and icons of a build share one directory, named by their hash. */
function build() {
  return new URL(".", import.meta.url).pathname.split("/").at(-2) ?? "";
}

async function install() {
  if (!document.body.dataset.person || !navigator.serviceWorker) return;
  navigator.serviceWorker.addEventListener("message", ({ data }) => {
    if (typeof data?.visit === "string" && swap.isOurs(new URL(data.visit, location.href))) swap.visit(data.visit);
  });
  // Not every browser installs from every address; the inbox does without.
  await navigator.serviceWorker.register(swap.worker(build()), { scope: "/inbox" }).catch(() => {});
}

/** What scrolls within the page can be scrolled by keyboard too. */
function reach() {
  for (const box of document.querySelectorAll("main :is(pre, .table, .json)")) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
  }
}

/** A page stands: the first one, or one that was put in its place. */
function look() {
  prefs.look();
  clock.look();
  batch.look();
  passkey.look();
  drafts.look();
  item.look();
  run.look();
  reach();
}

document.addEventListener("shown", () => {
  const id = document.querySelector("#item, #run")?.dataset.id;
  if (id) rows.remember(id);
  counts.fromPage();
  drafts.putBack();
  guard.arm();
  look();
});
document.addEventListener("panel", look);
document.addEventListener("rows", clock.look);

guard.start();
answer.start();
arrivals.start();
batch.start();
clock.start();
drafts.start();
files.start();
keys.start();
notify.start();
passkey.start();
prefs.start(notify.turned);
run.start();
swap.start();
live.start();
guard.arm();
counts.fromPage();
drafts.putBack();
look();
install();
