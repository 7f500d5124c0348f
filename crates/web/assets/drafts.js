// Drafts: answers that were entered and not sent. A draft is restored when its item is shown again, from memory or, after a
// reload, from the session storage of the tab. Sensitive fields and files are never stored.
import { SECRET, shownItem } from "./item.js";
import { broadcast } from "./tabs.js";

const MAX_ITEMS = 50;
const MAX_CHARS = 100_000;
const KEY_PREFIX = "countersign.draft.";
const drafts = new Map();
/** Whether a field was edited since the item was shown, while the item is still open. */
let isEdited = false;
let isSignedOut = false;

function answerFields() {
  return [...document.querySelectorAll(`#answer :is(textarea, select, input:not([type=hidden], [type=file])):not(${SECRET})`)];
}

const isCheckable = (field) => ["checkbox", "radio"].includes(field.type);

/** The value of a field, without a reference to its DOM node. */
function toEntry(field) {
  const { name, value, checked } = field;
  return isCheckable(field) ? { name, value, checked } : { name, value };
}

function isEntered(field) {
  return isCheckable(field) ? field.checked !== field.defaultChecked : field.value.trim() !== "";
}

/** Saves the current field values. The next response from the hub tells whether the item can still be answered. */
export function saveDraft() {
  const { id, status } = shownItem()?.dataset ?? {};
  if (!id || !isEdited) return;
  removeDraft(id);
  const fields = answerFields().filter((field) => isCheckable(field) || isEntered(field));
  if (status !== "open" || !fields.some(isEntered)) return;
  drafts.set(id, fields.map(toEntry));
  if (drafts.size > MAX_ITEMS) removeDraft(drafts.keys().next().value);
  const storable = fields.filter((field) => !field.closest("[data-sensitive]"));
  if (storable.some(isEntered)) storeDraft(id, storable.map(toEntry));
}

function removeDraft(id) {
  drafts.delete(id);
  tryStorage(() => sessionStorage.removeItem(KEY_PREFIX + id));
}

/** Discards the draft of an item that was resolved. */
export function discardDraft(id) {
  if (shownItem()?.dataset.id === id) isEdited = false;
  removeDraft(id);
}

/** Storage may be blocked or full; what is in it then lasts as long as the page. */
export function tryStorage(action) {
  try {
    return action();
  } catch {
    return null;
  }
}

function storeDraft(id, fields) {
  const text = JSON.stringify({ person: document.body.dataset.person, at: Date.now(), fields });
  if (isSignedOut || text.length > MAX_CHARS) return;
  tryStorage(() => sessionStorage.setItem(KEY_PREFIX + id, text));
  const oldestKey = () => storedKeys().sort((one, other) => readStored(one).at - readStored(other).at)[0];
  if (storedKeys().length > MAX_ITEMS) sessionStorage.removeItem(oldestKey());
}

/** The session storage keys of all drafts. */
function storedKeys() {
  return tryStorage(() => Object.keys(sessionStorage).filter((key) => key.startsWith(KEY_PREFIX))) ?? [];
}

function readStored(key) {
  return tryStorage(() => JSON.parse(sessionStorage.getItem(key))) ?? {};
}

function draftOf(id) {
  return drafts.get(id) ?? readStored(KEY_PREFIX + id).fields ?? [];
}

/** Restores the draft of the item that was just shown. */
export function restoreDraft() {
  isEdited = false;
  const { id } = shownItem()?.dataset ?? {};
  const fields = answerFields();
  for (const { name, value, checked } of id ? draftOf(id) : []) {
    const isMatch = (field) => field.name === name && (checked === undefined || field.value === value);
    const field = fields.find(isMatch);
    if (!field) continue;
    const wasDifferent = checked === undefined ? field.value !== value : field.checked !== checked;
    if (checked === undefined) field.value = value;
    else field.checked = checked;
    const details = field.closest("details");
    if (details && wasDifferent) details.open = true;
  }
}

/** Discards the draft if the item is no longer open. */
export function update() {
  const { id, status } = shownItem()?.dataset ?? {};
  if (id && status !== "open") discardDraft(id);
}

/** Sign-out, in this tab or in another: stored drafts are removed. */
export function onSignedOut() {
  isSignedOut = true;
  for (const key of storedKeys()) sessionStorage.removeItem(key);
}

export function start() {
  const { person } = document.body.dataset;
  for (const key of person ? storedKeys() : []) if (readStored(key).person !== person) sessionStorage.removeItem(key);
  document.addEventListener("input", ({ target }) => {
    if (!target.closest?.("#answer")) return;
    isEdited = true;
    saveDraft();
  });
  document.addEventListener("submit", ({ target }) => {
    if (!target.matches("form.signout")) return;
    onSignedOut();
    broadcast("signedOut");
  });
}
