// Page navigation without a reload: the main element of a page is fetched and swapped in. Unexpected responses fall back to
// a full page load.
import { syncClock } from "./clock.js";
import { saveDraft } from "./drafts.js";
import { refresh, watchEvents } from "./refresh.js";
import { restoreCursor } from "./rows.js";
import * as split from "./split.js";
import { showToast } from "./tell.js";
import { t } from "./words.js";

const WORKER = "/inbox/sw.js";

/** The Trusted Types policy: the only conversion from text to HTML or to a script URL. Its input is always rendered by this hub. */
const rules = {
  createHTML: (html) => html,
  createScriptURL: (url) => {
    if (url.split("?")[0] !== WORKER) throw new TypeError(`${url} is no script of ours`);
    return url;
  },
};
const policy = globalThis.trustedTypes?.createPolicy("countersign", rules) ?? rules;

/** Parses a page; scripts in it never run. */
export function parse(html) {
  return new DOMParser().parseFromString(policy.createHTML(html), "text/html");
}

/** The URL of the service worker. It contains the build, so that a new build installs a new worker. */
export function workerUrl(build) {
  return policy.createScriptURL(`${WORKER}?build=${encodeURIComponent(build)}`);
}

/** A response that is not a page of the app, or a session that has ended or belongs to another person (`person`). */
export class UnexpectedResponse extends Error {
  constructor(status, person = "") {
    super(`unexpected answer ${status}`);
    Object.assign(this, { status, person });
  }
}

/** Throws if another tab has signed in a different person: their pages and permissions must not appear under this person's name. */
export function checkPerson(person, status) {
  if (person && person !== document.body.dataset.person) throw new UnexpectedResponse(status, person);
}

export async function load(url, options) {
  const sent = Date.now();
  const response = await fetch(url, { ...options, headers: { "x-fragment": "main" } });
  const received = Date.now();
  const { status, redirected: moved } = response;
  const at = new URL(response.url);
  const isHtml = response.headers.get("content-type")?.startsWith("text/html");
  const page = isHtml && isAppUrl(at) && status !== 401 ? parse(await response.text()) : null;
  const main = page?.querySelector("main#main");
  if (!main) throw new UnexpectedResponse(status);
  checkPerson(main.dataset.person, status);
  syncClock(main, sent, received);
  return { main, title: page.title, url: at, status, moved };
}

export function isAppUrl(url) {
  return url.origin === location.origin && /^\/(inbox|runs)(\/|$)/.test(url.pathname);
}

/** Whether a URL is swapped in. Settings are loaded in full, because they show secrets once and change permissions. */
export function isSwapped(url) {
  const fullLoad = /^\/inbox\/(assets|settings|events|manifest|sw\.js|offline|history\/export)|^\/runs\/[^/]+\/(events|texts)/;
  return isAppUrl(url) && !fullLoad.test(url.pathname);
}

let visiting = null;

/** Whether another page is loading. */
export function isLeaving() {
  return visiting !== null;
}

/** Navigates to a page. `historyMode` is push, replace or keep. Returns null if a later visit superseded this one. */
export async function visit(url, historyMode = defaultHistory(url)) {
  visiting?.abort();
  const controller = (visiting = new AbortController());
  const isStale = watchEvents();
  try {
    const page = await load(url, { signal: controller.signal });
    if (controller.signal.aborted) return null;
    enter(page, historyMode);
    if (isStale()) refresh();
    return true;
  } catch (error) {
    if (controller.signal.aborted) return null;
    if (error instanceof UnexpectedResponse) location.assign(url);
    else if (historyMode === "keep") location.reload();
    else showToast(t("The hub cannot be reached. Try again in a moment."));
    return false;
  } finally {
    if (visiting === controller) visiting = null;
  }
}

/** Item to item replaces the history entry, so that Back returns to the list. */
function defaultHistory(url) {
  const isItem = new URL(url, location.href).pathname.startsWith("/inbox/items/");
  return isItem && document.body.dataset.page === "item" ? "replace" : "push";
}

/** Shows a loaded page and updates the history. */
export function enter(page, historyMode) {
  const depth = history.state?.depth ?? 0;
  if (historyMode === "push") history.pushState({ depth: depth + 1 }, "", page.url);
  if (historyMode === "replace") history.replaceState({ depth }, "", page.url);
  const isBeside = split.canSplit(page);
  const keepsRow = isBeside && document.activeElement?.closest("#rows > .row");
  show(page);
  scrollNav();
  if (!isBeside) window.scrollTo(0, historyMode === "keep" ? (history.state?.scroll ?? 0) : 0);
  if (!keepsRow) focusStart();
}

/** Scrolls the navigation, which is wider than the screen on a phone, to the current link. */
function scrollNav() {
  const link = document.querySelector(".top nav [aria-current]");
  if (link) link.parentElement.scrollLeft = link.offsetLeft - 80;
}

/** Swaps a page in; the URL stays. */
export function show(loaded) {
  const { main, title } = loaded;
  saveDraft();
  document.title = title;
  const page = main.dataset.page ?? "";
  document.body.dataset.page = page;
  if (split.canSplit(loaded)) {
    split.showItem(loaded);
    document.dispatchEvent(new CustomEvent("shown"));
    return;
  }
  split.close();
  document.getElementById("main").replaceWith(document.adoptNode(main));
  for (const link of document.querySelectorAll("a[id^=nav-]")) link.removeAttribute("aria-current");
  const section = { list: "inbox", agent: "agents" }[page] ?? page;
  document.getElementById(`nav-${section}`)?.setAttribute("aria-current", "page");
  document.dispatchEvent(new CustomEvent("shown"));
}

/** Focuses the last row of the list, or the heading of the page. */
function focusStart() {
  if (!split.isSplit() && restoreCursor()) return;
  const heading = split.pane()?.querySelector("h1") ?? document.querySelector("main h1") ?? document.getElementById("main");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

export function back() {
  if (history.state?.depth > 0) history.back();
  else visit({ run: "/runs", agent: "/inbox/agents" }[document.body.dataset.page] ?? "/inbox");
}

function onClick(event) {
  const link = event.target.closest?.("a[href]");
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
  const url = new URL(link.href);
  const isAnchor = url.hash && url.pathname === location.pathname && url.search === location.search;
  if (!isSwapped(url) || isAnchor || !document.body.dataset.person) return;
  event.preventDefault();
  visit(url);
}

let scrollTimer;
/** Stores the scroll position in the history entry, debounced by 100 ms. */
function rememberScroll() {
  clearTimeout(scrollTimer);
  scrollTimer = setTimeout(() => history.replaceState({ ...history.state, scroll: window.scrollY }, ""), 100);
}

export function start() {
  history.scrollRestoration = "manual";
  scrollNav();
  document.addEventListener("click", onClick);
  window.addEventListener("scroll", rememberScroll, { passive: true });
  window.addEventListener("popstate", () => {
    clearTimeout(scrollTimer);
    if (isSwapped(new URL(location.href))) visit(location.href, "keep");
    else location.reload();
  });
}
