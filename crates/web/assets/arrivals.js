// New rows. Many may come at once: they are gathered for a moment and put in place together, and a list stays one page long.
import { keepStill, list, rows, token } from "./rows.js";
import { parse } from "./swap.js";

const GATHER_MS = 50;
const MOST_WAITING = 200;
/** Rows the person has their hands on are not taken away. */
const HELD = ":is(:hover, :focus-within, [aria-current], :has(.pick:checked))";
/** What narrows a list down, or begins it further down. */
const ASKED = ["agent", "project", "kind", "tag", "cursor", "before"];
const waiting = new Map();
let gathering;

/** The row of something new, for this person. */
export function read(event) {
  const row = document.adoptNode(parse(event.html).querySelector("li.row"));
  complete(row);
  row.classList.add("new");
  return row;
}

/** The hub renders a row once for everybody who looks on; what differs between them is filled in here. */
function complete(row) {
  const { me } = document.getElementById("main").dataset;
  for (const field of row.querySelectorAll("input[name=csrf]")) field.value = token();
  for (const field of row.querySelectorAll("input[name=back]")) field.value = location.pathname + location.search;
  if (row.dataset.people === undefined || row.dataset.kind === "notify") return;
  row.dataset.mine = me && row.dataset.people.split(" ").includes(me) ? "yes" : "no";
  if (row.dataset.mine === "yes" || row.querySelector(".not-mine")) return;
  const badge = document.createElement("span");
  badge.className = "badge not-mine";
  badge.textContent = "not yours to answer";
  row.querySelector(".who")?.append(" ", badge);
}

/** Puts a row where it belongs, in a moment, if it belongs into the list that is shown. */
export function insert(which, row) {
  if (!belongs({ which, row })) return;
  waiting.set(row.dataset.id, { which, row });
  gathering ??= setTimeout(settle, GATHER_MS);
  if (waiting.size >= MOST_WAITING) settle();
}

/** It was decided before it had a place. */
export function forget(id) {
  waiting.delete(id);
}

function belongs({ which, row }) {
  return list()?.dataset.list === which && !document.getElementById(row.id) && isWanted(row) && isOnThisPage(row);
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

function isNotices() {
  return list().dataset.list === "notices";
}

function place({ dataset: { rank, seq } }) {
  return { rank: Number(rank), seq: Number(seq) };
}

/** Urgent first, then the longest waiting; notices the other way round. */
function compare(one, other) {
  if (isNotices()) return other.seq - one.seq;
  return one.rank - other.rank || one.seq - other.seq;
}

/** The place an address goes on from, if it names one. */
function placeIn(search) {
  const text = new URLSearchParams(search).get(isNotices() ? "before" : "cursor");
  const [seq, rank = 0] = (text ?? "").split(".").reverse().map(Number);
  return text ? { rank, seq } : null;
}

function older() {
  return document.querySelector("main .pages a#older");
}

/** The end of a page is not the end of the list, and its beginning not the beginning. */
function isOnThisPage(row) {
  const begin = placeIn(location.search);
  const end = placeIn(older()?.search ?? "");
  return !(begin && compare(place(row), begin) <= 0) && !(end && compare(place(row), end) > 0);
}

function settle() {
  clearTimeout(gathering);
  gathering = undefined;
  const arrived = [...waiting.values()].filter(belongs).map(({ row }) => row);
  waiting.clear();
  if (arrived.length === 0) return;
  // As many as the hub puts on a page.
  const most = Number(list().dataset.most);
  const order = [...rows(), ...arrived].sort((one, other) => compare(place(one), place(other)));
  const cut = order.slice(most).filter((row) => !row.matches(HELD));
  keepStill(() => put(order.filter((row) => !cut.includes(row)), cut));
  if (order.length > most) endAt(place(order[most - 1]));
  document.querySelector("main .empty")?.remove();
  document.dispatchEvent(new CustomEvent("rows"));
}

/** Rows that stay keep their order, so only new ones are ever put anywhere. */
function put(kept, cut) {
  for (const row of cut) row.remove();
  const { children } = list();
  for (const [at, row] of kept.entries()) if (children[at] !== row) list().insertBefore(row, children[at] ?? null);
}

/** The next page goes on from here, unless it did so from further up already. */
function endAt({ rank, seq }) {
  const old = placeIn(older()?.search ?? "");
  if (old && compare(old, { rank, seq }) <= 0) return;
  const url = new URL(location.href);
  url.hash = "";
  url.searchParams.set(...(isNotices() ? ["before", seq] : ["cursor", `${rank}.${seq}`]));
  (older() ?? makeOlder()).href = url.href;
}

function makeOlder() {
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

/** How many are not on this page. The hub counts the whole list only, and of notices only so many. */
function sayMore() {
  if (!older() || !list()) return;
  const asked = new URLSearchParams(location.search);
  const isWhole = list().dataset.list === "open" && !ASKED.some((name) => asked.get(name));
  const open = Number.parseInt(document.getElementById("count")?.textContent ?? "", 10) || 0;
  const more = open - rows().filter((row) => !row.matches(".gone")).length;
  older().textContent = isWhole && more > 0 ? `Next page · ${more} more` : "Next page";
}

export function start() {
  for (const change of ["rows", "shown", "counts"]) document.addEventListener(change, sayMore);
}
