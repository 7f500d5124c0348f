// The list beside an item, in a wide window. The list stays the main element of the page; the item is in a pane of its own, and
// the address is that of the item. Without scripts, or in a narrow window, the item is a page of its own.
import { list, listUrl, moveTo } from "./rows.js";
import { t } from "./words.js";

const WIDE = matchMedia("(min-width: 1200px)");

export function pane() {
  return document.getElementById("detail");
}

export function isSplit() {
  return pane() !== null;
}

/** Whether a page can be shown beside the list. */
export function canSplit(page) {
  return WIDE.matches && list()?.dataset.list === "open" && page.main.dataset.page === "item" && page.main.querySelector("#item");
}

/** Shows an item in the pane. The list remembers its own address, because that of the window changes. */
export function showItem({ main }) {
  list().dataset.url ??= location.pathname + location.search;
  const { open, notices, snoozed } = main.dataset;
  Object.assign(document.getElementById("main").dataset, { open, notices, snoozed });
  let detail = pane();
  if (!detail) {
    detail = document.createElement("section");
    detail.id = "detail";
    detail.setAttribute("aria-label", t("Item"));
    document.getElementById("main").after(detail);
    document.documentElement.dataset.split = "";
  }
  detail.replaceChildren(...document.adoptNode(main).childNodes);
  detail.scrollTop = 0;
  markRow();
}

/** Puts the cursor on the row of the item that is shown. */
export function markRow() {
  const id = pane()?.querySelector("#item")?.dataset.id;
  const row = id && document.getElementById(`row-${id}`);
  if (!row) return;
  moveTo(row, { focus: false });
  row.scrollIntoView({ block: "nearest" });
}

export function close() {
  pane()?.remove();
  delete document.documentElement.dataset.split;
}

/** Whether an address is that of the list that is shown. */
export function isListUrl(url) {
  return isSplit() && url.href === listUrl().href;
}

/** A window that has become narrow shows the item alone, after the next load. */
export function start() {
  WIDE.addEventListener("change", () => isSplit() && !WIDE.matches && location.reload());
}
