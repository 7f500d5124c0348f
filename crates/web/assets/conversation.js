// The conversation with an agent: it follows live events, stays at its end, and keeps typed text.
import { arm } from "./guard.js";
import { load, show } from "./swap.js";
import { throttled } from "./throttle.js";

/** Parts of the page that change besides the entries. */
const LIVE_PARTS = ["#agent-head .meta-line", "#agent-about .facts", "#reply-box .waiting"];
/** As near to the end of the page as this, in pixels, the end stays in view. */
const NEAR_END = 120;
const MIN_INTERVAL_MS = 500;

const find = (selector, within = document) => within.querySelector(selector);

export function isShown() {
  return find("#conversation") !== null;
}

function entries(within) {
  return [...within.querySelectorAll("#thread > .entry")];
}

function isNearEnd() {
  return window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - NEAR_END;
}

function scrollToEnd() {
  window.scrollTo(0, document.documentElement.scrollHeight);
}

/** A conversation opens at its end, where the reply box is. The frame comes after the scrolling of the navigation. */
export function update() {
  if (isShown() && !find("#conversation[data-earlier]") && entries(document).length > 0) requestAnimationFrame(scrollToEnd);
}

export const scheduleRefresh = throttled(isShown, refreshConversation, MIN_INTERVAL_MS);

export async function refreshConversation() {
  const url = location.href;
  const page = await load(url);
  if (location.href !== url || page.status !== 200 || !isShown() || !find("#thread", page.main)) return;
  if (entries(document).length === 0 && entries(page.main).length > 0 && !typedText()) {
    show(page);
    return;
  }
  const wasNearEnd = isNearEnd();
  const isChanged = placeEntries(entries(page.main));
  for (const part of LIVE_PARTS) replacePart(find(part), find(part, page.main));
  replaceReply(find("#reply-box"), find("#reply-box", page.main));
  if (isChanged) arm();
  if (isChanged && wasNearEnd) scrollToEnd();
  document.dispatchEvent(new CustomEvent("rows"));
}

function typedText() {
  return find("#reply-box .ahead-text")?.value ?? "";
}

/** Unchanged entries keep their element. Entries that left the page at its start stay. */
function placeEntries(fresh) {
  const old = new Map(entries(document).map((entry) => [entry.dataset.id, entry]));
  let isChanged = false;
  for (const entry of fresh) {
    const current = old.get(entry.dataset.id);
    if (current?.dataset.rev === entry.dataset.rev) continue;
    isChanged = true;
    if (current) replaceEntry(current, document.adoptNode(entry));
    else find("#thread").append(document.adoptNode(entry));
  }
  if (isChanged) find("#thread-box > .empty")?.remove();
  return isChanged;
}

function replaceEntry(old, fresh) {
  const hadFocus = old.contains(document.activeElement);
  old.replaceWith(fresh);
  if (hadFocus) find("h2 > a", fresh)?.focus({ preventScroll: true });
}

function replacePart(old, fresh) {
  if (old && fresh && !old.contains(document.activeElement)) old.replaceWith(document.adoptNode(fresh));
}

/** The box answers another question now, or queues: what is typed stays, with the focus. */
function replaceReply(old, fresh) {
  if (!old || !fresh || old.dataset.for === fresh.dataset.for) return;
  const [field, queue] = old.querySelectorAll(".ahead-text");
  const [next, nextQueue] = fresh.querySelectorAll(".ahead-text");
  if ((field?.value || queue?.value) && !next) return;
  const focused = [field, queue].find((one) => one && one === document.activeElement);
  old.replaceWith(document.adoptNode(fresh));
  if (field && next) moveText(field, next, focused === field);
  const target = nextQueue ?? (next?.value ? null : next);
  if (!queue?.value || !target) return;
  if (nextQueue) find("#queue-more").open = true;
  moveText(queue, target, focused === queue);
}

function moveText(from, to, hadFocus) {
  if (from.value) to.value = from.value;
  if (!hadFocus) return;
  to.focus({ preventScroll: true });
  to.setSelectionRange(from.selectionStart, from.selectionEnd);
}

/** Moves the type-ahead text, its selection and the focus to the new panel of an item. Returns whether the focus was moved. */
export function moveTypeAhead(old, hadFocus) {
  const field = find(".ahead-text", old);
  const next = find("#panel .ahead-text");
  if (!field || !next || (!field.value && !hadFocus)) return false;
  moveText(field, next, hadFocus);
  return hadFocus;
}
