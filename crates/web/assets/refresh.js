// The page that is shown, once more: when events were missed, or when time has changed it. What the person has picked,
// where the cursor is and what is being typed stay.
import { fromPage } from "./counts.js";
import { renew, typed } from "./item.js";
import { isTyping } from "./keys.js";
import { current, mark, moveTo } from "./rows.js";
import { isShown as isRun, renewRun } from "./run.js";
import { isShown as isRuns, renewRuns } from "./runs.js";
import { load, show } from "./swap.js";
import { isShown, renewTerminals } from "./terminals.js";

const MOST_TRIES = 3;
let running = false;
let again = false;
let news = 0;

/** Something happened: a page that is on its way may not know of it. */
export function heard() {
  news += 1;
}

/** Tells, later, whether anything happened since. */
export function watch() {
  const before = news;
  return () => news !== before;
}

export async function refresh(tries = MOST_TRIES) {
  again ||= running;
  if (running) return;
  running = true;
  const isOld = watch();
  // What fails is tried again with the next news or the next visit.
  await once(() => isOld() && tries > 1).catch(failed);
  running = false;
  if (!again && !isOld()) return;
  again = false;
  if (tries > 1) refresh(tries - 1);
}

/** Somebody else has signed in: the page is theirs now, unless that would lose what was written. */
function failed(error) {
  if (error.person && typed().length === 0) location.reload();
}

async function once(isOld) {
  const item = document.getElementById("item");
  if (item) {
    await renew(item.dataset.id);
    return;
  }
  const own = [[isShown, renewTerminals], [isRun, renewRun], [isRuns, renewRuns]].find(([isIt]) => isIt());
  if (own) {
    await own[1]();
    return;
  }
  if (!document.querySelector("#rows, main .empty")) return;
  const before = location.href;
  const page = await load(before);
  if (location.href !== before || page.status !== 200 || isOld()) return;
  fromPage(page.main);
  if (looks(page.main) !== looks(document.getElementById("main"))) replaceList(page);
  else mark(page.main);
}

/** Two lists with the same rows in the same order look the same; an empty one has words for that. */
function looks(main) {
  const ids = [...main.querySelectorAll("#rows > .row:not(.gone)")].map((row) => row.dataset.id);
  return [...ids, main.querySelector(".empty")?.textContent, main.querySelector("#rows")?.dataset.returnsAt].join();
}

function replaceList(page) {
  if (document.getElementById("main").contains(document.activeElement) && isTyping(document.activeElement)) {
    document.activeElement.addEventListener("blur", () => refresh(), { once: true });
    return;
  }
  const picked = [...document.querySelectorAll(".pick:checked")].map((pick) => pick.value);
  const cursor = current()?.dataset.id;
  const hadFocus = current()?.contains(document.activeElement) ?? false;
  for (const pick of page.main.querySelectorAll(".pick")) pick.checked = picked.includes(pick.value);
  const scroll = window.scrollY;
  show(page);
  const row = cursor && document.getElementById(`row-${cursor}`);
  if (row) moveTo(row, { focus: hadFocus });
  window.scrollTo(0, scroll);
}
