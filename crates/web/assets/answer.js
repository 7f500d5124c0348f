// Forms without a reload. Nothing is shown as decided before the hub has said so, and a form that could not be sent stays as
// it is, with the reason beside it.
import { drop } from "./drafts.js";
import * as files from "./files.js";
import { renew, replacePanel, SECRET, shownItem } from "./item.js";
import { goOn } from "./run.js";
import { checkPerson, enter, isLeaving, isSwapped, load, parse, show, Surprise, visit } from "./swap.js";
import { tell } from "./tell.js";

const PATIENCE_MS = 30_000;
const PATIENCE_WITH_FILES_MS = 180_000;
/** The items whose answer is on its way, and whether there were news about them meanwhile. */
const sending = new Map();
let signedOut = false;

/** News about an item whose answer is on its way are mostly our own. They are looked at when the answer has arrived. */
export function isForLater(id) {
  if (!sending.has(id)) return false;
  sending.set(id, true);
  return true;
}

async function submitted(event) {
  const form = event.target;
  const method = form.getAttribute("method") ?? "get";
  const url = new URL(form.getAttribute("action") ?? location.href, location.href);
  if (event.defaultPrevented || method === "dialog" || !isSwapped(url) || !document.body.dataset.person) return;
  event.preventDefault();
  const fields = new FormData(form, event.submitter);
  if (method === "get") {
    url.search = new URLSearchParams([...fields].filter(([, value]) => value !== "")).toString();
    visit(url);
  } else {
    await send({ form, id: shownItem()?.dataset.id ?? "", from: location.href }, url, fields);
  }
}

/** While it is on its way the person may go on to another item, and answer that. */
async function send(sent, url, fields) {
  const { form, id } = sent;
  if (sending.has(id)) return;
  const panel = form.closest("#panel");
  sending.set(id, false);
  panel?.setAttribute("data-sending", "");
  form.querySelector(":scope > .unsent")?.remove();
  try {
    if (signedOut) fields.set("csrf", await freshToken());
    const body = form.enctype === "multipart/form-data" ? fields : new URLSearchParams(fields);
    const patience = files.any(form) ? PATIENCE_WITH_FILES_MS : PATIENCE_MS;
    const options = { method: "POST", body, signal: AbortSignal.timeout(patience) };
    const page = await load(url, options);
    const { status = "open" } = page.main.querySelector("#item")?.dataset ?? {};
    if (status !== "open") drop(id);
    if (isHere(sent)) await came(form, page);
    else mention(sent, page);
  } catch (error) {
    complain(form, error);
  } finally {
    panel?.removeAttribute("data-sending");
    arrived(id);
  }
}

/** What came back may be older than the news that came meanwhile. */
function arrived(id) {
  const hasNews = sending.get(id);
  sending.delete(id);
  if (hasNews && shownItem()?.dataset.id === id) renew(id).catch(() => {});
}

function isHere({ id, from }) {
  return !isLeaving() && location.href === from && (shownItem()?.dataset.id ?? "") === id;
}

/** What is shown now is something else, and stays as it is. */
function mention({ id }, page) {
  const outcome = wordsOf(page.main.querySelector("#outcome"));
  const words = page.status < 400 ? outcome || "Done." : `Not taken: ${outcome || "the hub refused it"}`;
  tell(words, id && { href: `/inbox/items/${encodeURIComponent(id)}`, text: "Look again" });
}

async function came(form, page) {
  const item = page.main.querySelector("#item");
  if (page.status >= 400) {
    refused(form, page, item);
  } else if (form.id === "answer" && item && item.dataset.status !== "open") {
    await decided(page, item);
  } else if (goOn(page)) {
    tell(form.id === "stop" ? "Stopped." : "Answered.");
  } else if (page.moved) {
    enter(page, page.url.href === location.href ? "keep" : "replace");
  } else {
    show(page);
    window.scrollTo(0, 0);
  }
}

function refused(form, page, item) {
  if (!item || !shownItem()) {
    signedOut ||= page.status === 403;
    say(form, page.main.querySelector("#problem, #notice")?.textContent || "The hub refused this.");
    return;
  }
  const secrets = [...form.querySelectorAll(SECRET)];
  replacePanel(item);
  for (const { name, value } of secrets) {
    const field = document.querySelector(`#answer :is(${SECRET})[name="${CSS.escape(name)}"]`);
    if (field) field.value = value;
  }
  files.carry(form);
  const outcome = document.getElementById("outcome");
  if (outcome) tell(`Too late: ${wordsOf(outcome)}`);
  document.querySelector("#panel [aria-invalid=true], #panel details[open] .error")?.focus();
}

/** On to the next one that waits; the one just decided stays one click away. */
async function decided(page, item) {
  const outcome = page.main.querySelector("#outcome");
  const next = page.main.querySelector("a#next");
  tell(wordsOf(outcome) || "Done.", { href: `/inbox/items/${encodeURIComponent(item.dataset.id)}`, text: "Look again" });
  const isThere = await visit(next ? next.getAttribute("href") : "/inbox", "replace");
  if (isThere === false) enter(page, "keep");
}

function wordsOf(outcome) {
  const words = outcome?.querySelector("p") ?? outcome;
  const copy = words?.cloneNode(true);
  for (const time of copy?.querySelectorAll("time") ?? []) time.remove();
  return (copy?.textContent ?? "").replace(/\s+/g, " ").replace(/( at)?[\s.]*$/, "").trim().slice(0, 160);
}

function complain(form, error) {
  if (error instanceof Surprise && error.status === 401) {
    signedOut = true;
    say(form, "You are signed out. Sign in again in another tab, then send this once more.", "/signin");
  } else if (error instanceof Surprise && error.person) {
    say(form, `${error.person} is signed in now, in another tab. Load the page again to go on.`);
  } else if (error instanceof Surprise) {
    say(form, "The hub gave an answer that cannot be shown. Load the page again.");
  } else {
    say(form, "No answer from the hub, so this may not have arrived. Sending it again is safe: only one answer counts.");
  }
}

function say(form, words, link) {
  if (!form.isConnected) {
    tell(words);
    return;
  }
  const p = document.createElement("p");
  p.className = "error unsent";
  p.setAttribute("role", "alert");
  p.append(words);
  if (link) {
    const a = document.createElement("a");
    Object.assign(a, { href: link, target: "_blank", rel: "noopener", textContent: "Sign in" });
    p.append(" ", a);
  }
  form.prepend(p);
  p.scrollIntoView({ block: "nearest" });
}

/** Signed in anew, forms need the token of the new session. */
async function freshToken() {
  const response = await fetch(location.href);
  const page = parse(await response.text());
  const token = page.querySelector("meta[name=csrf]")?.content ?? "";
  if (!token || new URL(response.url).pathname.startsWith("/signin")) throw new Surprise(401);
  checkPerson(page.body.dataset.person, response.status);
  signedOut = false;
  document.querySelector("meta[name=csrf]").content = token;
  for (const input of document.querySelectorAll("input[name=csrf]")) input.value = token;
  return token;
}

export function start() {
  document.addEventListener("submit", submitted);
}
