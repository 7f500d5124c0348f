// Single keys. They never work together with ctrl, alt or meta, never while something is typed, and can be switched off.
import * as batch from "./batch.js";
import { isGuarded } from "./guard.js";
import { isOn } from "./prefs.js";
import { archive, current, move } from "./rows.js";
import { back, visit } from "./swap.js";

const NOT_TYPED_IN = ["checkbox", "radio", "button", "submit", "reset", "range", "color", "file", "image"];

export function isTyping(element) {
  if (!element) return false;
  if (element.tagName === "INPUT") return !NOT_TYPED_IN.includes(element.type);
  return ["TEXTAREA", "SELECT"].includes(element.tagName) || element.isContentEditable;
}

const FIELD = ":is(input, select, textarea)";

const find = (selector) => document.querySelector(selector);
const isItem = () => Boolean(find("#item"));

/** A decision takes a press of its own: not a key that is held down, not an item that has just come. */
function press(event, control) {
  if (!control || event.repeat || isGuarded()) return;
  control.click();
  if (control.matches("input")) control.focus();
}

function unfold(box, field) {
  const details = find(box);
  if (!details) return;
  details.open = true;
  details.querySelector(field)?.focus();
}

async function open() {
  const link = current()?.querySelector("a.title");
  return link ? visit(link.href) : false;
}

function step(by) {
  if (find("#rows")) move(by);
  else find(by > 0 ? "a#next[rel=next]" : "a#previous[rel=prev]")?.click();
}

function away(event) {
  if (isItem()) press(event, find('#item form[action$="/archive"] button:not(:disabled)'));
  else if (current() && !event.repeat) archive(current());
}

async function aside() {
  if (isItem() || (await open())) unfold("#aside-box", ":is(select, input, button):not(:disabled, [type=hidden])");
}

/** On an item, for all that is selected, or for the row under the cursor. */
async function reject() {
  const review = isItem() ? null : batch.rejection();
  if (review) {
    if (await visit(review)) find("#confirm #reason")?.focus();
  } else if (isItem() || (!batch.any() && (await open()))) {
    unfold("#reject", "#reason");
  }
}

function search() {
  const field = find("#q");
  field?.focus();
  field?.select();
}

function help() {
  const dialog = find("dialog#help");
  if (dialog && !dialog.open) dialog.showModal();
}

function escape() {
  const unfolded = find("#panel details[open]");
  if (isTyping(document.activeElement)) document.activeElement.blur();
  else if (unfolded) fold(unfolded);
  else if (batch.any()) batch.setAll(false);
  else if (document.body.dataset.page !== "list") back();
}

function fold(details) {
  details.open = false;
  details.querySelector("summary")?.focus();
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  x: () => current() && batch.toggle(current()),
  b: () => batch.any() && find("#batch button[name=verdict]")?.focus(),
  a: (event) => (isItem() ? press(event, find("#answer .choice[data-role=approve], #complete")) : open()),
  r: reject,
  o: () => find("#answer #own-words")?.focus(),
  c: () => unfold("#comment-box", "#comment"),
  e: away,
  s: aside,
  "/": search,
  "?": help,
};

/** A choice is made; where there are none, the field with that number is gone to. */
function nth(event) {
  const choice = find(`#answer [data-key="${event.key}"]`);
  const fields = document.querySelectorAll(`#answer .field:has(${FIELD}), #answer textarea[name=value]`);
  const field = fields[event.key - 1];
  if (choice) press(event, choice);
  else (field?.querySelector(FIELD) ?? field)?.focus();
  return true;
}

function single(event) {
  if (/^[1-9]$/.test(event.key)) return nth(event);
  if (event.key === "Enter") {
    const isElsewhere = !document.activeElement?.closest("a, button, summary, input");
    if (!isElsewhere || !current()) return false;
    open();
    return true;
  }
  const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
  act?.(event);
  return Boolean(act);
}

/** Enter in a field would press the first button of the form, which may be Approve. It presses Send or nothing. */
function entered(event) {
  const field = event.target;
  const form = field.closest?.("form#answer");
  if (!form || event.key !== "Enter" || event.isComposing) return false;
  // On a file it chooses one.
  const isInput = field.tagName === "INPUT" && field.type !== "file";
  const isSent = field.tagName === "TEXTAREA" ? event.ctrlKey || event.metaKey : isInput;
  if (!isSent) return false;
  event.preventDefault();
  press(event, form.querySelector(field.closest("#reject") ? "#decline" : "#send"));
  return true;
}

function pressed(event) {
  if (event.defaultPrevented || entered(event)) return;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || find("dialog[open]")) return;
  if (event.key === "Escape") escape();
  else if (isOn("keys") && document.body.dataset.person && !isTyping(event.target) && single(event)) event.preventDefault();
}

export function start() {
  document.addEventListener("keydown", pressed);
}
