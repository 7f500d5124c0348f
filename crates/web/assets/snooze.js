// Snooze in the list: a small menu for the row under the cursor. The row leaves when the hub has confirmed it.
import { recount } from "./counts.js";
import { csrfToken, current, removeRow } from "./rows.js";
import { showToast } from "./tell.js";

const dialog = () => document.querySelector("dialog#snooze");
let row = null;

/** Opens the menu for the row under the cursor. Returns whether there is one. */
export function openMenu() {
  row = current();
  if (!row || row.matches(".gone") || !dialog()) return false;
  dialog().querySelector(".of").textContent = row.querySelector(".title")?.textContent ?? "";
  dialog().showModal();
  dialog().querySelector("button[value]").focus();
  return true;
}

function post(id, action, fields) {
  const tz = String(new Date().getTimezoneOffset());
  const body = new URLSearchParams({ csrf: csrfToken(), tz, back: "/inbox", ...fields });
  const options = { method: "POST", body, redirect: "manual" };
  const answer = fetch(`/inbox/items/${encodeURIComponent(id)}/${action}`, options).catch(() => null);
  return answer.then((response) => response !== null && (response.type === "opaqueredirect" || response.ok));
}

async function snooze(target, { value, textContent: label }) {
  const { id } = target.dataset;
  if (!(await post(id, "aside", { until: value }))) {
    showToast("Not snoozed: it may end before then, or the hub cannot be reached.");
    return;
  }
  removeRow(target);
  recount();
  showToast(`Snoozed: ${label.replace(/\d$/, "").trim().toLowerCase()}.`, { href: `/inbox/items/${encodeURIComponent(id)}`, text: "View" });
}

function onSubmit(event) {
  if (event.target.closest?.("dialog") !== dialog() || !event.submitter?.value || !row) return;
  const target = row;
  row = null;
  snooze(target, event.submitter);
}

/** A digit presses the button with that number. */
function onKeydown(event) {
  if (!dialog()?.open || !/^[1-9]$/.test(event.key)) return;
  event.preventDefault();
  dialog().querySelectorAll("button[value]")[event.key - 1]?.click();
}

export function start() {
  document.addEventListener("submit", onSubmit);
  document.addEventListener("keydown", onKeydown, true);
}
