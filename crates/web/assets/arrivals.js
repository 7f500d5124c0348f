// New rows from live events. Rows are batched for a moment and inserted together; a list stays one page long.
import { anchorScroll, csrfToken, list, rows } from "./rows.js";
import { parse } from "./swap.js";

const BATCH_MS = 50;
const MAX_BATCH = 200;
/** Rows in use (hovered, focused, current or picked) are not removed. */
const IN_USE = ":is(:hover, :focus-within, [aria-current], :has(.pick:checked))";
/** Query parameters that filter a list or page through it. */
const QUERY_PARAMS = ["agent", "project", "kind", "tag", "cursor", "before"];
const pending = new Map();
let batchTimer;

/** The row of a new message, completed for the signed-in person. */
export function parseRow(event) {
  const row = document.adoptNode(parse(event.html).querySelector("li.row"));
  personalize(row);
  row.classList.add("new");
  return row;
}

/** Per-person parts of a row: the hub renders the row once for all viewers, and these parts are filled in here. */
function personalize(row) {
  const { me } = document.getElementById("main").dataset;
  for (const field of row.querySelectorAll("input[name=csrf]")) field.value = csrfToken();
  for (const field of row.querySelectorAll("input[name=back]")) field.value = location.pathname + location.search;
  if (row.dataset.people === undefined || row.dataset.kind === "notify") return;
  row.dataset.mine = me && row.dataset.people.split(" ").includes(me) ? "yes" : "no";
  if (row.dataset.mine === "yes" || row.querySelector(".not-mine")) return;
  const badge = document.createElement("span");
  badge.className = "badge not-mine";
  badge.textContent = "not yours to answer";
  row.querySelector(".who")?.append(" ", badge);
}

/** Queues a row for the next batch, if it belongs in the list that is shown. */
export function insert(listName, row) {
  if (!belongs({ listName, row })) return;
  pending.set(row.dataset.id, { listName, row });
  batchTimer ??= setTimeout(flush, BATCH_MS);
  if (pending.size >= MAX_BATCH) flush();
}

/** Removes a queued row whose message was resolved before the batch was inserted. */
export function dropPending(id) {
  pending.delete(id);
}

function belongs({ listName, row }) {
  return list()?.dataset.list === listName && !document.getElementById(row.id) && matchesFilters(row) && isOnThisPage(row);
}

function decodeNames(joined = "") {
  return joined.split(" ").filter(Boolean).map((name) => decodeURIComponent(name.replaceAll("+", " ")));
}

/** Whether a row passes the filters in the URL. */
function matchesFilters(row) {
  const params = new URLSearchParams(location.search);
  const { agent, project, kind, tags } = row.dataset;
  const actual = { agent: [agent], project: [project], kind: [kind], tag: decodeNames(tags) };
  return Object.entries(actual).every(([name, values]) => !params.get(name) || values.includes(params.get(name)));
}

function isNotices() {
  return list().dataset.list === "notices";
}

function sortKey({ dataset: { rank, seq } }) {
  return { rank: Number(rank), seq: Number(seq) };
}

/** Sort order: urgent first, then oldest first; notices are newest first. */
function compare(one, other) {
  if (isNotices()) return other.seq - one.seq;
  return one.rank - other.rank || one.seq - other.seq;
}

/** The cursor in a query string, or null. */
function cursorIn(search) {
  const text = new URLSearchParams(search).get(isNotices() ? "before" : "cursor");
  const [seq, rank = 0] = (text ?? "").split(".").reverse().map(Number);
  return text ? { rank, seq } : null;
}

function olderLink() {
  return document.querySelector("main .pages a#older");
}

/** Whether a row falls between the first and the last position of the page that is shown. */
function isOnThisPage(row) {
  const begin = cursorIn(location.search);
  const end = cursorIn(olderLink()?.search ?? "");
  return !(begin && compare(sortKey(row), begin) <= 0) && !(end && compare(sortKey(row), end) > 0);
}

function flush() {
  clearTimeout(batchTimer);
  batchTimer = undefined;
  const added = [...pending.values()].filter(belongs).map(({ row }) => row);
  pending.clear();
  if (added.length === 0) return;
  // The page size of the hub.
  const pageSize = Number(list().dataset.most);
  const order = [...rows(), ...added].sort((one, other) => compare(sortKey(one), sortKey(other)));
  const removed = order.slice(pageSize).filter((row) => !row.matches(IN_USE));
  anchorScroll(() => placeRows(order.filter((row) => !removed.includes(row)), removed));
  if (order.length > pageSize) setNextPage(sortKey(order[pageSize - 1]));
  document.querySelector("main .empty")?.remove();
  document.dispatchEvent(new CustomEvent("rows"));
}

/** Existing rows keep their order, so only new rows are inserted. */
function placeRows(remaining, removed) {
  for (const row of removed) row.remove();
  const { children } = list();
  for (const [at, row] of remaining.entries()) if (children[at] !== row) list().insertBefore(row, children[at] ?? null);
}

/** Sets the cursor of the next-page link, unless that link already begins further up. */
function setNextPage({ rank, seq }) {
  const old = cursorIn(olderLink()?.search ?? "");
  if (old && compare(old, { rank, seq }) <= 0) return;
  const url = new URL(location.href);
  url.hash = "";
  url.searchParams.set(...(isNotices() ? ["before", seq] : ["cursor", `${rank}.${seq}`]));
  (olderLink() ?? createOlderLink()).href = url.href;
}

function createOlderLink() {
  let pages = document.querySelector("main .pages");
  if (!pages) {
    pages = document.createElement("nav");
    pages.className = "pages";
    pages.setAttribute("aria-label", "Pages");
    list().after(pages);
  }
  const link = document.createElement("a");
  Object.assign(link, { id: "older", rel: "next", textContent: "Next page" });
  pages.append(link);
  return link;
}

/**
 * The number of open items beyond this page, for the label of the next-page link.
 * The hub counts the unfiltered list only, and caps the count of notices.
 */
function updateOlderLabel() {
  if (!olderLink() || !list()) return;
  const params = new URLSearchParams(location.search);
  const isUnfiltered = list().dataset.list === "open" && !QUERY_PARAMS.some((name) => params.get(name));
  const open = Number.parseInt(document.getElementById("count")?.textContent ?? "", 10) || 0;
  const more = open - rows().filter((row) => !row.matches(".gone")).length;
  olderLink().textContent = isUnfiltered && more > 0 ? `Next page · ${more} more` : "Next page";
}

export function start() {
  for (const change of ["rows", "shown", "counts"]) document.addEventListener(change, updateOlderLabel);
}
