// Snooze in the list: a small menu for the row under the cursor. The row leaves when the hub has confirmed it.
import { putAway } from "./put_away.js";
import { current, removeRow } from "./rows.js";
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

async function snooze(target, { value }) {
  const tz = String(new Date().getTimezoneOffset());
  if (await putAway(target.dataset.id, "aside", { until: value, tz })) removeRow(target);
  else showToast("Not snoozed: it may end before then, or the hub cannot be reached.");
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
