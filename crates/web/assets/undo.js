// Undo: a decision is on hold for some seconds. Until it is sent, the key z or the button in the toast takes it back.
import { now } from "./clock.js";
import { refreshConversation } from "./conversation.js";
import { restoreDraft } from "./drafts.js";
import { refreshItem, shownItem } from "./item.js";
import { csrfToken } from "./rows.js";
import { isShown as isRunShown, refreshRun } from "./run.js";
import { parse, visit } from "./swap.js";
import { showToast } from "./tell.js";

/** Decisions of this tab that may still be on hold, the latest last. */
const held = [];

/** The hub has put the decision about this item on hold. */
export function isHeld(item) {
  return item?.dataset.held !== undefined;
}

/** A toast with an Undo button, which goes when the decision is sent. */
export function offerUndo(item) {
  const { id, held: until } = item.dataset;
  held.push(id);
  showToast(decisionText(item), { href: `/inbox/items/${encodeURIComponent(id)}`, text: "View" });
  const button = document.createElement("button");
  button.type = "button";
  button.className = "undo";
  button.textContent = "Undo";
  button.addEventListener("click", () => undo(id));
  document.querySelector("#news a")?.before(" ", button);
  setTimeout(() => forget(id, button), Number(until) - now());
}

/** The decision and the title: Approved “Ship to production?” */
function decisionText(item) {
  const decision = item.querySelector("#held strong")?.textContent.trim().replace(/\.$/, "") ?? "";
  const title = item.querySelector("h1")?.textContent.trim().slice(0, 80) ?? "";
  return `${decision} “${title}”`;
}

function forget(id, button) {
  button?.remove();
  if (held.includes(id)) held.splice(held.indexOf(id), 1);
}

/** Takes back the decision that is shown, or the last one of this tab. */
export async function undoLast() {
  const inThread = [...document.querySelectorAll("#thread > .entry:has(.take-back)")].at(-1);
  const isOwn = document.querySelector("#item #undo") !== null;
  const id = inThread?.dataset.id ?? (isOwn ? shownItem().dataset.id : held.at(-1));
  if (id) await undo(id);
  else showToast("There is nothing to undo.");
}

async function undo(id) {
  forget(id, document.querySelector("#news button.undo"));
  const page = `/inbox/items/${encodeURIComponent(id)}`;
  const options = { method: "POST", body: new URLSearchParams({ csrf: csrfToken() }), redirect: "manual" };
  const response = await fetch(`${page}/undo`, options).catch(() => null);
  if (response === null) showToast("The hub cannot be reached, so this may not be undone.");
  else if (response.type !== "opaqueredirect") showToast("Too late to undo: the answer was sent.", { href: page, text: "View" });
  else if (await showTakenBack(id, page)) showToast("Taken back. Nothing was sent.");
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
