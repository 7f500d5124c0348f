// Batch selection of rows: a bar with the number of picked rows, select all or none, and ranges with the shift key.
import { loadMore } from "./more.js";
import { t } from "./words.js";

let anchor = null;

function picks() {
  return [...document.querySelectorAll("#rows .pick:not(:disabled)")];
}

function bar() {
  return document.getElementById("batch");
}

export function updateBar() {
  if (!bar()) return;
  const count = picks().filter((pick) => pick.checked).length;
  bar().toggleAttribute("data-any", count > 0);
  const label = document.getElementById("picked");
  if (label) label.textContent = count > 0 ? t("{count} selected", { count }) : "";
}

export function anyPicked() {
  return picks().some((pick) => pick.checked);
}

export function setAll(checked) {
  for (const pick of picks()) pick.checked = checked;
  anchor = null;
  updateBar();
}

export function toggle(row) {
  const pick = row.querySelector(".pick:not(:disabled)");
  if (!pick) return;
  pick.checked = !pick.checked;
  anchor = pick;
  updateBar();
}

/** The URL of the reject page for the selected rows, or null. The verdict is Deny if all rows are confirms, else Decline. */
export function rejectionUrl() {
  const kinds = picks().filter((pick) => pick.checked).map((pick) => pick.closest(".row").dataset.kind);
  const verdict = kinds.every((kind) => kind === "confirm") ? "deny" : "decline";
  const button = bar()?.querySelector(`button[value=${verdict}]`);
  if (kinds.length === 0 || !button) return null;
  const url = new URL(bar().action);
  url.search = new URLSearchParams(new FormData(bar(), button)).toString();
  return url;
}

function onClick(event) {
  const pick = event.target;
  if (!pick.matches?.("#rows .pick")) return;
  const all = picks();
  const from = anchor?.isConnected && event.shiftKey ? all.indexOf(anchor) : -1;
  const to = all.indexOf(pick);
  if (from >= 0) for (const other of all.slice(Math.min(from, to), Math.max(from, to) + 1)) other.checked = pick.checked;
  anchor = pick;
  updateBar();
}

/** The hub takes no more at once. */
const MAX_PICKS = 200;

/** Loads the further pages of the list and selects what they show, up to the limit of a batch. */
async function pickAllMatching() {
  while (picks().length < MAX_PICKS && (await loadMore())) continue;
  for (const [index, pick] of picks().entries()) pick.checked = index < MAX_PICKS;
  updateBar();
}

function makeButton(label, onClick) {
  const element = document.createElement("button");
  Object.assign(element, { type: "button", className: "quiet", textContent: label });
  element.addEventListener("click", onClick);
  return element;
}

function selectButtons() {
  const hasMore = document.querySelector("main .pages a#older") && document.querySelector("#rows[data-most]");
  const buttons = [makeButton(t("All here"), () => setAll(true))];
  if (hasMore) buttons.push(makeButton(t("All that match"), pickAllMatching));
  return [...buttons, makeButton(t("None"), () => setAll(false))];
}

/** Adds the script-only buttons to the bar of a page that was just shown. */
export function update() {
  anchor = null;
  const label = document.getElementById("picked");
  if (bar() && label && !bar().querySelector("button[type=button]")) label.after(...selectButtons());
  updateBar();
}

export function start() {
  document.addEventListener("click", onClick);
  document.addEventListener("rows", updateBar);
}
