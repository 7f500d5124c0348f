// Forms without a reload. Nothing is shown as decided before the hub has said so, and a form that could not be sent stays as
// it is, with the reason beside it.
import { replacePanel, SECRET, shownItem } from "./item.js";
import { enter, isSwapped, load, parse, show, Surprise, visit } from "./swap.js";
import { tell } from "./tell.js";

const PATIENCE_MS = 30_000;
let sending = null;
let signedOut = false;

/** The item whose answer is on its way: news about it are our own. */
export function isSending(id) {
  return sending === id;
}

async function submitted(event) {
  const form = event.target;
  const method = form.getAttribute("method") ?? "get";
  const url = new URL(form.getAttribute("action") ?? location.href, location.href);
  if (event.defaultPrevented || method === "dialog" || !isSwapped(url) || !document.body.dataset.person) return;
  event.preventDefault();
  if (sending !== null) return;
  const fields = new FormData(form, event.submitter);
  if (method === "get") {
    url.search = new URLSearchParams([...fields].filter(([, value]) => value !== "")).toString();
    visit(url);
  } else {
    await send(form, url, fields);
  }
}

async function send(form, url, fields) {
  const panel = form.closest("#panel");
  sending = shownItem()?.dataset.id ?? "";
  panel?.setAttribute("data-sending", "");
  form.querySelector(":scope > .unsent")?.remove();
  try {
    if (signedOut) fields.set("csrf", await freshToken());
    const options = { method: "POST", body: new URLSearchParams(fields), signal: AbortSignal.timeout(PATIENCE_MS) };
    const page = await load(url, options);
    await came(form, page);
  } catch (error) {
    complain(form, error);
  } finally {
    sending = null;
    panel?.removeAttribute("data-sending");
  }
}

async function came(form, page) {
  const item = page.main.querySelector("#item");
  if (page.status >= 400) {
    refused(form, page, item);
  } else if (form.id === "answer" && item && item.dataset.status !== "open") {
    await decided(page, item);
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
    say(form, page.main.querySelector("#problem")?.textContent || "The hub refused this.");
    return;
  }
  const secrets = [...form.querySelectorAll(SECRET)];
  replacePanel(item);
  for (const { name, value } of secrets) {
    const field = document.querySelector(`#answer :is(${SECRET})[name="${CSS.escape(name)}"]`);
    if (field) field.value = value;
  }
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
  if (!isThere) enter(page, "keep");
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
  } else if (error instanceof Surprise) {
    say(form, "The hub gave an answer that cannot be shown. Load the page again.");
  } else {
    say(form, "No answer from the hub, so this may not have arrived. Sending it again is safe: only one answer counts.");
  }
}

function say(form, words, link) {
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
  const token = parse(await response.text()).querySelector("meta[name=csrf]")?.content ?? "";
  if (!token || new URL(response.url).pathname.startsWith("/signin")) throw new Surprise(401);
  signedOut = false;
  document.querySelector("meta[name=csrf]").content = token;
  for (const input of document.querySelectorAll("input[name=csrf]")) input.value = token;
  return token;
}

export function start() {
  document.addEventListener("submit", submitted);
}
