// Snooze in the list: a small menu for the row under the cursor. The row leaves when the hub has confirmed it.
import { now } from "./clock.js";
import { putAway } from "./put_away.js";
import { current, removeRow } from "./rows.js";
import { showToast } from "./tell.js";
import { t } from "./words.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MORNING_MS = 9 * HOUR_MS;
const dialog = () => document.querySelector("dialog#snooze");
const find = (selector) => dialog().querySelector(selector);
const times = () => [...dialog().querySelectorAll(".times button")];
let row = null;

/** The end of each time that the menu offers, as the hub computes it. */
function snoozeEnds() {
  const at = now();
  const behind = new Date().getTimezoneOffset() * MINUTE_MS;
  const today = Math.floor((at - behind) / DAY_MS);
  const morningIn = (days) => (today + days) * DAY_MS + MORNING_MS + behind;
  // The first day of 1970 was a Thursday, three days after a Monday.
  const untilMonday = 7 - ((today + 3) % 7);
  return { "15m": at + 15 * MINUTE_MS, "1h": at + HOUR_MS, "4h": at + 4 * HOUR_MS, tomorrow: morningIn(1), monday: morningIn(untilMonday) };
}

/** The value of a date and time field for an instant. */
function toField(at) {
  return new Date(at - new Date(at).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

/** Offers only times before the item ends. */
function offerTimes({ dataset: { expires } }) {
  const ends = snoozeEnds();
  for (const button of times()) button.hidden = Boolean(expires) && ends[button.value] >= Number(expires);
  find(".expires").hidden = !expires;
  find(".expires > span").textContent = row.querySelector(".expiry")?.textContent ?? "";
  Object.assign(find("[name=at]"), { value: "", min: toField(now() + MINUTE_MS), max: expires ? toField(Number(expires)) : "" });
}

/** Opens the menu for the row under the cursor. Returns whether there is one. */
export function openMenu() {
  row = current();
  if (!row || row.matches(".gone") || !dialog()) return false;
  find(".of").textContent = row.querySelector(".title")?.textContent ?? "";
  offerTimes(row);
  dialog().showModal();
  find(".times button:not([hidden]), [name=at]").focus();
  return true;
}

async function snooze(target, { value }) {
  const tz = String(new Date().getTimezoneOffset());
  const at = find("[name=at]").value;
  if (await putAway(target.dataset.id, "aside", { until: value, at, tz })) removeRow(target);
  else showToast(t("Not snoozed: it may end before then, or the hub cannot be reached."));
}

function onSubmit(event) {
  if (event.target.closest?.("dialog") !== dialog() || !event.submitter?.value || !row) return;
  const target = row;
  row = null;
  snooze(target, event.submitter);
}

/** A digit presses the button with that number, unless a date is typed. */
function onKeydown(event) {
  if (!dialog()?.open || !/^[1-9]$/.test(event.key) || event.target.matches("input")) return;
  event.preventDefault();
  const button = times()[event.key - 1];
  if (button && !button.hidden) button.click();
}

export function start() {
  document.addEventListener("submit", onSubmit);
  document.addEventListener("keydown", onKeydown, true);
}
