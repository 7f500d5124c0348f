// New rows from live events. Rows are batched for a moment and inserted together; a list stays one page long.
import { compareKeys, cursorAfter, sortKey, updateHeadings } from "./groups.js";
import { anchorScroll, csrfToken, list, listUrl, rows } from "./rows.js";
import { parse } from "./swap.js";
import { t } from "./words.js";

const BATCH_MS = 50;
const MAX_BATCH = 200;
/** Rows in use (hovered, focused, current or picked) are not removed. */
const IN_USE = ":is(:hover, :focus-within, [aria-current], :has(.pick:checked))";
/** Query parameters that filter a list or page through it. */
const QUERY_PARAMS = ["agent", "project", "kind", "tag", "show", "cursor", "before"];
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
  for (const field of row.querySelectorAll("input[name=back]")) field.value = listUrl().pathname + listUrl().search;
  const title = row.querySelector("a.title");
  title.href = title.getAttribute("href") + (list()?.dataset.itemQuery ?? "");
  if (row.dataset.people === undefined || row.dataset.kind === "notify") return;
  row.dataset.mine = me && row.dataset.people.split(" ").includes(me) ? "yes" : "no";
  if (row.dataset.mine === "no") row.querySelector(".quick")?.remove();
  if (row.dataset.mine === "yes" || row.querySelector(".not-mine")) return;
  const badge = document.createElement("span");
  badge.className = "badge not-mine";
  badge.textContent = t("not yours to answer");
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
  const isShown = list()?.dataset.list === listName && !document.getElementById(row.id);
  return isShown && matchesScope(row) && matchesFilters(row) && isOnThisPage(row);
}

function decodeNames(joined = "") {
  return joined.split(" ").filter(Boolean).map((name) => decodeURIComponent(name.replaceAll("+", " ")));
}

/** Whether the list shows what other people have to answer, or the row is for this person. */
function matchesScope(row) {
  return list().dataset.show !== "mine" || row.dataset.mine !== "no";
}

/** Whether a row passes the filters in the URL. */
function matchesFilters(row) {
  const params = listUrl().searchParams;
  const { agent, project, kind, tags } = row.dataset;
  const actual = { agent: [agent], project: [project], kind: [kind], tag: decodeNames(tags) };
  return Object.entries(actual).every(([name, values]) => !params.get(name) || values.includes(params.get(name)));
}

function isNotices() {
  return list().dataset.list === "notices";
}

function olderLink() {
  return document.querySelector("main .pages a#older");
}

/** Whether a row falls between the first and the last row of the pages that are shown. */
function isOnThisPage(row) {
  const all = rows();
  const key = sortKey(row, list());
  const isLater = listUrl().searchParams.get(isNotices() ? "before" : "cursor");
  const isBefore = (other) => compareKeys(key, sortKey(other, list())) < 0;
  if (isLater && (all.length === 0 || isBefore(all[0]))) return false;
  return !olderLink() || all.length === 0 || isBefore(all.at(-1));
}

function flush() {
  clearTimeout(batchTimer);
  batchTimer = undefined;
  const added = [...pending.values()].filter(belongs).map(({ row }) => row);
  pending.clear();
  if (added.length === 0) return;
  // The page size of the hub.
  const pageSize = Number(list().dataset.most);
  const keys = new Map([...rows(), ...added].map((row) => [row, sortKey(row, list())]));
  const order = [...keys.keys()].sort((one, other) => compareKeys(keys.get(one), keys.get(other)));
  const removed = order.slice(pageSize).filter((row) => !row.matches(IN_USE));
  anchorScroll(() => placeRows(order.filter((row) => !removed.includes(row)), removed));
  if (order.length > pageSize) setNextPage(order[pageSize - 1]);
  document.querySelector("main .empty")?.remove();
  document.dispatchEvent(new CustomEvent("rows"));
}

/** Existing rows keep their order, so only new rows are inserted. */
function placeRows(remaining, removed) {
  for (const row of removed) row.remove();
  let before = null;
  for (const row of [...remaining].reverse()) {
    if (row.parentElement !== list()) list().insertBefore(row, before);
    before = row;
  }
  updateHeadings(list());
}

/** The next page begins after the last row that stays. */
function setNextPage(row) {
  const cursor = cursorAfter(row, list());
  if (!cursor) return;
  const url = listUrl();
  url.hash = "";
  url.searchParams.set(isNotices() ? "before" : "cursor", cursor);
  (olderLink() ?? createOlderLink()).href = url.href;
}

function createOlderLink() {
  let pages = document.querySelector("main .pages");
  if (!pages) {
    pages = document.createElement("nav");
    pages.className = "pages";
    pages.setAttribute("aria-label", t("Pages"));
    list().after(pages);
  }
  const link = document.createElement("a");
  Object.assign(link, { id: "older", rel: "next", textContent: t("Next page") });
  pages.append(link);
  return link;
}

/**
 * The number of open items beyond this page, for the label of the next-page link.
 * The hub counts the unfiltered list only, and caps its counts: "99+".
 */
function updateOlderLabel() {
  if (!olderLink() || !list()) return;
  const params = listUrl().searchParams;
  const isUnfiltered = list().dataset.list === "open" && !QUERY_PARAMS.some((name) => params.get(name));
  const count = document.getElementById("count")?.textContent ?? "";
  const more = (Number.parseInt(count, 10) || 0) - rows().filter((row) => !row.matches(".gone")).length;
  const label = count.endsWith("+") ? `${more}+` : String(more);
  olderLink().textContent = isUnfiltered && more > 0 ? t("Next page · {count} more", { count: label }) : t("Next page");
}

export function start() {
  for (const change of ["rows", "shown", "counts"]) document.addEventListener(change, updateOlderLabel);
}
