// Everything on a page that changes with time: instants in the reader's zone, ages, countdowns. One timer for all. What counts
// is the hub's clock: it lets things expire, and the reader's may be wrong.
import { refresh } from "./refresh.js";

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** How far the hub's clock is ahead of ours, in milliseconds. */
let ahead = 0;

/** A page says what the hub's clock showed, somewhen between these two instants of ours. Within them ours may be right. */
export function compare({ dataset }, sent, received) {
  const shown = Number(dataset.now);
  if (shown) ahead = Math.min(Math.max(ahead, shown - received), shown - sent);
}

/** The first page was loaded before any script could look at a clock. */
function compareFirst() {
  const main = document.getElementById("main");
  const [loading] = performance.getEntriesByType("navigation");
  const opened = Date.now() - performance.now();
  if (main) compare(main, opened, opened + (loading?.responseStart || performance.now()));
}

/** The instant it is now, by the hub's clock. */
export function now() {
  return Date.now() + ahead;
}

/** In one unit, as the server says it. */
export function waited(seconds) {
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h`;
  return `${Math.floor(seconds / DAY)} d`;
}

/** In its two largest units: 4 min 10 s. */
export function span(seconds) {
  const two = (large, unit, small, smallUnit) => (small ? `${large} ${unit} ${small} ${smallUnit}` : `${large} ${unit}`);
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return two(Math.floor(seconds / MINUTE), "min", seconds % MINUTE, "s");
  if (seconds < DAY) return two(Math.floor(seconds / HOUR), "h", Math.floor((seconds % HOUR) / MINUTE), "min");
  return two(Math.floor(seconds / DAY), "d", Math.floor((seconds % DAY) / HOUR), "h");
}

export function freshness(seconds) {
  if (seconds >= 2 * HOUR) return "stale";
  return seconds >= 15 * MINUTE ? "warning" : "fresh";
}

const TIME = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const DATE_OF_YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const FULL = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

/** 14:05 today, else 16 Nov 14:05 or 16 Nov 2025 14:05 */
export function local(at) {
  const today = new Date(now());
  if (at.toDateString() === today.toDateString()) return TIME.format(at);
  const date = at.getFullYear() === today.getFullYear() ? DATE : DATE_OF_YEAR;
  return `${date.format(at)} ${TIME.format(at)}`;
}

function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function age(time) {
  const seconds = Math.max(0, Math.floor((now() - Number(time.dataset.since)) / 1000));
  put(time, waited(seconds));
  const fresh = freshness(seconds);
  if (time.classList.contains(fresh)) return;
  time.classList.remove("fresh", "warning", "stale");
  time.classList.add(fresh);
}

function countdown(time) {
  const left = Math.ceil((Number(time.dataset.at) - now()) / 1000);
  put(time, left > 0 ? span(left) : "ending…");
}

/** What was put away comes back by itself. */
function returns() {
  const rows = document.querySelector("#rows[data-returns-at]");
  const at = Number(rows?.dataset.returnsAt);
  if (!at || now() < at) return;
  rows.removeAttribute("data-returns-at");
  refresh();
}

function tick() {
  for (const time of document.querySelectorAll("time.age[data-since]")) age(time);
  for (const time of document.querySelectorAll("time.countdown[data-at]")) countdown(time);
  returns();
}

function zone() {
  for (const time of document.querySelectorAll("main time[datetime]:not([data-zoned])")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.dataset.zoned = "";
    time.title = FULL.format(at);
    if (time.dataset.ms) put(time, local(at));
  }
}

/** Minutes behind UTC, at the instant that was chosen when there is one: summer time may lie between. */
function offsets() {
  for (const input of document.querySelectorAll("input[name=tz]")) {
    const at = input.form?.querySelector("input[type=datetime-local]")?.value;
    input.value = String(new Date(at || Date.now()).getTimezoneOffset());
  }
}

export function look() {
  zone();
  offsets();
  tick();
}

export function start() {
  compareFirst();
  setInterval(tick, 1000);
  document.addEventListener("visibilitychange", () => document.hidden || tick());
  document.addEventListener("change", (event) => event.target.type === "datetime-local" && offsets());
}
