// Pages without a reload: the inside of a page is fetched and put in place of the one that is shown. Whatever is unexpected
// is left to the browser.
import { compare } from "./clock.js";
import { keep } from "./drafts.js";
import { refresh, watch } from "./refresh.js";
import { restore } from "./rows.js";
import { tell } from "./tell.js";

const WORKER = "/inbox/sw.js";

/** The one way from text to HTML or to the address of a script. It is given nothing but what this hub rendered. */
const rules = {
  createHTML: (html) => html,
  createScriptURL: (url) => {
    if (url.split("?")[0] !== WORKER) throw new TypeError(`${url} is no script of ours`);
    return url;
  },
};
const policy = globalThis.trustedTypes?.createPolicy("countersign", rules) ?? rules;

/** Scripts in what is parsed never run. */
export function parse(html) {
  return new DOMParser().parseFromString(policy.createHTML(html), "text/html");
}

/** A new build gives the worker a new address, so that it is installed anew. */
export function worker(build) {
  return policy.createScriptURL(`${WORKER}?build=${encodeURIComponent(build)}`);
}

/** Something came back that is not one of our pages, or nobody is signed in any more, or somebody else is. */
export class Surprise extends Error {
  constructor(status, person = "") {
    super(`unexpected answer ${status}`);
    Object.assign(this, { status, person });
  }
}

/** Another tab may have signed somebody else in. Nothing of theirs is put under this name, their right to answer least of all. */
export function checkPerson(person, status) {
  if (person && person !== document.body.dataset.person) throw new Surprise(status, person);
}

export async function load(url, options) {
  const sent = Date.now();
  const response = await fetch(url, { ...options, headers: { "x-fragment": "main" } });
  const received = Date.now();
  const { status, redirected: moved } = response;
  const at = new URL(response.url);
  const isHtml = response.headers.get("content-type")?.startsWith("text/html");
  const page = isHtml && isOurs(at) && status !== 401 ? parse(await response.text()) : null;
  const main = page?.querySelector("main#main");
  if (!main) throw new Surprise(status);
  checkPerson(main.dataset.person, status);
  compare(main, sent, received);
  return { main, title: page.title, url: at, status, moved };
}

export function isOurs(url) {
  return url.origin === location.origin && /^\/(inbox|runs)(\/|$)/.test(url.pathname);
}

/** Settings show things once and change who may do what: they are loaded whole. */
export function isSwapped(url) {
  const isWhole = /^\/inbox\/(assets|settings|events|manifest|sw\.js|offline)|^\/runs\/[^/]+\/(events|texts)/;
  return isOurs(url) && !isWhole.test(url.pathname);
}

let visiting = null;

/** The person has asked for another page, which is on its way. */
export function isLeaving() {
  return visiting !== null;
}

/** Goes to another page. `how` is what becomes of the history: push, replace or keep. Gives null if they went elsewhere. */
export async function visit(url, how = usual(url)) {
  visiting?.abort();
  const mine = (visiting = new AbortController());
  const isOld = watch();
  try {
    const page = await load(url, { signal: mine.signal });
    if (mine.signal.aborted) return null;
    enter(page, how);
    if (isOld()) refresh();
    return true;
  } catch (error) {
    if (mine.signal.aborted) return null;
    if (error instanceof Surprise) location.assign(url);
    else if (how === "keep") location.reload();
    else tell("The hub cannot be reached. Try again in a moment.");
    return false;
  } finally {
    if (visiting === mine) visiting = null;
  }
}

/** From item to item the way back stays the list they came from. */
function usual(url) {
  const isItem = new URL(url, location.href).pathname.startsWith("/inbox/items/");
  return isItem && document.body.dataset.page === "item" ? "replace" : "push";
}

/** Shows a page that was loaded, as the place where the person is now. */
export function enter(page, how) {
  const depth = history.state?.depth ?? 0;
  if (how === "push") history.pushState({ depth: depth + 1 }, "", page.url);
  if (how === "replace") history.replaceState({ depth }, "", page.url);
  show(page);
  reveal();
  window.scrollTo(0, how === "keep" ? (history.state?.scroll ?? 0) : 0);
  begin();
}

/** On a phone the navigation is wider than the screen. */
function reveal() {
  const link = document.querySelector(".top nav [aria-current]");
  if (link) link.parentElement.scrollLeft = link.offsetLeft - 80;
}

/** Puts a page in place; the address stays. */
export function show({ main, title }) {
  keep();
  document.getElementById("main").replaceWith(document.adoptNode(main));
  document.title = title;
  const page = main.dataset.page ?? "";
  document.body.dataset.page = page;
  for (const link of document.querySelectorAll("a[id^=nav-]")) link.removeAttribute("aria-current");
  document.getElementById(`nav-${page === "list" ? "inbox" : page}`)?.setAttribute("aria-current", "page");
  document.dispatchEvent(new CustomEvent("shown"));
}

/** Where reading begins: at the row that was left, or at the top. */
function begin() {
  if (restore()) return;
  const start = document.querySelector("main h1") ?? document.getElementById("main");
  start.tabIndex = -1;
  start.focus({ preventScroll: true });
}

export function back() {
  if (history.state?.depth > 0) history.back();
  else visit(document.body.dataset.page === "run" ? "/runs" : "/inbox");
}

function clicked(event) {
  const link = event.target.closest?.("a[href]");
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
  const url = new URL(link.href);
  const isAnchor = url.hash && url.pathname === location.pathname && url.search === location.search;
  if (!isSwapped(url) || isAnchor || !document.body.dataset.person) return;
  event.preventDefault();
  visit(url);
}

let resting;
function rememberScroll() {
  clearTimeout(resting);
  resting = setTimeout(() => history.replaceState({ ...history.state, scroll: window.scrollY }, ""), 100);
}

export function start() {
  history.scrollRestoration = "manual";
  reveal();
  document.addEventListener("click", clicked);
  window.addEventListener("scroll", rememberScroll, { passive: true });
  window.addEventListener("popstate", () => {
    clearTimeout(resting);
    if (isSwapped(new URL(location.href))) visit(location.href, "keep");
    else location.reload();
  });
}
