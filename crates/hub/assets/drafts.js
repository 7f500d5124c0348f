// What was entered on an item and not sent. It is kept as long as the page lives, and put back when the item is shown again.
import { SECRET, shownItem } from "./item.js";

const MOST_ITEMS = 50;
const kept = new Map();

function fieldsOf() {
  return [...document.querySelectorAll(`#answer :is(textarea, select, input:not([type=hidden])):not(${SECRET})`)];
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

/** The item that is shown is about to go. The hub says with the next look whether it can still be answered. */
export function keep() {
  const { id, status } = shownItem()?.dataset ?? {};
  if (!id) return;
  kept.delete(id);
  const fields = fieldsOf();
  if (status !== "open" || !fields.some(isEntered)) return;
  kept.set(id, fields.filter((field) => isTicked(field) || isEntered(field)).map(entry));
  if (kept.size > MOST_ITEMS) kept.delete(kept.keys().next().value);
}

export function putBack() {
  const fields = fieldsOf();
  for (const { name, value, checked } of kept.get(shownItem()?.dataset.id) ?? []) {
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
