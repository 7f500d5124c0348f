// Undo: a decision is on hold for some seconds. Until it is sent, the key z or the button in the toast takes it back. A snooze
// and an archived notice are taken back the same way.
import { formatLocal, now } from "./clock.js";
import { refreshConversation } from "./conversation.js";
import { recount } from "./counts.js";
import { restoreDraft, tryStorage } from "./drafts.js";
import { refreshItem, shownItem } from "./item.js";
import { refresh } from "./refresh.js";
import { csrfToken } from "./rows.js";
import { isShown as isRunShown, refreshRun } from "./run.js";
import { load, parse, visit } from "./swap.js";
import { showToast } from "./tell.js";
import { t } from "./words.js";

const KEY = "countersign.undo";
/** What this tab can take back, the latest last; stored, because a full load begins with a new script. */
let entries = tryStorage(() => JSON.parse(sessionStorage.getItem(KEY))) ?? [];

function save(remaining) {
  const { person } = document.body.dataset;
  entries = remaining.filter((entry) => entry.person === person && entry.until > now());
  tryStorage(() => sessionStorage.setItem(KEY, JSON.stringify(entries)));
}

/** The hub has put the decision about this item on hold. */
export function isHeld(item) {
  return item?.dataset.held !== undefined;
}

/** Where an item is shown, in the list that it was opened from. */
function pageOf({ id, query = "" }) {
  return `/inbox/items/${encodeURIComponent(id)}${query}`;
}

/** A toast about a decision, with an Undo button, which goes when the decision is sent. */
export function offerUndo(item) {
  const { id, held, query } = item.dataset;
  offer({ ids: [id], page: pageOf({ id, query }), until: Number(held) }, decisionText(item));
}

function offer(entry, message) {
  const { person } = document.body.dataset;
  save([...entries, { ...entry, person }]);
  const link = entry.page && { href: entry.page, text: t("View") };
  showToast(message, link, { text: t("Undo"), ms: entry.until - now(), run: () => undo(entry) });
}

/** A toast about the result of a batch, or of one item that was snoozed or archived. */
export function offerUndoAll(main) {
  const form = main.querySelector("form#undo-all");
  if (!form || Number(form.dataset.until) <= now()) return;
  const ids = new FormData(form).getAll("id");
  const entry = { ids, verdict: form.elements.verdict.value, until: Number(form.dataset.until) };
  if (ids.length === 1) entry.page = pageOf({ id: ids[0] });
  if (!entries.some((known) => known.ids.join() === ids.join())) offer(entry, resultText(main));
}

/** `Denied: 2 of 3`, `Archived`, `Snoozed until 14:05`. */
function resultText(main) {
  const heading = main.querySelector("h1");
  const result = heading.dataset.single === undefined ? heading.textContent : heading.dataset.past;
  const until = main.querySelector("#done-title time")?.dataset.ms;
  return until ? t("{result} until {time}", { result, time: formatLocal(new Date(Number(until))) }) : result;
}

/** The decision and the title: Approved “Ship to production?” */
export function decisionText(item) {
  const words = [...item.querySelectorAll("#held strong, #outcome > p:first-child > strong")].map(({ textContent }) => textContent);
  const decision = words.join(": ").replace(/\s+/g, " ").trim().replace(/\.$/, "").slice(0, 160);
  const title = item.querySelector("h1")?.textContent.trim().slice(0, 80) ?? "";
  return `${decision} “${title}”`;
}

function forget({ ids }) {
  document.querySelector("#news button.undo")?.remove();
  save(entries.filter((entry) => entry.ids.join() !== ids.join()));
}

/** Takes back the decision that is shown, or the last change of this tab. */
export async function undoLast() {
  const inThread = [...document.querySelectorAll("#thread > .entry:has(.take-back)")].at(-1)?.dataset.id;
  const shown = document.querySelector("#item #undo") && shownItem().dataset;
  save(entries);
  if (inThread) await undo({ ids: [inThread], page: pageOf({ id: inThread }) });
  else if (shown) await undo({ ids: [shown.id], page: pageOf(shown) });
  else if (entries.length > 0) await undo(entries.at(-1));
  else showToast(t("There is nothing to undo."));
}

async function undo(entry) {
  forget(entry);
  if (entry.verdict) await undoAll(entry);
  else await undoDecision(entry);
}

async function undoDecision({ ids: [id], page }) {
  const headers = { "x-fragment": "main" };
  const options = { method: "POST", headers, body: new URLSearchParams({ csrf: csrfToken() }), redirect: "manual" };
  const response = await fetch(`/inbox/items/${encodeURIComponent(id)}/undo`, options).catch(() => null);
  if (response === null) showToast(t("The hub cannot be reached, so this may not be undone."));
  else if (response.type !== "opaqueredirect") showToast(await refusal(response), { href: page, text: t("View") });
  else if (await showTakenBack(id, page)) showToast(t("Taken back. Nothing was sent."));
}

/** Why the hub refused the undo: its answer was sent, another person answers, or the hub cannot do it now. */
async function refusal(response) {
  const page = parse(await response.text());
  return page.querySelector("#notice, #problem")?.textContent || t("The hub refused this.");
}

/** Several items at once, or a snooze, or an archived notice. */
async function undoAll({ ids, verdict }) {
  const body = new URLSearchParams([["csrf", csrfToken()], ["verdict", verdict], ...ids.map((id) => ["id", id])]);
  const result = await load("/inbox/batch/undo", { method: "POST", body }).catch(() => null);
  if (result?.status !== 200) {
    showToast(t("The hub cannot be reached, so this may not be undone."));
    return;
  }
  const list = result.main.querySelector("#onwards").getAttribute("href");
  if (document.querySelector("#undo-all")) await visit(list, "replace");
  else refresh();
  recount();
  showToast(resultText(result.main));
}

function onSubmit(event) {
  if (event.target.id !== "undo-all") return;
  event.preventDefault();
  const ids = new FormData(event.target).getAll("id");
  undo({ ids, verdict: event.target.elements.verdict.value });
}

/** The result page of a batch that was just shown. */
export function update() {
  offerUndoAll(document);
}

export function start() {
  document.addEventListener("submit", onSubmit);
}

/** In a conversation the question is open again in its place; elsewhere its page is shown. */
async function showTakenBack(id, page) {
  if (!document.getElementById(`entry-${id}`)) return visit(page);
  await refreshConversation();
  return true;
}

/** A live event: a decision is on hold, or was taken back. The row of a list gets or loses its mark. */
export function showHold({ id, html }) {
  const row = document.getElementById(`row-${id}`);
  const mark = parse(html).querySelector(".badge.held");
  row?.querySelector(".badge.held")?.remove();
  if (mark) row?.querySelector(".who")?.append(" ", document.adoptNode(mark));
}

/** The panel of the shown item or run follows; typed text comes back with the form. */
export async function refreshHeldItem(id) {
  if (isRunShown()) await refreshRun();
  if (shownItem()?.dataset.id !== id) return;
  await refreshItem(id);
  if (document.getElementById("answer")) restoreDraft();
}
