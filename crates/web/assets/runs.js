// The list of runs: rows come, change and stay where they are, without what the reader has in hand being taken away.
import { keepStill, list, rows } from "./rows.js";
import { load, show } from "./swap.js";

const PAUSE_MS = 500;
let renewing = false;
let again = false;

export function isShown() {
  return list()?.dataset.list === "runs";
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Something happened that may concern it. However much it is, the hub is asked now and then only. */
export async function renewSoon() {
  again = true;
  if (renewing) return;
  renewing = true;
  while (again && isShown()) {
    again = false;
    await renewRuns().catch(() => {});
    await pause(PAUSE_MS);
  }
  renewing = false;
}

export async function renewRuns() {
  const before = location.href;
  const page = await load(before);
  const fresh = page.main.querySelector("#rows");
  if (location.href !== before || page.status !== 200 || !isShown() || !fresh) return;
  if (rows().length === 0 || fresh.children.length === 0) {
    show(page);
    return;
  }
  keepStill(() => put([...fresh.children]));
  const [pages, freshPages] = [document.querySelector("main > .pages"), page.main.querySelector(".pages")];
  if (pages && freshPages) pages.replaceChildren(...freshPages.childNodes);
  else if (freshPages) list().after(document.adoptNode(freshPages));
  document.dispatchEvent(new CustomEvent("rows"));
}

/** What did not change is left alone: it may have the focus, or a pointer on it. */
function put(fresh) {
  const known = new Map(rows().map((row) => [row.id, row]));
  const kept = fresh.map((row) => {
    const old = known.get(row.id);
    known.delete(row.id);
    return old && old.dataset.rev === row.dataset.rev ? old : change(old, document.adoptNode(row));
  });
  for (const row of known.values()) row.remove();
  const { children } = list();
  for (const [at, row] of kept.entries()) if (children[at] !== row) list().insertBefore(row, children[at] ?? null);
}

function change(old, row) {
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
