// The page of one item: its panel follows what happens elsewhere, and nothing that was typed is lost.
import { arm } from "./guard.js";
import { isTyping } from "./keys.js";
import { load } from "./swap.js";
import { tell } from "./tell.js";
import { carry } from "./terminals.js";

/** Fields whose text is shown nowhere. */
export const SECRET = "[type=password], .masked";
/** What changes at the head of an item, and in its trail, when it is decided. */
const FOLLOWS = ["#content > .meta-line", "#content > .expiry", "#trail > .trail"];
/** What changes while it is open: whether the agent is there, and how many of its questions are. */
const LIVE = ["#track", "#content > .meta-line > .presence", "#cue", "#agent-note"];
let watching = null;
let asked = 0;

export function shownItem() {
  return document.getElementById("item");
}

/** What the person has written so far, secrets left out. */
export function typed(panel = document.getElementById("panel")) {
  const written = [...(panel?.querySelectorAll("#answer :is(textarea, input:not([type=hidden]))") ?? [])].filter(isTyping);
  const own = written.filter((field) => !field.matches(SECRET) && field.value !== field.defaultValue);
  return own.map((field) => field.value.trim()).filter(Boolean);
}

/** Asks the hub how the item stands and shows that, unless it stands as it stood. The latest question counts. */
export async function renew(id) {
  const mine = (asked += 1);
  const page = await load(`/inbox/items/${encodeURIComponent(id)}`);
  const old = shownItem();
  const fresh = page.main.querySelector("#item");
  if (!fresh || old?.dataset.id !== id || mine !== asked) return;
  const isStillOpen = old.dataset.status === "open" && fresh.dataset.status === "open";
  if (isStillOpen && old.dataset.rev === fresh.dataset.rev) followLive(old, fresh);
  else replacePanel(fresh);
}

/** What is read out when it changes stays in its place, and is left alone when it does not. */
function followLive(old, fresh) {
  for (const part of LIVE) {
    const [one, other] = [old.querySelector(part), fresh.querySelector(part)];
    const isRead = one?.getAttribute("role") === "status";
    if (one && other && !(isRead && one.textContent === other.textContent)) one.replaceChildren(...other.childNodes);
  }
  document.dispatchEvent(new CustomEvent("rows"));
}

/** The content stays where it is and as far as it was read. */
export function replacePanel(fresh) {
  const old = shownItem();
  if (old?.dataset.id !== fresh.dataset.id) return;
  const panel = old.querySelector("#panel");
  const next = document.adoptNode(fresh.querySelector("#panel"));
  const wasOpen = old.dataset.status === "open";
  const words = typed(panel);
  const unused = panel.querySelector("section:has(> #typed)");
  const hadFocus = panel.contains(document.activeElement);
  const typesAhead = document.activeElement?.matches(".ahead-text") ?? false;
  Object.assign(old.dataset, fresh.dataset);
  for (const part of FOLLOWS) follow(old.querySelector(part), fresh.querySelector(part));
  panel.replaceWith(next);
  if (unused && !next.querySelector("#typed, #answer")) next.append(unused);
  if (wasOpen && fresh.dataset.status !== "open" && words.length > 0 && !next.querySelector("#typed")) keep(next, words);
  if (next.querySelector("#answer")) arm();
  document.dispatchEvent(new CustomEvent("panel"));
  if (carry(panel, typesAhead) || !hadFocus) return;
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
}

function follow(part, fresh) {
  if (fresh) part?.replaceWith(document.adoptNode(fresh));
  else part?.remove();
}

function keep(panel, words) {
  const section = document.createElement("section");
  const heading = document.createElement("h2");
  heading.textContent = "What you had typed";
  const text = document.createElement("div");
  text.id = "typed";
  text.textContent = words.join("\n\n");
  section.append(heading, text);
  panel.append(section);
}

/** Somebody else, or its expiry, was first. */
export async function decidedElsewhere(id, words) {
  if (shownItem()?.dataset.id !== id || shownItem().dataset.status !== "open") return;
  await renew(id);
  tell(words);
}

/** On a phone the answer stands below a long content: a button leads there, and hides when one has arrived. */
export function look() {
  watching?.disconnect();
  document.getElementById("jump")?.remove();
  const item = document.getElementById("item");
  const panel = item?.querySelector("#panel");
  const hasBar = item?.dataset.kind === "confirm" && panel?.querySelector(".choices");
  if (!panel?.querySelector("#answer") || hasBar || item.dataset.status !== "open") return;
  const link = document.createElement("a");
  Object.assign(link, { id: "jump", href: "#panel", className: "button primary", textContent: "Answer ↓" });
  item.after(link);
  watching = new IntersectionObserver(([seen]) => link.toggleAttribute("data-there", seen.isIntersecting));
  watching.observe(panel);
}
