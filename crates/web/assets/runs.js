// The lists of runs and of agents. Rows are added, updated and removed in place; the cursor and the focus stay.
import { anchorScroll, list, rows } from "./rows.js";
import { load, show } from "./swap.js";
import { throttled } from "./throttle.js";

const MIN_INTERVAL_MS = 500;

export function isShown() {
  return ["runs", "agents"].includes(list()?.dataset.list);
}

export const scheduleRefresh = throttled(isShown, refreshRuns, MIN_INTERVAL_MS);

export async function refreshRuns() {
  const url = location.href;
  const page = await load(url);
  const fresh = page.main.querySelector("#rows");
  if (location.href !== url || page.status !== 200 || !isShown() || !fresh) return;
  if (rows().length === 0 || fresh.children.length === 0) {
    show(page);
    return;
  }
  anchorScroll(() => placeRows([...fresh.children]));
  const [pages, freshPages] = [document.querySelector("main > .pages"), page.main.querySelector(".pages")];
  if (pages && freshPages) pages.replaceChildren(...freshPages.childNodes);
  else if (freshPages) list().after(document.adoptNode(freshPages));
  document.dispatchEvent(new CustomEvent("rows"));
}

/** Unchanged rows keep their element, which may have the focus or the pointer. */
function placeRows(fresh) {
  const oldRows = new Map(rows().map((row) => [row.id, row]));
  const ordered = fresh.map((row) => {
    const old = oldRows.get(row.id);
    oldRows.delete(row.id);
    return old && old.dataset.rev === row.dataset.rev ? old : replaceRow(old, document.adoptNode(row));
  });
  for (const row of oldRows.values()) row.remove();
  const { children } = list();
  for (const [at, row] of ordered.entries()) if (children[at] !== row) list().insertBefore(row, children[at] ?? null);
}

function replaceRow(old, row) {
  if (!old) {
    row.classList.add("new");
    return row;
  }
  const hadFocus = old.contains(document.activeElement);
  if (old.hasAttribute("aria-current")) row.setAttribute("aria-current", "true");
  old.replaceWith(row);
  if (hadFocus) row.querySelector("a.title")?.focus({ preventScroll: true });
  return row;
}
