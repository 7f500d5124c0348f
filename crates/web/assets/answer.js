// Form submission without a page reload. A decision is shown only after the hub confirmed it. A form that could not be sent
// stays unchanged, with the error beside it.
import { discardDraft } from "./drafts.js";
import * as files from "./files.js";
import { refreshItem, replacePanel, SECRET, shownItem } from "./item.js";
import { showPutAway } from "./put_away.js";
import { markResolved, nextLink, removeRow } from "./rows.js";
import { applyRunPage } from "./run.js";
import { isSplit } from "./split.js";
import { checkPerson, enter, isLeaving, isSwapped, load, parse, show, UnexpectedResponse, visit } from "./swap.js";
import { showToast } from "./tell.js";
import { decisionText, isHeld, offerUndo } from "./undo.js";
import { t } from "./words.js";

const SUBMIT_TIMEOUT_MS = 30_000;
const UPLOAD_TIMEOUT_MS = 180_000;
/** Item ids with an answer in flight; the value tells whether a live event about the item arrived meanwhile. */
const inFlight = new Map();
let signedOut = false;

/** Live events about an item with an answer in flight are mostly caused by that answer: they wait for the response. */
export function deferEvent(id) {
  if (!inFlight.has(id)) return false;
  inFlight.set(id, true);
  return true;
}

async function onSubmit(event) {
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
    const id = form.dataset.id ?? shownItem()?.dataset.id ?? "";
    await send({ form, id, from: location.href }, url, fields);
  }
}

/** One submission per item is in flight at a time; other items can be answered meanwhile. */
async function send(submission, url, fields) {
  const { form, id } = submission;
  if (inFlight.has(id)) return;
  const panel = form.closest("#panel");
  inFlight.set(id, false);
  panel?.setAttribute("data-sending", "");
  form.querySelector(":scope > .unsent")?.remove();
  try {
    if (signedOut) fields.set("csrf", await refreshToken());
    const body = form.enctype === "multipart/form-data" ? fields : new URLSearchParams(fields);
    const timeout = files.hasFiles(form) ? UPLOAD_TIMEOUT_MS : SUBMIT_TIMEOUT_MS;
    const options = { method: "POST", body, signal: AbortSignal.timeout(timeout) };
    const page = await load(url, options);
    const { status = "open" } = page.main.querySelector("#item")?.dataset ?? {};
    if (status !== "open") discardDraft(id);
    if (form.matches(".quick")) showInRow(submission, page);
    else if (page.status === 200 && form.matches("#aside, #archive, .archive")) await showPutAwayItem(form, page);
    else if (isStillShown(submission)) await showResponse(form, page);
    else toastOutcome(submission, page);
  } catch (error) {
    showSendError(form, error);
  } finally {
    panel?.removeAttribute("data-sending");
    finishSending(id);
  }
}

/** The response may be older than a live event that arrived meanwhile, so the item is refreshed in that case. */
function finishSending(id) {
  const hasEvent = inFlight.get(id);
  inFlight.delete(id);
  if (hasEvent && shownItem()?.dataset.id === id) refreshItem(id).catch(() => {});
}

function isStillShown({ id, from }) {
  return !isLeaving() && location.href === from && (shownItem()?.dataset.id ?? "") === id;
}

/** A decision in a row: the row tells the outcome and leaves, the list stays. */
function showInRow(submission, page) {
  toastOutcome(submission, page);
  const outcome = outcomeText(page.main.querySelector("#outcome"));
  if (page.status < 400 && outcome) markResolved(submission.id, outcome, new Date());
}

/** A snoozed item or an archived notice: its row leaves, or the list is shown. */
async function showPutAwayItem(form, page) {
  showPutAway(page);
  const row = form.closest(".row");
  if (row) removeRow(row);
  else await visit(form.elements.back.value);
}

/** The person has moved on to another page: the outcome is shown as a toast only. */
function toastOutcome({ id }, page) {
  const item = page.main.querySelector("#item");
  if (page.status < 400 && isHeld(item)) {
    offerUndo(item);
    return;
  }
  const outcome = outcomeText(page.main.querySelector("#outcome"));
  const accepted = outcome ? decisionText(item) : t("Done.");
  const message = page.status < 400 ? accepted : t("Not taken: {reason}", { reason: outcome || t("the hub refused it") });
  showToast(message, id && { href: `/inbox/items/${encodeURIComponent(id)}`, text: t("View") });
}

async function showResponse(form, page) {
  const item = page.main.querySelector("#item");
  if (page.status >= 400) {
    showRefusal(form, page, item);
  } else if (form.id === "answer" && item && (item.dataset.status !== "open" || isHeld(item))) {
    await goToNext(page, item);
  } else if (applyRunPage(page)) {
    showToast(form.id === "stop" ? t("Stopped.") : t("Answered."));
  } else if (page.moved) {
    enter(page, page.url.href === location.href ? "keep" : "replace");
  } else {
    show(page);
    window.scrollTo(0, 0);
  }
}

function showRefusal(form, page, item) {
  if (!item || !shownItem()) {
    signedOut ||= page.status === 403;
    showFormError(form, page.main.querySelector("#problem, #notice")?.textContent || t("The hub refused this."));
    return;
  }
  const secrets = [...form.querySelectorAll(SECRET)];
  replacePanel(item);
  for (const { name, value } of secrets) {
    const field = document.querySelector(`#answer :is(${SECRET})[name="${CSS.escape(name)}"]`);
    if (field) field.value = value;
  }
  files.moveFiles(form);
  const outcome = document.getElementById("outcome");
  if (outcome) showToast(t("Too late: {outcome}", { outcome: outcomeText(outcome) }));
  document.querySelector("#panel [aria-invalid=true], #panel details[open] .error")?.focus();
}

/** The next open item of the list is shown; a link in the toast leads back to the decided item. */
async function goToNext(page, item) {
  if (isHeld(item)) offerUndo(item);
  else showToast(decisionText(item), { href: `/inbox/items/${encodeURIComponent(item.dataset.id)}`, text: t("View") });
  const next = (isSplit() && nextLink(item.dataset.id)) || page.main.querySelector("a#next");
  const isVisited = await visit(next?.getAttribute("href") ?? item.dataset.list, "replace");
  if (isVisited === false) enter(page, "keep");
}

function outcomeText(outcome) {
  const element = outcome?.querySelector("p") ?? outcome;
  const copy = element?.cloneNode(true);
  for (const time of copy?.querySelectorAll("time") ?? []) time.remove();
  return (copy?.textContent ?? "").replace(/\s+/g, " ").replace(/( at)?[\s.]*$/, "").trim().slice(0, 160);
}

function showSendError(form, error) {
  if (error instanceof UnexpectedResponse && error.status === 401) {
    signedOut = true;
    showFormError(form, t("You are signed out. Sign in again in another tab, then send this once more."), "/signin");
  } else if (error instanceof UnexpectedResponse && error.person) {
    showFormError(form, t("{person} is signed in now, in another tab. Load the page again to go on.", { person: error.person }));
  } else if (error instanceof UnexpectedResponse) {
    showFormError(form, t("The hub gave an answer that cannot be shown. Load the page again."));
  } else {
    showFormError(form, t("No answer from the hub, so this may not have arrived. Sending it again is safe: only one answer counts."));
  }
}

function showFormError(form, message, link) {
  if (!form.isConnected) {
    showToast(message);
    return;
  }
  const p = document.createElement("p");
  p.className = "error unsent";
  p.setAttribute("role", "alert");
  p.append(message);
  if (link) {
    const a = document.createElement("a");
    Object.assign(a, { href: link, target: "_blank", rel: "noopener", textContent: t("Sign in") });
    p.append(" ", a);
  }
  form.prepend(p);
  p.scrollIntoView({ block: "nearest" });
}

/** The CSRF token of the new session, after the person signed in again in another tab. */
async function refreshToken() {
  const response = await fetch(location.href);
  const page = parse(await response.text());
  const token = page.querySelector("meta[name=csrf]")?.content ?? "";
  if (!token || new URL(response.url).pathname.startsWith("/signin")) throw new UnexpectedResponse(401);
  checkPerson(page.body.dataset.person, response.status);
  signedOut = false;
  document.querySelector("meta[name=csrf]").content = token;
  for (const input of document.querySelectorAll("input[name=csrf]")) input.value = token;
  return token;
}

export function start() {
  document.addEventListener("submit", onSubmit);
}
