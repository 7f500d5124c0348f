// The rows of a list: the cursor, and the removal of resolved rows.
import { updateBar as updateBatchBar } from "./batch.js";
import { formatLocal } from "./clock.js";
import { updateHeadings } from "./groups.js";
import { putAway } from "./put_away.js";
import { refresh } from "./refresh.js";
import { showToast } from "./tell.js";
import { t } from "./words.js";

const RESOLVED_SHOWN_MS = 1500;
const MAX_HOVER_MS = 5000;
let lastId = null;

export function list() {
  return document.getElementById("rows");
}

/** The address of the list that is shown; beside an item the address of the window is that of the item. */
export function listUrl() {
  return new URL(list()?.dataset.url ?? location.href, location.href);
}

export function rows() {
  return [...(list()?.querySelectorAll(":scope > .row") ?? [])];
}

export function current() {
  return list()?.querySelector(":scope > .row[aria-current]") ?? null;
}

export function moveTo(row, { focus = true } = {}) {
  current()?.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
  lastId = row.dataset.id;
  if (!focus) return;
  row.querySelector("a.title")?.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

/** Moves the cursor. Returns false at the end of the list. */
export function move(step) {
  const all = rows().filter((row) => row === current() || !row.matches(".gone, [data-leaving]"));
  const at = all.indexOf(current());
  const row = at < 0 ? all[step > 0 ? 0 : all.length - 1] : all[at + step];
  if (row) moveTo(row);
  return Boolean(row);
}

/** The link of the first open row after that of an item; null at the end of the list. */
export function nextLink(id) {
  const all = rows();
  const at = all.findIndex((row) => row.dataset.id === id);
  const isOpen = (row) => !row.matches(".gone, [data-leaving], :has(.badge.held)");
  return at < 0 ? null : (all.slice(at + 1).find(isOpen)?.querySelector("a.title") ?? null);
}

/** Puts the cursor back on its last row, after the return from an item. */
export function restoreCursor() {
  const row = rows().find((one) => one.dataset.id === lastId);
  if (row) moveTo(row);
  return Boolean(row);
}

export function rememberCursor(id) {
  lastId = id;
}

/** The CSRF token of this page. */
export function csrfToken() {
  return document.querySelector("meta[name=csrf]")?.content ?? "";
}

/** Scroll anchoring: the row under the pointer, with the focus, or first in view does not move when rows above it change. */
export function anchorScroll(change) {
  const isVisible = (row) => window.scrollY > 0 && row.getBoundingClientRect().bottom > 0;
  const anchor = list().querySelector(":scope > .row:is(:hover, :focus-within)") ?? rows().find(isVisible);
  const before = anchor?.getBoundingClientRect().top;
  change();
  if (anchor?.isConnected) window.scrollBy(0, anchor.getBoundingClientRect().top - before);
}

/** Shows the outcome in the row of a resolved item, then removes the row. Rows of a search result stay. */
export function markResolved(id, message, at) {
  const row = document.getElementById(`row-${id}`);
  const listName = list()?.dataset.list;
  if (!row || row.classList.contains("gone")) return;
  if (listName === "search") showOutcome(row, message, at);
  if (!["open", "aside"].includes(listName)) return;
  row.classList.add("gone");
  const pick = row.querySelector(".pick");
  if (pick) Object.assign(pick, { checked: false, disabled: true });
  row.append(outcomeElement("words", message, at));
  updateBatchBar();
  const resolvedAt = Date.now();
  const removeWhenFree = () => {
    const isHovered = list()?.matches(":hover") && Date.now() - resolvedAt < MAX_HOVER_MS;
    if (isHovered) setTimeout(removeWhenFree, 250);
    else removeRow(row);
  };
  setTimeout(removeWhenFree, RESOLVED_SHOWN_MS);
}

/** Copies the presence of terminal agents from a freshly loaded page. */
export function updatePresence(main) {
  for (const fresh of main.querySelectorAll("#rows > .row .here")) {
    const row = document.getElementById(fresh.closest(".row").id);
    row?.querySelector(".here")?.replaceWith(document.adoptNode(fresh));
  }
}

function outcomeElement(className, message, at) {
  const element = document.createElement("span");
  const time = document.createElement("time");
  element.className = className;
  time.dateTime = at.toISOString();
  time.textContent = formatLocal(at);
  const [before, after] = t("{outcome} at {time}", { outcome: message }).split("{time}");
  element.append(before, time, after);
  return element;
}

/** Renders the outcome as the hub renders a resolved row. */
function showOutcome(row, message, at) {
  if (row.querySelector(":scope > .note")) return;
  for (const part of row.querySelectorAll(".age, .expiry, .status, .here, .not-mine")) part.remove();
  delete row.dataset.mine;
  row.append(outcomeElement("note", message, at));
}

export function removeRow(row) {
  if (!row.isConnected) return;
  if (row === current()) {
    const all = rows();
    const next = all[all.indexOf(row) + 1] ?? all[all.indexOf(row) - 1];
    if (next) moveTo(next, { focus: row.contains(document.activeElement) });
  }
  anchorScroll(() => {
    row.remove();
    updateHeadings(list());
  });
  document.dispatchEvent(new CustomEvent("rows"));
  if (rows().length === 0) refresh();
}

/** Archives a notice; the row is removed after the hub confirmed it. */
export async function archive(row) {
  const isNotice = row.dataset.kind === "notify" && document.body.dataset.page === "notices";
  if (!isNotice || row.dataset.leaving) return;
  row.dataset.leaving = "yes";
  move(rows().at(-1) === row ? -1 : 1);
  if (await putAway(row.dataset.id, "archive")) {
    removeRow(row);
    return;
  }
  delete row.dataset.leaving;
  showToast(t("This notice could not be archived. Try again in a moment."));
}
