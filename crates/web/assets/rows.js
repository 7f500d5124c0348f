// The rows of a list: the cursor on them, decided ones leaving.
import { changed as picksChanged } from "./batch.js";
import { local } from "./clock.js";
import { recount } from "./counts.js";
import { refresh } from "./refresh.js";
import { tell } from "./tell.js";

const FLIPPED_MS = 1500;
const HELD_MS = 5000;
let last = null;

export function list() {
  return document.getElementById("rows");
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
  last = row.dataset.id;
  if (!focus) return;
  row.querySelector("a.title")?.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

export function move(step) {
  const all = rows().filter((row) => row === current() || !row.matches(".gone, [data-leaving]"));
  const at = all.indexOf(current());
  const row = at < 0 ? all[step > 0 ? 0 : all.length - 1] : all[at + step];
  if (row) moveTo(row);
}

/** Back from an item, the cursor is where it was. */
export function restore() {
  const row = rows().find((one) => one.dataset.id === last);
  if (row) moveTo(row);
  return Boolean(row);
}

export function remember(id) {
  last = id;
}

/** What a form in a row proves itself with. */
export function token() {
  return document.querySelector("meta[name=csrf]")?.content ?? "";
}

/** What is under the pointer, under the cursor or being read does not move when rows above it come or go. */
export function keepStill(change) {
  const isRead = (row) => window.scrollY > 0 && row.getBoundingClientRect().bottom > 0;
  const fixed = list().querySelector(":scope > .row:is(:hover, :focus-within)") ?? rows().find(isRead);
  const before = fixed?.getBoundingClientRect().top;
  change();
  if (fixed?.isConnected) window.scrollBy(0, fixed.getBoundingClientRect().top - before);
}

/** Somebody decided it: the row says so, then it leaves. What was found stays found. */
export function flip(id, words, at) {
  const row = document.getElementById(`row-${id}`);
  const which = list()?.dataset.list;
  if (!row || row.classList.contains("gone")) return;
  if (which === "search") close(row, words, at);
  if (!["open", "aside"].includes(which)) return;
  row.classList.add("gone");
  const pick = row.querySelector(".pick");
  if (pick) Object.assign(pick, { checked: false, disabled: true });
  row.append(saying("words", words, at));
  picksChanged();
  const since = Date.now();
  const wait = () => {
    const isHeld = list()?.matches(":hover") && Date.now() - since < HELD_MS;
    if (isHeld) setTimeout(wait, 250);
    else leave(row);
  };
  setTimeout(wait, FLIPPED_MS);
}

/** Whether the agents of terminals are there, as a page that was just loaded has it. */
export function mark(main) {
  for (const fresh of main.querySelectorAll("#rows > .row .here")) {
    const row = document.getElementById(fresh.closest(".row").id);
    row?.querySelector(".here")?.replaceWith(document.adoptNode(fresh));
  }
}

function saying(className, words, at) {
  const said = document.createElement("span");
  const time = document.createElement("time");
  said.className = className;
  time.dateTime = at.toISOString();
  time.textContent = local(at);
  said.append(`${words} at `, time);
  return said;
}

/** As the hub shows what is decided. */
function close(row, words, at) {
  if (row.querySelector(":scope > .note")) return;
  for (const part of row.querySelectorAll(".age, .expiry, .status, .here, .not-mine")) part.remove();
  delete row.dataset.mine;
  row.append(saying("note", words, at));
}

export function leave(row) {
  if (!row.isConnected) return;
  if (row === current()) {
    const next = row.nextElementSibling ?? row.previousElementSibling;
    if (next) moveTo(next, { focus: row.contains(document.activeElement) });
  }
  keepStill(() => row.remove());
  document.dispatchEvent(new CustomEvent("rows"));
  if (rows().length === 0) refresh();
}

/** A notice is put away with one key; the row leaves when the hub has said so. */
export async function archive(row) {
  const isNotice = row.dataset.kind === "notify" && document.body.dataset.page === "notices";
  if (!isNotice || row.dataset.leaving) return;
  row.dataset.leaving = "yes";
  move(row.nextElementSibling ? 1 : -1);
  if (await post(row.dataset.id)) {
    recount();
    leave(row);
    return;
  }
  delete row.dataset.leaving;
  tell("This notice could not be archived. Try again in a moment.");
}

/** Done is a redirect to the list, which needs no second look. */
async function post(id) {
  const body = new URLSearchParams({ csrf: token(), back: location.pathname + location.search });
  const options = { method: "POST", body, redirect: "manual" };
  const response = await fetch(`/inbox/items/${encodeURIComponent(id)}/archive`, options).catch(() => null);
  return response !== null && (response.type === "opaqueredirect" || response.ok);
}
