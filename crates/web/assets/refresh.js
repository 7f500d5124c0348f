// Refresh of the page that is shown, after missed events or when a snoozed item returns. Selection, cursor and typed text
// stay.
import { isShown, refreshConversation } from "./conversation.js";
import { readPage } from "./counts.js";
import { refreshItem, typedTexts } from "./item.js";
import { isTyping } from "./keys.js";
import { isShown as isPulse, refreshPulse } from "./pulse.js";
import { current, list, listUrl, moveTo, updatePresence } from "./rows.js";
import { isShown as isRun, refreshRun } from "./run.js";
import { isShown as isRuns, refreshRuns } from "./runs.js";
import { isSplit } from "./split.js";
import { load, show } from "./swap.js";

const MAX_TRIES = 3;
/** The hub renders this many rows; more were appended here. */
const PAGE_ROWS = 30;
let isRunning = false;
let isQueued = false;
let eventCount = 0;

/** Counts a live event: a page that is loading may not reflect it yet. */
export function noteEvent() {
  eventCount += 1;
}

/** A function that tells whether a live event arrived since this call. */
export function watchEvents() {
  const before = eventCount;
  return () => eventCount !== before;
}

export async function refresh(tries = MAX_TRIES) {
  isQueued ||= isRunning;
  if (isRunning) return;
  isRunning = true;
  const isStale = watchEvents();
  // A failed refresh is retried with the next event or visit.
  await refreshPage(() => isStale() && tries > 1).catch(onFailed);
  isRunning = false;
  if (!isQueued && !isStale()) return;
  isQueued = false;
  if (tries > 1) refresh(tries - 1);
}

/** Reloads the page if another person has signed in, unless that would lose typed text. */
function onFailed(error) {
  if (error.person && typedTexts().length === 0) location.reload();
}

async function refreshPage(isStale) {
  const item = document.getElementById("item");
  if (item) {
    await refreshItem(item.dataset.id);
    if (!isSplit()) return;
  }
  const pages = [[isShown, refreshConversation], [isRun, refreshRun], [isRuns, refreshRuns], [isPulse, refreshPulse]];
  const handler = pages.find(([isCurrent]) => isCurrent());
  if (handler) {
    await handler[1]();
    return;
  }
  if (!document.querySelector("#rows, main .empty")) return;
  const { href: url } = listUrl();
  const page = await load(url);
  if (listUrl().href !== url || page.status !== 200 || isStale()) return;
  readPage(page.main);
  if (signature(page.main) !== signature(document.getElementById("main"))) replaceList(page);
  else updatePresence(page.main);
}

/** The signature of a list: its row ids in order, those with a decision on hold or a waiting agent, the text of an empty list and the next return time. */
function signature(main) {
  const all = [...main.querySelectorAll("#rows > .row:not(.gone)")].slice(0, PAGE_ROWS);
  const marks = (row) => (row.querySelector(".badge.held")?.textContent ?? "") + (row.querySelector(".here") ? "!" : "");
  const ids = all.map((row) => row.dataset.id + marks(row));
  return [...ids, main.querySelector(".empty")?.textContent, main.querySelector("#rows")?.dataset.returnsAt].join();
}

function replaceList(page) {
  if (document.getElementById("main").contains(document.activeElement) && isTyping(document.activeElement)) {
    document.activeElement.addEventListener("blur", () => refresh(), { once: true });
    return;
  }
  const picked = [...document.querySelectorAll(".pick:checked")].map((pick) => pick.value);
  const cursor = current()?.dataset.id;
  const top = current()?.getBoundingClientRect().top;
  const hadFocus = current()?.contains(document.activeElement) ?? false;
  for (const pick of page.main.querySelectorAll(".pick")) pick.checked = picked.includes(pick.value);
  const scroll = window.scrollY;
  if (isSplit()) replaceBesideItem(page);
  else show(page);
  const row = cursor && document.getElementById(`row-${cursor}`);
  if (row) moveTo(row, { focus: hadFocus });
  window.scrollTo(0, scroll);
  // The row in use stays in its place.
  if (row) window.scrollBy(0, row.getBoundingClientRect().top - top);
}

/** The item beside the list stays as it is, with what is typed in it. */
function replaceBesideItem({ main }) {
  main.querySelector("#rows").dataset.url = list().dataset.url;
  document.getElementById("main").replaceWith(document.adoptNode(main));
  for (const name of ["rows", "panel"]) document.dispatchEvent(new CustomEvent(name));
}
