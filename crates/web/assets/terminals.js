// The page of terminal agents: their presence updates live, and typed text stays.
import { load, show } from "./swap.js";

const LIVE_PARTS = [".here", ".active", ".cues", ".waiting"];

export function isShown() {
  return document.getElementById("terminals") !== null;
}

function cards(within) {
  return new Map([...within.querySelectorAll(".terminal")].map((card) => [card.dataset.agent, card]));
}

function hasTypedText(within) {
  return [...within.querySelectorAll(".ahead-text")].some((field) => field.value !== field.defaultValue || field === document.activeElement);
}

export async function refreshTerminals() {
  const url = location.href;
  const page = await load(url);
  if (location.href !== url || page.status !== 200 || !isShown()) return;
  const [old, fresh] = [cards(document), cards(page.main)];
  const hasSameAgents = old.size === fresh.size && [...old.keys()].every((name) => fresh.has(name));
  if (!hasSameAgents && !hasTypedText(document)) show(page);
  else for (const [name, card] of old) if (fresh.has(name)) updateCard(card, fresh.get(name));
  document.dispatchEvent(new CustomEvent("rows"));
}

function updateCard(card, fresh) {
  for (const part of LIVE_PARTS) {
    const [current, next] = [card.querySelector(part), fresh.querySelector(part)];
    if (current && next && !current.contains(document.activeElement)) current.replaceWith(document.adoptNode(next));
  }
}

/** Moves the type-ahead text, its selection and the focus to the new panel. Returns whether the focus was moved. */
export function moveTypeAhead(old, hadFocus) {
  const oldField = old.querySelector(".ahead-text");
  const field = document.querySelector("#panel .ahead-text");
  if (!oldField || !field || (!oldField.value && !hadFocus)) return false;
  field.value = oldField.value;
  if (!hadFocus) return false;
  field.focus({ preventScroll: true });
  field.setSelectionRange(oldField.selectionStart, oldField.selectionEnd);
  return true;
}
