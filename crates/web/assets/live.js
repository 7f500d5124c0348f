// News from the hub as they happen. The stream says what changed; how things stand is always asked of the hub.
import { isForLater } from "./answer.js";
import { forget, insert, read } from "./arrivals.js";
import { recount, showCounts } from "./counts.js";
import { drop, signedOut } from "./drafts.js";
import { decidedElsewhere, renew, shownItem } from "./item.js";
import { announce } from "./notify.js";
import { heard, refresh } from "./refresh.js";
import { flip } from "./rows.js";
import { isShown as isRuns, renewSoon } from "./runs.js";
import * as tabs from "./tabs.js";
import { isShown as isTerminals } from "./terminals.js";

const QUIET_MS = 3000;
const FIRST_RETRY_MS = 4000;
const LONGEST_RETRY_MS = 60_000;
let source = null;
let retry = FIRST_RETRY_MS;
let complaining;
let retrying;

/** From the hub. */
const hear = {
  opened(event) {
    const row = read(event);
    insert("open", row);
    if (tabs.isLeading() && row.dataset.mine !== "no") announce(event);
  },
  noticed(event) {
    insert("notices", read(event));
  },
  resolved({ id, words, actor, at_ms: at }) {
    const told = actor && !words.includes(actor) ? `${words} by ${actor}` : words;
    forget(id);
    drop(id);
    flip(id, told, new Date(at));
    if (!isForLater(id)) decidedElsewhere(id, told).catch(() => {});
    // It may be one that the shown one stands behind.
    if (document.getElementById("queued")) renew(shownItem().dataset.id).catch(() => {});
  },
  tracked({ id }) {
    if (isForLater(id)) return;
    if (shownItem()?.dataset.id === id) renew(id).catch(() => {});
    else if (document.getElementById(`row-${id}`)?.querySelector(".here")) refresh();
  },
  /** A run began or ended. What it asks comes as everything else that is asked. */
  run() {},
  /** Everybody is told at once; not everybody has to ask at once. */
  resync() {
    setTimeout(lookAgain, Math.random() * 1000);
  },
};

/** From the tab that listens. */
const told = { counts: showCounts, link: showLink, gap: lookAgain, signedOut };

/** A tab out of view looks again when it comes into view, since it listens anew then. */
function lookAgain() {
  if (tabs.isLeading() || !document.hidden) refresh();
}

function take(name, data) {
  heard();
  hear[name](data);
  if (isTerminals()) refresh();
  else if (isRuns()) renewSoon();
}

function passedOn(name, data) {
  if (Object.hasOwn(told, name)) told[name](data);
  else if (Object.hasOwn(hear, name)) take(name, data);
}

function connect() {
  source = new EventSource("/inbox/events");
  for (const name of Object.keys(hear)) {
    source.addEventListener(name, (event) => {
      const data = JSON.parse(event.data);
      tabs.pass(name, data);
      take(name, data);
      if (!["tracked", "run"].includes(name)) recount();
    });
  }
  source.addEventListener("open", opened);
  source.addEventListener("error", lost);
  // What happened between the rendering of the page and the opening of the stream is in neither.
  source.addEventListener("open", caughtUp, { once: true });
}

function caughtUp() {
  tabs.pass("gap");
  refresh();
  recount();
}

function opened() {
  retry = FIRST_RETRY_MS;
  hush();
  say("");
}

function hush() {
  clearTimeout(complaining);
  complaining = undefined;
}

function lost({ target }) {
  if (target !== source) return;
  complaining ??= setTimeout(say, QUIET_MS, "Reconnecting…");
  if (source.readyState !== EventSource.CLOSED) return;
  // The browser gives up when the answer was no stream at all.
  retrying = setTimeout(tryAgain, retry);
  retry = Math.min(retry * 2, LONGEST_RETRY_MS);
}

async function tryAgain() {
  const mine = source;
  const response = await fetch("/inbox", { method: "HEAD", headers: { "x-fragment": "main" } }).catch(() => null);
  if (source !== mine) return;
  if (response?.status === 401) say("Signed out. Load the page again to sign in.");
  else connect();
}

function say(words) {
  tabs.pass("link", words);
  showLink(words);
}

function showLink(words) {
  let link = document.getElementById("link");
  if (!words) link?.remove();
  if (!words) return;
  if (!link) {
    link = document.createElement("div");
    link.id = "link";
    link.setAttribute("role", "status");
    document.body.append(link);
  }
  link.textContent = words;
}

function disconnect() {
  source?.close();
  source = null;
  hush();
  clearTimeout(retrying);
}

export function start() {
  if (document.body.dataset.person) tabs.start({ begin: connect, end: disconnect, hear: passedOn });
}
