// Times on a page: instants in the reader's time zone, ages and countdowns, all driven by one timer. They follow the hub's
// clock, because the hub expires messages and the reader's clock may be wrong.
import { refresh } from "./refresh.js";
import { t } from "./words.js";

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** Offset of the hub's clock from the local clock, in milliseconds. */
let clockOffset = 0;

/**
 * Adjusts the offset by the hub time in a page, which was rendered between `sent` and `received` on the local clock.
 * An offset within those bounds stays.
 */
export function syncClock({ dataset }, sent, received) {
  const hubTime = Number(dataset.now);
  if (hubTime) clockOffset = Math.min(Math.max(clockOffset, hubTime - received), hubTime - sent);
}

/** The bounds for the first page come from the navigation timing, because it loaded before any script ran. */
function syncFromNavigation() {
  const main = document.getElementById("main");
  const [loading] = performance.getEntriesByType("navigation");
  const navigationStart = Date.now() - performance.now();
  if (main) syncClock(main, navigationStart, navigationStart + (loading?.responseStart || performance.now()));
}

/** The current time by the hub's clock. */
export function now() {
  return Date.now() + clockOffset;
}

/** An age in one unit, in the same format as the server's. */
export function formatAge(seconds) {
  if (seconds < MINUTE) return t("{count} s", { count: seconds });
  if (seconds < HOUR) return t("{count} min", { count: Math.floor(seconds / MINUTE) });
  if (seconds < DAY) return t("{count} h", { count: Math.floor(seconds / HOUR) });
  return t("{count} d", { count: Math.floor(seconds / DAY) });
}

/** A duration in its two largest units: 4 min 10 s. */
export function formatDuration(seconds) {
  const unit = [DAY, HOUR, MINUTE].find((unit) => seconds >= unit);
  if (!unit) return formatAge(seconds);
  const smallUnit = { [DAY]: HOUR, [HOUR]: MINUTE, [MINUTE]: 1 }[unit];
  const small = Math.floor((seconds % unit) / smallUnit);
  return small ? `${formatAge(seconds)} ${formatAge(small * smallUnit)}` : formatAge(seconds);
}

export function freshness(seconds) {
  if (seconds >= 2 * HOUR) return "stale";
  return seconds >= 15 * MINUTE ? "warning" : "fresh";
}

const LOCALE = { en: "en-GB" }[document.documentElement.lang] ?? document.documentElement.lang;
const TIME = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit" });
const DATE = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short" });
const DATE_OF_YEAR = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", year: "numeric" });
const FULL = new Intl.DateTimeFormat(LOCALE, { dateStyle: "full", timeStyle: "long" });

/** A local time: 14:05 today, else 16 Nov 14:05 or 16 Nov 2025 14:05. */
export function formatLocal(at) {
  const today = new Date(now());
  if (at.toDateString() === today.toDateString()) return TIME.format(at);
  const date = at.getFullYear() === today.getFullYear() ? DATE : DATE_OF_YEAR;
  return `${date.format(at)} ${TIME.format(at)}`;
}

/** Times that a list shows as an age; the instant is their title. */
const RELATIVE = ":is(time[data-ago], .row.run .who > time, .table time)[data-ms]";
const MAX_RELATIVE = 7 * DAY;

/** A past time in words: just now, 5 min ago, else its date. */
export function formatAgo(at) {
  const seconds = Math.floor((now() - at.getTime()) / 1000);
  if (seconds < -MINUTE || seconds > MAX_RELATIVE) return formatLocal(at);
  return seconds < MINUTE ? t("just now") : t("{time} ago", { time: formatAge(seconds) });
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function updateAge(time) {
  const seconds = Math.max(0, Math.floor((now() - Number(time.dataset.since)) / 1000));
  setText(time, formatAge(seconds));
  const fresh = freshness(seconds);
  if (time.classList.contains(fresh)) return;
  time.classList.remove("fresh", "warning", "stale");
  time.classList.add(fresh);
}

function updateCountdown(time) {
  const left = Math.ceil((Number(time.dataset.at) - now()) / 1000);
  setText(time, left > 0 ? formatDuration(left) : t("ending…"));
}

/** The list is refreshed when the next snoozed item is due to return. */
function refreshWhenDue() {
  const rows = document.querySelector("#rows[data-returns-at]");
  const at = Number(rows?.dataset.returnsAt);
  if (!at || now() < at) return;
  rows.removeAttribute("data-returns-at");
  refresh();
}

function tick() {
  for (const time of document.querySelectorAll("time.age[data-since]")) updateAge(time);
  for (const time of document.querySelectorAll("time.countdown[data-at]")) updateCountdown(time);
  for (const time of document.querySelectorAll(RELATIVE)) setText(time, formatAgo(new Date(Number(time.dataset.ms))));
  refreshWhenDue();
}

function localizeTimes() {
  for (const time of document.querySelectorAll(":is(main, #detail) time[datetime]:not([data-zoned])")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.dataset.zoned = "";
    time.title = FULL.format(at);
    if (time.dataset.ms && !time.matches(RELATIVE)) setText(time, formatLocal(at));
  }
}

/** The UTC offset in minutes for the chosen instant, or for now: daylight saving time may differ between the two. */
function setOffsets() {
  for (const input of document.querySelectorAll("input[name=tz]")) {
    const at = input.form?.querySelector("input[type=datetime-local]")?.value;
    input.value = String(new Date(at || Date.now()).getTimezoneOffset());
  }
}

export function update() {
  localizeTimes();
  setOffsets();
  tick();
}

export function start() {
  syncFromNavigation();
  setInterval(tick, 1000);
  document.addEventListener("visibilitychange", () => document.hidden || tick());
  document.addEventListener("change", (event) => event.target.type === "datetime-local" && setOffsets());
}
