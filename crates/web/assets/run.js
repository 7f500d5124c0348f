// The run page. An event stream signals changes and carries the text an agent is writing; the state of the run is loaded from
// the hub. Only changed parts are replaced, so open details, typed text and the focus stay.
import { arm } from "./guard.js";
import { load, parse } from "./swap.js";
import { showToast } from "./tell.js";
import { t } from "./words.js";

const MIN_INTERVAL_MS = 250;
const RETRY_MS = 5000;
const MAX_LINES = 300;
const MAX_BLOCKS = 300;
let source = null;
let followedId = "";
let retryTimer;
let isRefreshing = false;
let isQueued = false;

function runElement() {
  return document.getElementById("run");
}

/** Whether the current page of a run is shown; a page of earlier steps does not change. */
export function isShown() {
  return runElement()?.dataset.seq !== undefined;
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function scheduleRefresh() {
  isQueued = true;
  if (isRefreshing) return;
  isRefreshing = true;
  while (isQueued && isShown()) {
    isQueued = false;
    await refreshRun().catch(() => {});
    await sleep(MIN_INTERVAL_MS);
  }
  isRefreshing = false;
}

export async function refreshRun() {
  const { id } = runElement().dataset;
  const page = await load(location.href);
  if (page.status === 200 && runElement()?.dataset.id === id) applyRun(page.main.querySelector("#run"));
}

/** Applies the response to a form of the run page. Returns whether the response was the page of this run. */
export function applyRunPage({ main }) {
  const fresh = main.querySelector("#run");
  if (!isShown() || fresh?.dataset.id !== runElement().dataset.id) return false;
  for (const field of document.querySelectorAll("#answer textarea")) field.value = "";
  applyRun(fresh);
  return true;
}

function applyRun(fresh) {
  const old = runElement();
  // Two loads may overlap, and the older response may arrive last.
  if (!fresh || old.dataset.id !== fresh.dataset.id || Number(fresh.dataset.seq) < Number(old.dataset.seq)) return;
  Object.assign(old.dataset, fresh.dataset);
  for (const part of ["#run-head", "#to-come", "#about"]) replacePart(old.querySelector(part), fresh.querySelector(part));
  updateLines([...fresh.querySelectorAll("#steps > li")]);
  updatePanel(fresh.querySelector("#panel"));
  if (fresh.querySelector("#steps > li")) document.getElementById("no-steps")?.remove();
  document.dispatchEvent(new CustomEvent("panel"));
}

/** Lines that are no longer in the hub's page stay, up to `MAX_LINES`. */
function updateLines(fresh) {
  const steps = document.getElementById("steps");
  for (const line of fresh) {
    const old = document.getElementById(line.id);
    if (old) replacePart(old, line);
    else steps.append(document.adoptNode(line));
  }
  const excess = steps.children.length - MAX_LINES;
  for (const line of [...steps.children].slice(0, Math.max(0, excess))) line.remove();
  if (excess > 0) linkEarlier(steps.firstElementChild.dataset.seq);
}

/** The link to the page with the removed lines. */
function linkEarlier(seq) {
  let link = document.getElementById("earlier");
  if (!link) {
    const pages = document.createElement("p");
    pages.className = "pages";
    link = document.createElement("a");
    Object.assign(link, { id: "earlier", rel: "prev", textContent: t("Earlier steps") });
    pages.append(link);
    document.getElementById("steps").before(pages);
  }
  link.href = `${location.pathname}?before=${seq}`;
}

function focusable(part) {
  return [...part.querySelectorAll("a[href], button, summary, pre[tabindex], input, textarea")];
}

/** Replaces a part whose revision changed. Open details and the focus stay. */
function replacePart(old, line) {
  if (!old || !line || old.dataset.rev === line.dataset.rev) return;
  const fresh = document.adoptNode(line);
  const open = [...old.querySelectorAll("details")].map((box) => box.open);
  for (const [at, box] of [...fresh.querySelectorAll("details")].entries()) if (open[at]) box.open = true;
  if (old.tagName === "DETAILS") fresh.open = old.open;
  const at = focusable(old).indexOf(document.activeElement);
  copyStream(old.querySelector(".stream"), fresh.querySelector(".stream"));
  old.replaceWith(fresh);
  if (at >= 0) focusable(fresh)[at]?.focus({ preventScroll: true });
}

/** Keeps the text that an agent is writing. */
function copyStream(old, stream) {
  if (!old || !stream) return;
  stream.replaceChildren(...old.childNodes);
  stream.hidden = old.hidden;
}

function updatePanel(fresh) {
  const old = document.getElementById("panel");
  if (!fresh || old.dataset.rev === fresh.dataset.rev) return;
  const typedText = document.querySelector("#answer textarea")?.value.trim();
  const hadFocus = old.contains(document.activeElement);
  const next = document.adoptNode(fresh);
  old.replaceWith(next);
  if (typedText) next.append(typedSection(typedText));
  arm();
  if (!hadFocus) return;
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
}

/** The unsent text of the person, after the question was answered elsewhere. */
function typedSection(typedText) {
  const section = document.createElement("section");
  const heading = document.createElement("h2");
  const text = document.createElement("div");
  heading.textContent = t("What you had typed");
  text.id = "typed";
  text.textContent = typedText;
  section.append(heading, text);
  showToast(t("It does not wait for this answer any more."));
  return section;
}

/** Complete blocks are appended; the growing one replaces the one before. */
function appendText({ fresh, complete, growing }) {
  const stream = document.querySelector("#steps > .at-work .stream");
  if (!stream) return;
  const [blocks, last] = stream.children;
  if (fresh) blocks.replaceChildren();
  if (complete) blocks.append(...parse(complete).body.childNodes);
  while (blocks.children.length > MAX_BLOCKS) blocks.firstElementChild.remove();
  last.replaceChildren(...(growing ? parse(growing).body.childNodes : []));
  stream.hidden = stream.textContent === "";
}

function connect() {
  const { id, seq } = runElement().dataset;
  followedId = id;
  source = new EventSource(`/runs/${encodeURIComponent(id)}/events?after=${seq}`);
  source.addEventListener("changed", scheduleRefresh);
  source.addEventListener("text", ({ data }) => appendText(JSON.parse(data)));
  source.addEventListener("error", ({ target }) => {
    // The browser stops retrying after a response that is not an event stream.
    if (target === source && target.readyState === EventSource.CLOSED) retryTimer = setTimeout(reconnect, RETRY_MS);
  });
}

function reconnect() {
  disconnect();
  update();
}

function disconnect() {
  clearTimeout(retryTimer);
  source?.close();
  source = null;
  followedId = "";
}

/** Connects or disconnects the event stream after a page swap or a visibility change. */
export function update() {
  const wantedId = isShown() && !document.hidden ? runElement().dataset.id : "";
  if (wantedId === followedId) return;
  disconnect();
  if (wantedId) connect();
}

export function start() {
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && isShown()) scheduleRefresh();
    update();
  });
  window.addEventListener("pagehide", disconnect);
  window.addEventListener("pageshow", update);
}
