// The tabs of one browser. Browsers allow few connections to one host, so one tab listens for all of them: the one that came
// into view last. A tab that nobody sees listens only when it has to call.
import { wants } from "./notify.js";

const HIDDEN_MS = 5000;
let channel = null;
let turn = null;
let leading = false;
let closing;
let work = null;

export function isLeading() {
  return leading;
}

/** To the other tabs. */
export function pass(name, data) {
  channel?.postMessage({ name, data });
}

/** Only what belongs to the same person is passed on. */
function name() {
  return `countersign.${document.body.dataset.person}`;
}

function isNeeded() {
  return !document.hidden || wants();
}

/** Without locks, as in a page that came without TLS, every tab in view listens for itself. */
function hold(options, held) {
  return navigator.locks ? navigator.locks.request(name(), options, held) : held();
}

/** Takes the lead, or waits for it. A tab in view does not wait: the browser may have put the leader to sleep. */
async function take({ steal }) {
  leave();
  const mine = (turn = new AbortController());
  const left = new Promise((resolve) => mine.signal.addEventListener("abort", resolve));
  const held = () => {
    if (mine.signal.aborted) return undefined;
    leading = true;
    work.begin();
    return left;
  };
  const error = await hold(steal ? { steal } : { signal: mine.signal }, held).catch((refused) => refused);
  if (turn !== mine) return;
  leave();
  const isStolen = error?.name === "AbortError";
  if (isStolen && isNeeded()) take({ steal: false });
}

function leave() {
  const wasLeading = leading;
  leading = false;
  turn?.abort();
  turn = null;
  if (wasLeading) work.end();
}

function looked() {
  clearTimeout(closing);
  if (document.hidden) closing = setTimeout(() => isNeeded() || leave(), HIDDEN_MS);
  else if (!leading) take({ steal: true });
}

/** `begin` and `end` the listening; `hear(name, data)` what another tab passed on. */
export function start(given) {
  work = given;
  channel = navigator.locks ? new BroadcastChannel(name()) : null;
  channel?.addEventListener("message", ({ data }) => work.hear(data.name, data.data));
  if (isNeeded()) take({ steal: !document.hidden });
  document.addEventListener("visibilitychange", looked);
  window.addEventListener("pagehide", leave);
  window.addEventListener("pageshow", (event) => event.persisted && isNeeded() && take({ steal: !document.hidden }));
}
