// The page of one run. A stream says that something changed and what an agent writes meanwhile; how the run stands is asked of
// the hub, and only what changed is put in place: what the reader unfolded, typed or has the focus on stays.
import { arm } from "./guard.js";
import { load } from "./swap.js";
import { tell } from "./tell.js";

const PAUSE_MS = 250;
const RETRY_MS = 5000;
const MOST_LINES = 300;
const MOST_CHARS = 100_000;
let source = null;
let following = "";
let retrying;
let renewing = false;
let again = false;

function run() {
  return document.getElementById("run");
}

/** Not a page of earlier steps, which does not change. */
export function isShown() {
  return run()?.dataset.seq !== undefined;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function renewSoon() {
  again = true;
  if (renewing) return;
  renewing = true;
  while (again && isShown()) {
    again = false;
    await renewRun().catch(() => {});
    await pause(PAUSE_MS);
  }
  renewing = false;
}

export async function renewRun() {
  const { id } = run().dataset;
  const page = await load(location.href);
  if (page.status === 200 && run()?.dataset.id === id) put(page.main.querySelector("#run"));
}

/** A form of this page was sent, and this is what the page has become. Says whether it was such a page. */
export function goOn({ main }) {
  const fresh = main.querySelector("#run");
  if (!isShown() || fresh?.dataset.id !== run().dataset.id) return false;
  for (const field of document.querySelectorAll("#answer textarea")) field.value = "";
  put(fresh);
  return true;
}

function put(fresh) {
  const old = run();
  // Two may be on their way, and the older one come last.
  if (!fresh || old.dataset.id !== fresh.dataset.id || Number(fresh.dataset.seq) < Number(old.dataset.seq)) return;
  Object.assign(old.dataset, fresh.dataset);
  for (const part of ["#run-head", "#about"]) change(old.querySelector(part), fresh.querySelector(part));
  putLines([...fresh.querySelectorAll("#steps > li")]);
  putPanel(fresh.querySelector("#panel"));
  if (fresh.querySelector("#steps > li")) document.getElementById("no-steps")?.remove();
  document.dispatchEvent(new CustomEvent("panel"));
}

/** Lines that are no longer on a page of the hub stay, up to a point. */
function putLines(fresh) {
  const steps = document.getElementById("steps");
  for (const line of fresh) {
    const old = document.getElementById(line.id);
    if (old) change(old, line);
    else steps.append(document.adoptNode(line));
  }
  const extra = steps.children.length - MOST_LINES;
  for (const line of [...steps.children].slice(0, Math.max(0, extra))) line.remove();
  if (extra > 0) endAt(steps.firstElementChild.dataset.seq);
}

/** What is above is on the page before. */
function endAt(seq) {
  let link = document.getElementById("earlier");
  if (!link) {
    const pages = document.createElement("p");
    pages.className = "pages";
    link = document.createElement("a");
    Object.assign(link, { id: "earlier", rel: "prev", textContent: "Earlier steps" });
    pages.append(link);
    document.getElementById("steps").before(pages);
  }
  link.href = `${location.pathname}?before=${seq}`;
}

function focusable(part) {
  return [...part.querySelectorAll("a[href], button, summary, pre[tabindex], input, textarea")];
}

/** One for the other, unless they are the same: what was unfolded stays so, and the focus is where it was. */
function change(old, line) {
  if (!old || !line || old.dataset.rev === line.dataset.rev) return;
  const fresh = document.adoptNode(line);
  const open = [...old.querySelectorAll("details")].map((box) => box.open);
  for (const [at, box] of [...fresh.querySelectorAll("details")].entries()) if (open[at]) box.open = true;
  if (old.tagName === "DETAILS") fresh.open = old.open;
  const at = focusable(old).indexOf(document.activeElement);
  carry(old.querySelector(".stream"), fresh.querySelector(".stream"));
  old.replaceWith(fresh);
  if (at >= 0) focusable(fresh)[at]?.focus({ preventScroll: true });
}

/** What an agent is writing goes on. */
function carry(old, stream) {
  if (!old || !stream) return;
  stream.textContent = old.textContent;
  stream.hidden = old.hidden;
}

function putPanel(fresh) {
  const old = document.getElementById("panel");
  if (!fresh || old.dataset.rev === fresh.dataset.rev) return;
  const words = document.querySelector("#answer textarea")?.value.trim();
  const hadFocus = old.contains(document.activeElement);
  const next = document.adoptNode(fresh);
  old.replaceWith(next);
  if (words) next.append(unused(words));
  arm();
  if (!hadFocus) return;
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
}

/** Somebody else was first. */
function unused(words) {
  const section = document.createElement("section");
  const heading = document.createElement("h2");
  const text = document.createElement("div");
  heading.textContent = "What you had typed";
  text.id = "typed";
  text.textContent = words;
  section.append(heading, text);
  tell("It does not wait for this answer any more.");
  return section;
}

function write({ fresh, text }) {
  const stream = document.querySelector("#steps > .at-work .stream");
  if (!stream) return;
  if (fresh) stream.textContent = "";
  stream.append(text);
  stream.normalize();
  if (stream.textContent.length > MOST_CHARS) stream.textContent = stream.textContent.slice(-MOST_CHARS);
  stream.hidden = stream.textContent === "";
}

function listen() {
  const { id, seq } = run().dataset;
  following = id;
  source = new EventSource(`/runs/${encodeURIComponent(id)}/events?after=${seq}`);
  source.addEventListener("changed", renewSoon);
  source.addEventListener("text", ({ data }) => write(JSON.parse(data)));
  source.addEventListener("error", ({ target }) => {
    // The browser gives up when the answer was no stream at all.
    if (target === source && target.readyState === EventSource.CLOSED) retrying = setTimeout(listenAgain, RETRY_MS);
  });
}

function listenAgain() {
  leave();
  look();
}

function leave() {
  clearTimeout(retrying);
  source?.close();
  source = null;
  following = "";
}

/** A page stands, or has come into view or gone out of it. */
export function look() {
  const wanted = isShown() && !document.hidden ? run().dataset.id : "";
  if (wanted === following) return;
  leave();
  if (wanted) listen();
}

export function start() {
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && isShown()) renewSoon();
    look();
  });
  window.addEventListener("pagehide", leave);
  window.addEventListener("pageshow", look);
}
