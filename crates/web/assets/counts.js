// Open counts in the navigation and in the title. The hub counts and the tabs share its counts: live events alone do not
// suffice, because items are snoozed, return, or were counted already.
import { load } from "./swap.js";
import { broadcast } from "./tabs.js";

const JITTER_MS = 300;
const MIN_INTERVAL_MS = 2000;
let counting = false;
let isQueued = false;

function parseCount(text) {
  return Number.parseInt(text ?? "", 10) || 0;
}

function setCount(id, count) {
  const element = document.getElementById(id);
  if (!element) return;
  element.textContent = String(count);
  element.toggleAttribute("data-none", parseCount(count) === 0);
}

function render({ open, notices, snoozed }) {
  setCount("count", open);
  setCount("notices-count", notices);
  setCount("snoozed-count", snoozed);
  const title = document.title.replace(/^\(\d+\+?\) /, "");
  document.title = parseCount(open) > 0 ? `(${open}) ${title}` : title;
  document.dispatchEvent(new CustomEvent("counts"));
}

/** Counts from this tab or another. Counts from a page may be newer than a recount in flight, so that recount is repeated. */
export function showCounts({ isFromPage, ...counts }) {
  isQueued ||= counting && isFromPage;
  render(counts);
}

function publish(main, isFromPage) {
  const { open, notices, snoozed } = main.dataset;
  // The open count is capped, and "99+" is shown as it is.
  const counts = { open: open ?? "0", notices: parseCount(notices), snoozed: parseCount(snoozed), isFromPage };
  showCounts(counts);
  broadcast("counts", counts);
}

export function readPage(main = document.getElementById("main")) {
  if (main?.dataset.person) publish(main, true);
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Throttled recount: at most one request per interval, after a random delay (jitter) that spreads the load. */
export async function recount() {
  isQueued = true;
  if (counting) return;
  counting = true;
  await sleep(Math.random() * JITTER_MS);
  while (isQueued) {
    isQueued = false;
    const page = await load("/inbox/counts").catch(() => null);
    if (page?.main.dataset.person) publish(page.main, false);
    await sleep(MIN_INTERVAL_MS);
  }
  counting = false;
}
