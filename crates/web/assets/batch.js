// Several rows at once: a bar with how many are picked, all or none, and ranges with the shift key.
let anchor = null;

function picks() {
  return [...document.querySelectorAll("#rows .pick:not(:disabled)")];
}

function bar() {
  return document.getElementById("batch");
}

export function changed() {
  if (!bar()) return;
  const count = picks().filter((pick) => pick.checked).length;
  bar().toggleAttribute("data-any", count > 0);
  const said = document.getElementById("picked");
  if (said) said.textContent = count > 0 ? `${count} selected` : "";
}

export function any() {
  return picks().some((pick) => pick.checked);
}

export function setAll(checked) {
  for (const pick of picks()) pick.checked = checked;
  anchor = null;
  changed();
}

export function toggle(row) {
  const pick = row.querySelector(".pick:not(:disabled)");
  if (!pick) return;
  pick.checked = !pick.checked;
  anchor = pick;
  changed();
}

/** Where what is selected is rejected with a reason, if it can be. As on an item: Deny where that is offered, else a decline. */
export function rejection() {
  const kinds = picks().filter((pick) => pick.checked).map((pick) => pick.closest(".row").dataset.kind);
  const verdict = kinds.every((kind) => kind === "confirm") ? "deny" : "decline";
  const button = bar()?.querySelector(`button[value=${verdict}]`);
  if (kinds.length === 0 || !button) return null;
  const url = new URL(bar().action);
  url.search = new URLSearchParams(new FormData(bar(), button)).toString();
  return url;
}

function clicked(event) {
  const pick = event.target;
  if (!pick.matches?.("#rows .pick")) return;
  const all = picks();
  const from = anchor?.isConnected && event.shiftKey ? all.indexOf(anchor) : -1;
  const to = all.indexOf(pick);
  if (from >= 0) for (const other of all.slice(Math.min(from, to), Math.max(from, to) + 1)) other.checked = pick.checked;
  anchor = pick;
  changed();
}

function button(words, checked) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", className: "quiet", textContent: words });
  made.addEventListener("click", () => setAll(checked));
  return made;
}

/** A page was shown: its bar gets what only scripts can do. */
export function look() {
  anchor = null;
  const said = document.getElementById("picked");
  if (bar() && said && !bar().querySelector("button[type=button]")) said.after(button("All here", true), button("None", false));
  changed();
}

export function start() {
  document.addEventListener("click", clicked);
  document.addEventListener("rows", changed);
}
