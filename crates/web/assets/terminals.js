// The agents in terminals: who is there follows by itself, and what is being typed for one stays.
import { load, show } from "./swap.js";

const FOLLOWS = [".here", ".active", ".cues", ".waiting"];

export function isShown() {
  return document.getElementById("terminals") !== null;
}

function cards(within) {
  return new Map([...within.querySelectorAll(".terminal")].map((card) => [card.dataset.agent, card]));
}

function isTypedIn(within) {
  return [...within.querySelectorAll(".ahead-text")].some((field) => field.value !== field.defaultValue || field === document.activeElement);
}

export async function renewTerminals() {
  const before = location.href;
  const page = await load(before);
  if (location.href !== before || page.status !== 200 || !isShown()) return;
  const [old, fresh] = [cards(document), cards(page.main)];
  const isSame = old.size === fresh.size && [...old.keys()].every((name) => fresh.has(name));
  if (!isSame && !isTypedIn(document)) show(page);
  else for (const [name, card] of old) if (fresh.has(name)) follow(card, fresh.get(name));
  document.dispatchEvent(new CustomEvent("rows"));
}

function follow(card, fresh) {
  for (const part of FOLLOWS) {
    const [one, other] = [card.querySelector(part), fresh.querySelector(part)];
    if (one && other && !one.contains(document.activeElement)) one.replaceWith(document.adoptNode(other));
  }
}

/** A panel was rendered anew: what is being typed for later goes on. The new panel is in its place. */
export function carry(old, hadFocus) {
  const typed = old.querySelector(".ahead-text");
  const field = document.querySelector("#panel .ahead-text");
  if (!typed || !field || (!typed.value && !hadFocus)) return false;
  field.value = typed.value;
  if (!hadFocus) return false;
  field.focus({ preventScroll: true });
  field.setSelectionRange(typed.selectionStart, typed.selectionEnd);
  return true;
}
