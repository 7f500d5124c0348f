// The command palette (Ctrl-K): pages, filters, views, the order, settings, the look and the actions of the item that is shown,
// found by typing.
import { closeAll, openHelp } from "./menus.js";
import { setLook } from "./prefs.js";
import { isSwapped, visit } from "./swap.js";
import { t } from "./words.js";

const LOOKS = { theme: t("Theme"), density: t("Density"), language: t("Language") };
const FILTERS = { agent: "Filter agent: {text}", project: "Filter project: {text}", tag: "Filter tag: {text}", kind: "Filter kind: {text}" };
const find = (selector) => document.querySelector(selector);
const dialog = () => find("dialog#palette");
const field = () => find("#palette-field");
const options = () => [...document.querySelectorAll("#palette-list [role=option]")];
let shown = [];
/** The commands of every page, from the hub. */
let common = [];

function go(href) {
  const url = new URL(href, location.href);
  if (isSwapped(url)) visit(url);
  else location.assign(url);
}

/** The commands of the page that is shown. */
function commands() {
  const links = (selector, phrase) =>
    [...document.querySelectorAll(selector)].map((link) => ({
      text: t(phrase, { page: link.textContent.replace(/\d+\+?\s*$/, "").trim() }),
      run: () => go(link.href),
    }));
  const looks = [...document.querySelectorAll("#me-menu form.look button[name]")].map(({ name, value, textContent }) => ({
    text: `${LOOKS[name]}: ${textContent}`,
    run: () => setLook(name, value),
  }));
  const found = [
    ...actions(),
    ...links(".top nav a", "Go to {page}"),
    ...links("#nav-settings", "Go to {page}"),
    ...links("#view-box .view > a", "View: {page}"),
    ...links("#sort-box .sheet a", "Sort: {page}"),
    ...links(".toolbar .segments a", "Show: {page}"),
    ...filters(),
    ...looks,
    { text: t("Keys and help"), run: openHelp },
  ];
  const texts = new Set(found.map(({ text }) => text));
  return [...found, ...common.filter(({ text }) => !texts.has(text))];
}

/** What can be done with the item that is shown: its buttons, and the boxes that open. */
function actions() {
  const controls = document.querySelectorAll("#panel :is(button[type=submit]:not(:disabled, .no-script, details *), summary)");
  return [...controls].map((control) => ({ text: t("Item: {action}", { action: labelOf(control) }), run: () => press(control) }));
}

function labelOf(control) {
  const copy = control.cloneNode(true);
  for (const key of copy.querySelectorAll("kbd")) key.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
}

function press(control) {
  control.click();
  const box = control.closest("details[open]");
  box?.querySelector(":is(textarea, select, input, button):not(:disabled, [type=hidden])")?.focus();
}

/** A page that cannot load them still has its own commands. */
async function loadCommon() {
  const response = await fetch("/inbox/palette").catch(() => null);
  const isList = response?.ok && response.headers.get("content-type")?.startsWith("application/json");
  if (!isList) return;
  common = (await response.json()).map(({ text, href }) => ({ text, run: () => go(href) }));
  if (dialog().open) render();
}

/** One command per agent, project and tag in the list that is shown. */
function filters() {
  const found = new Map();
  for (const link of document.querySelectorAll("#rows a:is(.agent, .project, .tag, .kind)")) {
    found.set(link.href, { text: t(FILTERS[link.className], { text: link.textContent.trim() }), run: () => go(link.href) });
  }
  return [...found.values()];
}

function matches({ text }, words) {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

function render() {
  const words = field().value.toLowerCase().split(/\s+/).filter(Boolean);
  const search = field().value.trim();
  shown = commands().filter((command) => matches(command, words)).slice(0, 50);
  if (search) shown.push({ text: t("Search for “{text}”", { text: search }), run: () => go(`/inbox/search?q=${encodeURIComponent(search)}`) });
  find("#palette-list").replaceChildren(...shown.map(createOption));
  select(0);
}

function createOption({ text }, index) {
  const option = document.createElement("li");
  Object.assign(option, { id: `palette-${index}`, role: "option", textContent: text });
  return option;
}

function select(index) {
  const all = options();
  const at = (index + all.length) % all.length;
  for (const [position, option] of all.entries()) option.setAttribute("aria-selected", String(position === at));
  field().setAttribute("aria-activedescendant", all[at]?.id ?? "");
  all[at]?.scrollIntoView({ block: "nearest" });
}

function selected() {
  return options().findIndex((option) => option.ariaSelected === "true");
}

function run(index) {
  const command = shown[index];
  dialog().close();
  command?.run();
}

export function open() {
  if (!dialog() || find("dialog[open]")) return;
  closeAll();
  field().value = "";
  dialog().showModal();
  render();
  field().focus();
  loadCommon();
}

function onKeydown(event) {
  const isOpenKey = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k";
  if (isOpenKey && dialog()) {
    event.preventDefault();
    if (dialog().open) dialog().close();
    else open();
    return;
  }
  if (!dialog()?.open || event.isComposing) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) select(selected() + step);
  else if (event.key === "Enter") run(selected());
  else return;
  event.preventDefault();
}

export function start() {
  document.addEventListener("keydown", onKeydown, true);
  document.addEventListener("input", (event) => event.target === field() && render());
  document.addEventListener("click", ({ target }) => {
    const at = options().indexOf(target.closest?.("#palette-list [role=option]"));
    if (at >= 0) run(at);
    if (target === dialog()) dialog().close();
  });
}
