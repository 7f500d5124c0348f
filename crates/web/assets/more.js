// The next page of a list is appended to the rows that are shown, so that the selection stays and the cursor can go on.
import { updateHeadings } from "./groups.js";
import { list } from "./rows.js";
import { load } from "./swap.js";

let loading = null;

function olderLink() {
  return document.querySelector("main .pages a#older");
}

/** Appends the next page. Returns whether there was one. */
export function loadMore() {
  if (!olderLink() || !list()) return Promise.resolve(false);
  loading ??= append(olderLink()).catch(() => false).finally(() => (loading = null));
  return loading;
}

async function append(link) {
  const target = list();
  const { main, status } = await load(link.href);
  if (status !== 200 || list() !== target) return false;
  const fresh = [...main.querySelectorAll("#rows > .row")].filter((row) => !document.getElementById(row.id));
  target.append(...fresh.map((row) => document.adoptNode(row)));
  target.dataset.most = String(Number(target.dataset.most) + fresh.length);
  updateHeadings(target);
  const next = main.querySelector(".pages a#older");
  if (next) link.href = next.href;
  else link.remove();
  document.dispatchEvent(new CustomEvent("rows"));
  return fresh.length > 0;
}

function onClick(event) {
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (!isPlain || !list()?.dataset.most || !event.target.closest?.("a#older")) return;
  event.preventDefault();
  loadMore();
}

export function start() {
  document.addEventListener("click", onClick);
}
