// Date and time fields of a form. The hub renders them in UTC; this shows them in the reader's time zone, and sends the zone's
// offset in a hidden field beside each of them. The hub takes the days of Pulse and of searches from the zone in a cookie.
import { setCookie } from "./prefs.js";
import { isShown as isPulse, refreshPulse } from "./pulse.js";
import { t } from "./words.js";

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The wall clock of an instant in a zone that is `behind` minutes behind UTC, in the format of the field. */
function toWallClock(field, utc, behind) {
  const text = new Date(utc - behind * MINUTE_MS).toISOString();
  const start = field.type === "time" ? 11 : 0;
  if (utc % 1000) return text.slice(start, 23);
  return text.slice(start, utc % MINUTE_MS ? 19 : 16);
}

/** The offset at the time in the field: daylight saving time may differ from today's. */
function offsetOf(field) {
  const at = field.type === "time" || !field.value ? new Date() : new Date(field.value);
  return Number.isNaN(at.getTime()) ? new Date().getTimezoneOffset() : at.getTimezoneOffset();
}

function formatOffset(behind) {
  const minutes = Math.abs(behind);
  const pad = (number) => String(number).padStart(2, "0");
  return `UTC${behind < 0 ? "+" : "−"}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}

/** Shows the value in the reader's zone, unless the person has typed another one already. */
function localize(field) {
  const utc = Number(field.dataset.utc);
  const isUntouched = field.value === field.defaultValue;
  const behind = field.type === "time" ? new Date().getTimezoneOffset() : new Date(utc).getTimezoneOffset();
  field.defaultValue = toWallClock(field, field.type === "time" ? utc + DAY_MS : utc, behind);
  if (isUntouched) field.value = field.defaultValue;
}

function setZone(field) {
  const behind = offsetOf(field);
  const zone = document.querySelector(`[data-zone-of="${CSS.escape(field.id)}"]`);
  if (zone) zone.value = String(behind);
  const hint = field.parentElement.querySelector(".zone");
  if (hint) hint.textContent = t("Your time: {zone}", { zone: behind === 0 && ZONE === "UTC" ? "UTC" : `${ZONE} (${formatOffset(behind)})` });
}

export function update() {
  for (const field of document.querySelectorAll("[data-zoned-input]:not([data-localized])")) {
    field.dataset.localized = "";
    if (field.dataset.utc) localize(field);
    setZone(field);
  }
}

/** Reloads Pulse once the hub knows the reader's zone. */
function rememberZone() {
  if (!ZONE || document.cookie.split("; ").includes(`countersign_zone=${ZONE}`)) return;
  setCookie("countersign_zone", ZONE);
  if (isPulse()) refreshPulse();
}

export function start() {
  rememberZone();
  document.addEventListener("input", ({ target }) => target.matches?.("[data-zoned-input]") && setZone(target), true);
}
