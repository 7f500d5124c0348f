// The item page: its panel follows changes made elsewhere and keeps typed text.
import { moveTypeAhead } from "./conversation.js";
import { arm } from "./guard.js";
import { isTyping } from "./keys.js";
import { load } from "./swap.js";
import { showToast } from "./tell.js";
import { t } from "./words.js";

/** Fields with masked text. */
export const SECRET = "[type=password], .masked";
/** Parts of the item head and its trail that change when the item is resolved. */
const STATUS_PARTS = ["#content > .meta-line", "#content > .expiry", "#trail > .trail"];
/** Parts that change while the item is open: the agent's presence and the number of its questions. */
const LIVE_PARTS = ["#track", "#content > .meta-line > .presence", "#cue", "#agent-note"];
let observer = null;
let latestRequest = 0;

export function shownItem() {
  return document.getElementById("item");
}

/** The texts the person has typed so far, without secrets. */
export function typedTexts(panel = document.getElementById("panel")) {
  const fields = [...(panel?.querySelectorAll("#answer :is(textarea, input:not([type=hidden]))") ?? [])].filter(isTyping);
  const edited = fields.filter((field) => !field.matches(SECRET) && field.value !== field.defaultValue);
  return edited.map((field) => field.value.trim()).filter(Boolean);
}

/** Loads the item from the hub and updates the parts that changed. Responses to superseded requests are ignored. */
export async function refreshItem(id) {
  const request = (latestRequest += 1);
  const { query = "" } = shownItem()?.dataset ?? {};
  const page = await load(`/inbox/items/${encodeURIComponent(id)}${query}`);
  const old = shownItem();
  const fresh = page.main.querySelector("#item");
  if (!fresh || old?.dataset.id !== id || request !== latestRequest) return;
  const isStillOpen = old.dataset.status === "open" && fresh.dataset.status === "open";
  if (isStillOpen && old.dataset.rev === fresh.dataset.rev) updateLive(old, fresh);
  else replacePanel(fresh);
}

/** Live regions (role=status) keep their element, and change only with their text, so that screen readers announce them once. */
function updateLive(old, fresh) {
  for (const part of LIVE_PARTS) {
    const [current, next] = [old.querySelector(part), fresh.querySelector(part)];
    const isAnnounced = current?.getAttribute("role") === "status";
    if (current && next && !(isAnnounced && current.textContent === next.textContent)) current.replaceChildren(...next.childNodes);
  }
  document.dispatchEvent(new CustomEvent("rows"));
}

/** Replaces the panel; the content and its scroll position stay. */
export function replacePanel(fresh) {
  const old = shownItem();
  if (old?.dataset.id !== fresh.dataset.id) return;
  const panel = old.querySelector("#panel");
  const next = document.adoptNode(fresh.querySelector("#panel"));
  const wasOpen = old.dataset.status === "open";
  const texts = typedTexts(panel);
  const typedSection = panel.querySelector("section:has(> #typed)");
  const hadFocus = panel.contains(document.activeElement);
  const typesAhead = document.activeElement?.matches(".ahead-text") ?? false;
  Object.assign(old.dataset, fresh.dataset);
  for (const part of STATUS_PARTS) replacePart(old.querySelector(part), fresh.querySelector(part));
  panel.replaceWith(next);
  if (typedSection && !next.querySelector("#typed, #answer")) next.append(typedSection);
  if (wasOpen && fresh.dataset.status !== "open" && texts.length > 0 && !next.querySelector("#typed")) appendTyped(next, texts);
  if (next.querySelector("#answer")) arm();
  document.dispatchEvent(new CustomEvent("panel"));
  if (moveTypeAhead(panel, typesAhead) || !hadFocus) return;
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
}

/** A part that is over keeps its room, so that the text below it stays where it is read. */
function replacePart(part, fresh) {
  if (fresh) part?.replaceWith(document.adoptNode(fresh));
  else if (part) Object.assign(part, { className: "", textContent: part.textContent }).dataset.over = "";
}

function appendTyped(panel, texts) {
  const section = document.createElement("section");
  const heading = document.createElement("h2");
  heading.textContent = t("What you had typed");
  const text = document.createElement("div");
  text.id = "typed";
  text.textContent = texts.join("\n\n");
  section.append(heading, text);
  panel.append(section);
}

/** A live event resolved the item: another person, its agent or its expiry. */
export async function onResolved(id, message) {
  if (shownItem()?.dataset.id !== id || shownItem().dataset.status !== "open") return;
  await refreshItem(id);
  showToast(message);
}

/** A jump button to the answer form, which is below the content on a phone. It hides while the panel is in view. */
export function update() {
  observer?.disconnect();
  document.getElementById("jump")?.remove();
  const item = document.getElementById("item");
  const panel = item?.querySelector("#panel");
  const hasBar = item?.dataset.kind === "confirm" && panel?.querySelector(".choices");
  if (!panel?.querySelector("#answer") || hasBar || item.dataset.status !== "open") return;
  const link = document.createElement("a");
  Object.assign(link, { id: "jump", href: "#panel", className: "button primary", textContent: t("Answer ↓") });
  item.after(link);
  observer = new IntersectionObserver(([entry]) => link.toggleAttribute("data-there", entry.isIntersecting));
  observer.observe(panel);
}
