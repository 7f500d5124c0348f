// How many wait: in the navigation and in the title. The hub counts, and the tabs of a browser tell each other what it said:
// what is set aside, returns, or was counted already cannot be added up from the news.
import { load } from "./swap.js";
import { pass } from "./tabs.js";

const SPREAD_MS = 300;
const PAUSE_MS = 2000;
let counting = false;
let again = false;

function number(text) {
  return Number.parseInt(text ?? "", 10) || 0;
}

function put(id, count) {
  const place = document.getElementById(id);
  if (!place) return;
  place.textContent = String(count);
  place.toggleAttribute("data-none", count === 0);
}

function write({ open, notices }) {
  put("count", open);
  put("notices-count", notices);
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = open > 0 ? `(${open}) ${title}` : title;
  document.dispatchEvent(new CustomEvent("counts"));
}

/** Another tab knows. What a page said may be newer than a count that is on its way. */
export function showCounts({ isFromPage, ...counts }) {
  again ||= counting && isFromPage;
  write(counts);
}

function take(main, isFromPage) {
  const counts = { open: number(main.dataset.open), notices: number(main.dataset.notices), isFromPage };
  showCounts(counts);
  pass("counts", counts);
}

export function fromPage(main = document.getElementById("main")) {
  if (main?.dataset.person) take(main, true);
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Something happened that may have changed them. However much it is, the hub is asked now and then only. */
export async function recount() {
  again = true;
  if (counting) return;
  counting = true;
  await pause(Math.random() * SPREAD_MS);
  while (again) {
    again = false;
    const page = await load("/inbox/counts").catch(() => null);
    if (page?.main.dataset.person) take(page.main, false);
    await pause(PAUSE_MS);
  }
  counting = false;
}
