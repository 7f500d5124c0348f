// What was entered on an item and not sent. It is put back when the item is shown again: in this page from memory, and after a
// reload from the storage of the tab. Nothing sensitive is stored, and no files.
import { SECRET, shownItem } from "./item.js";
import { pass } from "./tabs.js";

const MOST_ITEMS = 50;
const MOST_CHARS = 100_000;
const STORED = "countersign.draft.";
const kept = new Map();
/** Something was entered since the item came, and it was not decided since. */
let isEdited = false;
let isSignedOut = false;

function fieldsOf() {
  return [...document.querySelectorAll(`#answer :is(textarea, select, input:not([type=hidden], [type=file])):not(${SECRET})`)];
}

const isTicked = (field) => ["checkbox", "radio"].includes(field.type);

/** Said without the field, which goes with its page. */
function entry(field) {
  const { name, value, checked } = field;
  return isTicked(field) ? { name, value, checked } : { name, value };
}

function isEntered(field) {
  return isTicked(field) ? field.checked !== field.defaultChecked : field.value.trim() !== "";
}

/** What stands in the fields now. The hub says with the next look whether the item can still be answered. */
export function keep() {
  const { id, status } = shownItem()?.dataset ?? {};
  if (!id || !isEdited) return;
  forget(id);
  const fields = fieldsOf().filter((field) => isTicked(field) || isEntered(field));
  if (status !== "open" || !fields.some(isEntered)) return;
  kept.set(id, fields.map(entry));
  if (kept.size > MOST_ITEMS) forget(kept.keys().next().value);
  const open = fields.filter((field) => !field.closest("[data-sensitive]"));
  if (open.some(isEntered)) store(id, open.map(entry));
}

function forget(id) {
  kept.delete(id);
  attempt(() => sessionStorage.removeItem(STORED + id));
}

/** Somebody has decided it: what is left on its page is no draft any more. */
export function drop(id) {
  if (shownItem()?.dataset.id === id) isEdited = false;
  forget(id);
}

/** Storage may be forbidden or full; drafts are then kept as long as the page lives. */
function attempt(act) {
  try {
    return act();
  } catch {
    return null;
  }
}

function store(id, fields) {
  const text = JSON.stringify({ person: document.body.dataset.person, at: Date.now(), fields });
  if (isSignedOut || text.length > MOST_CHARS) return;
  attempt(() => sessionStorage.setItem(STORED + id, text));
  const oldest = () => stored().sort((one, other) => read(one).at - read(other).at)[0];
  if (stored().length > MOST_ITEMS) sessionStorage.removeItem(oldest());
}

/** The names they are stored under. */
function stored() {
  return attempt(() => Object.keys(sessionStorage).filter((key) => key.startsWith(STORED))) ?? [];
}

function read(key) {
  return attempt(() => JSON.parse(sessionStorage.getItem(key))) ?? {};
}

function draft(id) {
  return kept.get(id) ?? read(STORED + id).fields ?? [];
}

/** An item is shown. */
export function putBack() {
  isEdited = false;
  const { id } = shownItem()?.dataset ?? {};
  const fields = fieldsOf();
  for (const { name, value, checked } of id ? draft(id) : []) {
    const isIt = (field) => field.name === name && (checked === undefined || field.value === value);
    const field = fields.find(isIt);
    if (!field) continue;
    const wasDifferent = checked === undefined ? field.value !== value : field.checked !== checked;
    if (checked === undefined) field.value = value;
    else field.checked = checked;
    const box = field.closest("details");
    if (box && wasDifferent) box.open = true;
  }
}

/** How the item stands may have changed. */
export function look() {
  const { id, status } = shownItem()?.dataset ?? {};
  if (id && status !== "open") drop(id);
}

/** In this tab or in another. */
export function signedOut() {
  isSignedOut = true;
  for (const key of stored()) sessionStorage.removeItem(key);
}

export function start() {
  const { person } = document.body.dataset;
  for (const key of person ? stored() : []) if (read(key).person !== person) sessionStorage.removeItem(key);
  document.addEventListener("input", ({ target }) => {
    if (!target.closest?.("#answer")) return;
    isEdited = true;
    keep();
  });
  document.addEventListener("submit", ({ target }) => {
    if (!target.matches("form.signout")) return;
    signedOut();
    pass("signedOut");
  });
}
