// Leader election among the tabs of one browser. Browsers limit the connections per host, so one tab holds the event stream
// for all: the tab that became visible last. A hidden tab leads only if sound or notifications are on.
import { wantsAlerts } from "./notify.js";

const HIDDEN_GRACE_MS = 5000;
let channel = null;
let leadController = null;
let leading = false;
let hiddenTimer;
let handlers = null;

export function isLeading() {
  return leading;
}

/** Sends a message to the other tabs. */
export function broadcast(name, data) {
  channel?.postMessage({ name, data });
}

/** The name of the lock and the channel: tabs share messages only within one person. */
function channelName() {
  return `countersign.${document.body.dataset.person}`;
}

function isNeeded() {
  return !document.hidden || wantsAlerts();
}

/** Without Web Locks, for example without TLS, every visible tab holds its own event stream. */
function withLock(options, onLock) {
  return navigator.locks ? navigator.locks.request(channelName(), options, onLock) : onLock();
}

/** Takes the lead, or waits for it. A visible tab steals the lock, because the browser may have suspended the leader. */
async function takeLead({ steal }) {
  releaseLead();
  const controller = (leadController = new AbortController());
  const released = new Promise((resolve) => controller.signal.addEventListener("abort", resolve));
  const onLock = () => {
    if (controller.signal.aborted) return undefined;
    leading = true;
    handlers.onLead();
    return released;
  };
  const error = await withLock(steal ? { steal } : { signal: controller.signal }, onLock).catch((reason) => reason);
  if (leadController !== controller) return;
  releaseLead();
  const isStolen = error?.name === "AbortError";
  if (isStolen && isNeeded()) takeLead({ steal: false });
}

function releaseLead() {
  const wasLeading = leading;
  leading = false;
  leadController?.abort();
  leadController = null;
  if (wasLeading) handlers.onRelease();
}

function onVisibilityChange() {
  clearTimeout(hiddenTimer);
  if (document.hidden) hiddenTimer = setTimeout(() => isNeeded() || releaseLead(), HIDDEN_GRACE_MS);
  else if (!leading) takeLead({ steal: true });
}

/** `onLead` and `onRelease` open and close the event stream; `onMessage(name, data)` receives messages from other tabs. */
export function start(leadHandlers) {
  handlers = leadHandlers;
  channel = navigator.locks ? new BroadcastChannel(channelName()) : null;
  channel?.addEventListener("message", ({ data }) => handlers.onMessage(data.name, data.data));
  if (isNeeded()) takeLead({ steal: !document.hidden });
  document.addEventListener("visibilitychange", onVisibilityChange);
  window.addEventListener("pagehide", releaseLead);
  window.addEventListener("pageshow", (event) => event.persisted && isNeeded() && takeLead({ steal: !document.hidden }));
}
