// Live events from the hub (SSE). An event tells what changed; the current state is always loaded from the hub.
import { deferEvent } from "./answer.js";
import { dropPending, insert, parseRow } from "./arrivals.js";
import * as conversation from "./conversation.js";
import { recount, showCounts } from "./counts.js";
import { discardDraft, onSignedOut } from "./drafts.js";
import { onResolved, refreshItem, shownItem } from "./item.js";
import { announce } from "./notify.js";
import * as pulse from "./pulse.js";
import { noteEvent, refresh } from "./refresh.js";
import { markResolved } from "./rows.js";
import * as runs from "./runs.js";
import * as tabs from "./tabs.js";
import { refreshHeldItem, showHold } from "./undo.js";
import { t } from "./words.js";

const STATUS_DELAY_MS = 3000;
const MIN_RETRY_MS = 4000;
const MAX_RETRY_MS = 60_000;
let source = null;
let retryDelay = MIN_RETRY_MS;
let statusTimer;
let retryTimer;

/** Handlers of live events, by event name. */
const hubEvents = {
  opened(event) {
    const row = parseRow(event);
    insert("open", row);
    if (tabs.isLeading() && row.dataset.mine !== "no") announce(event);
  },
  noticed(event) {
    insert("notices", parseRow(event));
  },
  resolved({ id, words, actor, at_ms: at }) {
    const name = actor?.replace(/^human:|^system:.*/, "");
    const message = name && !words.includes(name) ? t("{outcome} by {person}", { outcome: words, person: name }) : words;
    dropPending(id);
    discardDraft(id);
    markResolved(id, message, new Date(at));
    if (!deferEvent(id)) onResolved(id, message).catch(() => {});
    // The resolved item may have been ahead of the shown item in its agent's queue.
    if (document.getElementById("queued")) refreshItem(shownItem().dataset.id).catch(() => {});
  },
  held(event) {
    showHold(event);
    if (!deferEvent(event.id)) refreshHeldItem(event.id).catch(() => {});
  },
  tracked({ id }) {
    if (deferEvent(id)) return;
    if (shownItem()?.dataset.id === id) refreshItem(id).catch(() => {});
    else if (document.querySelector(`#row-${id}:not(.gone) time.age`)) refresh();
  },
  /** Start or end of a run; the asks of a run arrive as `opened` events. */
  run() {},
  /** Resync after lost events. Jitter spreads the requests, because all browsers receive this event at the same time. */
  resync() {
    setTimeout(refreshIfActive, Math.random() * 1000);
  },
};

/** Handlers of messages from the leading tab, by message name. */
const tabMessages = { counts: showCounts, link: showStatus, gap: refreshIfActive, signedOut: onSignedOut };

/** A hidden tab that does not lead skips the refresh: it takes the lead, and so refreshes, when it becomes visible. */
function refreshIfActive() {
  if (tabs.isLeading() || !document.hidden) refresh();
}

function handleEvent(name, data) {
  noteEvent();
  hubEvents[name](data);
  [conversation, runs, pulse].find((page) => page.isShown())?.scheduleRefresh();
}

function onTabMessage(name, data) {
  if (Object.hasOwn(tabMessages, name)) tabMessages[name](data);
  else if (Object.hasOwn(hubEvents, name)) handleEvent(name, data);
}

function connect() {
  source = new EventSource("/inbox/events");
  for (const name of Object.keys(hubEvents)) {
    source.addEventListener(name, (event) => {
      const data = JSON.parse(event.data);
      tabs.broadcast(name, data);
      handleEvent(name, data);
      if (!["tracked", "run", "held"].includes(name)) recount();
    });
  }
  source.addEventListener("open", onOpen);
  source.addEventListener("error", onError);
  // Changes between the rendering of the page and the opening of the stream are in neither of the two.
  source.addEventListener("open", catchUp, { once: true });
}

function catchUp() {
  tabs.broadcast("gap");
  refresh();
  recount();
}

function onOpen() {
  retryDelay = MIN_RETRY_MS;
  clearStatusTimer();
  setStatus("");
}

function clearStatusTimer() {
  clearTimeout(statusTimer);
  statusTimer = undefined;
}

function onError({ target }) {
  if (target !== source) return;
  statusTimer ??= setTimeout(setStatus, STATUS_DELAY_MS, t("Reconnecting…"));
  if (source.readyState !== EventSource.CLOSED) return;
  // The browser stops retrying after a response that is not an event stream: retry with exponential backoff.
  retryTimer = setTimeout(reconnect, retryDelay);
  retryDelay = Math.min(retryDelay * 2, MAX_RETRY_MS);
}

async function reconnect() {
  const current = source;
  const response = await fetch("/inbox", { method: "HEAD", headers: { "x-fragment": "main" } }).catch(() => null);
  if (source !== current) return;
  if (response?.status === 401) setStatus(t("Signed out. Load the page again to sign in."));
  else connect();
}

function setStatus(text) {
  tabs.broadcast("link", text);
  showStatus(text);
}

function showStatus(text) {
  let element = document.getElementById("link");
  if (!text) element?.remove();
  if (!text) return;
  if (!element) {
    element = document.createElement("div");
    element.id = "link";
    element.setAttribute("role", "status");
    document.body.append(element);
  }
  element.textContent = text;
}

function disconnect() {
  source?.close();
  source = null;
  clearStatusTimer();
  clearTimeout(retryTimer);
}

export function start() {
  if (document.body.dataset.person) tabs.start({ onLead: connect, onRelease: disconnect, onMessage: onTabMessage });
}
