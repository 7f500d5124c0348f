// The rows of a list: the cursor on them, new ones coming in at their place, decided ones leaving.
import { changed as picksChanged } from "./batch.js";
import { changeNotices } from "./counts.js";
import { refresh } from "./refresh.js";
import { parse } from "./swap.js";
import { tell } from "./tell.js";

const FLIPPED_MS = 1500;
const HELD_MS = 5000;
let last = null;

function list() {
  return document.getElementById("rows");
}

function rows() {
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

function names(joined = "") {
  return joined.split(" ").filter(Boolean).map((name) => decodeURIComponent(name.replaceAll("+", " ")));
}

/** Only what the filters in the address let through. */
function isWanted(row) {
  const asked = new URLSearchParams(location.search);
  const { agent, project, kind, tags } = row.dataset;
  const has = { agent: [agent], project: [project], kind: [kind], tag: names(tags) };
  return Object.entries(has).every(([name, values]) => !asked.get(name) || values.includes(asked.get(name)));
}

/** Urgent first, then the longest waiting; notices the other way round. */
function isBefore(row, other) {
  const by = (name) => Number(row.dataset[name]) - Number(other.dataset[name]);
  if (list().dataset.list === "notices") return by("seq") > 0;
  return (by("rank") || by("seq")) < 0;
}

/** The row of something new, for this person. */
export function read(event) {
  const row = document.adoptNode(parse(event.html).querySelector("li.row"));
  complete(row);
  row.classList.add("new");
  return row;
}

/** Puts a row where it belongs, if it belongs into the list that is shown. */
export function insert(which, row) {
  if (list()?.dataset.list !== which || document.getElementById(row.id) || !isWanted(row)) return;
  if (rows().length === 0) {
    refresh();
    return;
  }
  const after = rows().find((other) => isBefore(row, other));
  if (!isOnThisPage(after)) return;
  keepStill(() => list().insertBefore(row, after ?? null));
  document.dispatchEvent(new CustomEvent("rows"));
}

/** The hub renders a row once for everybody who looks on; what differs between them is filled in here. */
function complete(row) {
  const { person } = document.body.dataset;
  for (const field of row.querySelectorAll("input[name=csrf]")) field.value = token();
  for (const field of row.querySelectorAll("input[name=back]")) field.value = location.pathname + location.search;
  if (row.dataset.people === undefined || row.dataset.kind === "notify") return;
  row.dataset.mine = names(row.dataset.people).includes(person) ? "yes" : "no";
  if (row.dataset.mine === "yes" || row.querySelector(".not-mine")) return;
  const badge = document.createElement("span");
  badge.className = "badge not-mine";
  badge.textContent = "not yours to answer";
  row.querySelector(".who")?.append(" ", badge);
}

function token() {
  return document.querySelector("meta[name=csrf]")?.content ?? "";
}

/** The end of a page is not the end of the list, and its beginning not the beginning. */
function isOnThisPage(after) {
  if (!after) return !document.querySelector("main a[rel=next]");
  const asked = new URLSearchParams(location.search);
  return after !== rows()[0] || !(asked.has("cursor") || asked.has("before"));
}

/** What is under the pointer, under the cursor or being read does not move when rows above it come or go. */
function keepStill(change) {
  const isRead = (row) => window.scrollY > 0 && row.getBoundingClientRect().bottom > 0;
  const fixed = list().querySelector(":scope > .row:is(:hover, :focus-within)") ?? rows().find(isRead);
  const before = fixed?.getBoundingClientRect().top;
  change();
  if (fixed?.isConnected) window.scrollBy(0, fixed.getBoundingClientRect().top - before);
}

/** Somebody decided it: the row says so, then it leaves. */
export function flip(id, words) {
  const row = document.getElementById(`row-${id}`);
  if (!row || row.classList.contains("gone") || !["open", "aside"].includes(list()?.dataset.list)) return;
  row.classList.add("gone");
  const pick = row.querySelector(".pick");
  if (pick) Object.assign(pick, { checked: false, disabled: true });
  const said = document.createElement("span");
  said.className = "words";
  said.textContent = words;
  row.append(said);
  picksChanged();
  const since = Date.now();
  const wait = () => {
    const isHeld = list()?.matches(":hover") && Date.now() - since < HELD_MS;
    if (isHeld) setTimeout(wait, 250);
    else leave(row);
  };
  setTimeout(wait, FLIPPED_MS);
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
    changeNotices(-1);
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
