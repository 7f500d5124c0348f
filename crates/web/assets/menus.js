// Menus: a click elsewhere or Escape closes an open one. They open and work without scripts.
import { showToast } from "./tell.js";

const openMenus = () => document.querySelectorAll("details.menu[open]");

export function closeAll() {
  for (const menu of openMenus()) menu.open = false;
}

export function openHelp() {
  const dialog = document.querySelector("dialog#help");
  if (dialog && !dialog.open && !document.querySelector("dialog[open]")) dialog.showModal();
}

function onClick({ target }) {
  for (const menu of openMenus()) if (!menu.contains(target)) menu.open = false;
  if (target.closest?.("#open-help")) openHelp();
  if (target.closest?.("#sg-toast")) showToast("Approved.", { href: "#sg-panels", text: "View" });
}

function onKeydown(event) {
  if (event.key !== "Escape" || openMenus().length === 0) return;
  event.preventDefault();
  const menu = [...openMenus()].at(-1);
  closeAll();
  menu.querySelector("summary").focus();
}

export function start() {
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKeydown);
  document.addEventListener("shown", closeAll);
}
