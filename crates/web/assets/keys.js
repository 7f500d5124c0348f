// Single-key shortcuts. They are inactive with ctrl, alt or meta and in text fields, and can be switched off.
import * as batch from "./batch.js";
import { isGuarded } from "./guard.js";
import { openHelp } from "./menus.js";
import { loadMore } from "./more.js";
import { isOn } from "./prefs.js";
import { archive, current, move, moveTo, rows } from "./rows.js";
import { openMenu } from "./snooze.js";
import { isSplit } from "./split.js";
import { back, visit } from "./swap.js";
import { undoLast } from "./undo.js";

const NON_TEXT_TYPES = ["checkbox", "radio", "button", "submit", "reset", "range", "color", "file", "image"];

export function isTyping(element) {
  if (!element) return false;
  if (element.tagName === "INPUT") return !NON_TEXT_TYPES.includes(element.type);
  return ["TEXTAREA", "SELECT"].includes(element.tagName) || element.isContentEditable;
}

const FIELD = ":is(input, select, textarea)";

const find = (selector) => document.querySelector(selector);
const isItem = () => Boolean(find("#item"));

/** A decision needs a separate key press: key repeat is ignored, and so are presses on a guarded item. */
function press(event, control) {
  if (!control || event.repeat || isGuarded()) return;
  control.click();
  if (control.matches("input")) control.focus();
}

function openDetails(box, field) {
  const details = find(box);
  if (!details) return;
  details.open = true;
  details.querySelector(field)?.focus();
}

async function openCurrent() {
  const link = current()?.querySelector("a.title");
  return link ? visit(link.href) : false;
}

/** Moves in the list, over the end of the page too; beside the list the item follows. */
async function step(by) {
  if (find("#rows")) {
    const isMoved = move(by) || (by > 0 && (await loadMore()) && move(by));
    if (isMoved && isSplit()) openCurrent();
  } else find(by > 0 ? "a#next[rel=next]" : "a#previous[rel=prev]")?.click();
}

function archiveCurrent(event) {
  if (isItem()) press(event, find('#item form[action$="/archive"] button:not(:disabled)'));
  else if (current() && !event.repeat) archive(current());
}

function snooze() {
  if (isItem()) openDetails("#aside-box", ":is(select, input, button):not(:disabled, [type=hidden])");
  else openMenu();
}

const JUMPS = { i: "inbox", n: "notices", z: "aside", h: "history", a: "agents", t: "agents", p: "pulse", r: "runs", s: "settings" };
const JUMP_MS = 1500;
let jumpUntil = 0;

/** `g` and then a letter within a moment follows a link of the navigation. */
function onJump(event) {
  if (event.timeStamp > jumpUntil) return false;
  jumpUntil = 0;
  const target = JUMPS[event.key];
  if (target) find(`#nav-${target}`)?.click();
  return Boolean(target);
}

function last() {
  const all = rows();
  if (all.length > 0) moveTo(all.at(-1));
}

/** Rejects the item that is shown, all selected rows, or the row under the cursor. */
async function reject() {
  const rejectUrl = isItem() ? null : batch.rejectionUrl();
  if (rejectUrl) {
    if (await visit(rejectUrl)) find("#confirm #reason")?.focus();
  } else if (isItem() || (!batch.anyPicked() && (await openCurrent()))) {
    openDetails("#reject", "#reason");
  }
}

function search() {
  const field = find("#q");
  field?.focus();
  field?.select();
}

function escape() {
  const openBox = find("#panel details[open]");
  if (isTyping(document.activeElement)) document.activeElement.blur();
  else if (openBox) closeDetails(openBox);
  else if (batch.anyPicked()) batch.setAll(false);
  else if (document.body.dataset.page !== "list") back();
}

function closeDetails(details) {
  details.open = false;
  details.querySelector("summary")?.focus();
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  x: () => current() && batch.toggle(current()),
  b: () => batch.anyPicked() && find("#batch button[name=verdict]")?.focus(),
  a: (event) => (isItem() ? press(event, find("#answer .choice[data-role=approve], #complete")) : openCurrent()),
  r: reject,
  o: () => find("#answer #own-words, #reply-box .ahead-text")?.focus(),
  c: () => openDetails("#comment-box", "#comment"),
  e: archiveCurrent,
  s: snooze,
  g: (event) => (jumpUntil = event.timeStamp + JUMP_MS),
  G: last,
  z: (event) => event.repeat || undoLast(),
  "/": search,
  "?": openHelp,
};

/** A digit presses the choice with that number, or focuses the field with that number if there are no choices. */
function onDigit(event) {
  const choice = find(`#answer [data-key="${event.key}"]`);
  const fields = document.querySelectorAll(`#answer .field:has(${FIELD}), #answer textarea[name=value]`);
  const field = fields[event.key - 1];
  if (choice) press(event, choice);
  else (field?.querySelector(FIELD) ?? field)?.focus();
  return true;
}

function onSingleKey(event) {
  if (onJump(event)) return true;
  if (/^[1-9]$/.test(event.key)) return onDigit(event);
  if (event.key === "Enter") {
    const isFree = !document.activeElement?.closest("a, button, summary, input");
    if (!isFree || !current()) return false;
    openCurrent();
    return true;
  }
  const handler = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
  handler?.(event);
  return Boolean(handler);
}

/** Enter in a field presses Send or nothing. The browser's default is the first button of the form, which may be Approve. */
function onEnter(event) {
  const field = event.target;
  const form = field.closest?.("form#answer");
  if (!form || event.key !== "Enter" || event.isComposing) return false;
  // Enter on a file input opens its file chooser.
  const isInput = field.tagName === "INPUT" && field.type !== "file";
  const isSubmit = field.tagName === "TEXTAREA" ? event.ctrlKey || event.metaKey : isInput;
  if (!isSubmit) return false;
  event.preventDefault();
  press(event, form.querySelector(field.closest("#reject") ? "#decline" : "#send"));
  return true;
}

function onKeydown(event) {
  if (event.defaultPrevented || onEnter(event)) return;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || find("dialog[open]")) return;
  if (event.key === "Escape") escape();
  else if (isOn("keys") && document.body.dataset.person && !isTyping(event.target) && onSingleKey(event)) event.preventDefault();
}

export function start() {
  document.addEventListener("keydown", onKeydown);
}
