// What has just appeared cannot be decided for half a second: a click or a key that was meant for what stood there before
// must not decide anything. That holds for an item, and for the last word on several.
const GUARD_MS = 500;
const GUARDED = ":is(#panel, #confirm)";
let appearing;
let releasing;
let pressedEarly = false;

export function isGuarded() {
  return document.querySelector(`${GUARDED}[data-guarded]`) !== null;
}

export function arm() {
  const guarded = document.querySelector("#panel:has(form), form#confirm");
  cancelAnimationFrame(appearing);
  clearTimeout(releasing);
  if (!guarded) return;
  guarded.setAttribute("data-guarded", "");
  guarded.setAttribute("aria-busy", "true");
  // Counted from the frame that shows it: on a slow machine that comes late.
  appearing = requestAnimationFrame(() => {
    releasing = setTimeout(release, GUARD_MS, guarded);
  });
}

function release(guarded) {
  guarded.removeAttribute("data-guarded");
  guarded.removeAttribute("aria-busy");
}

function refuse(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

function isChoice(target) {
  return target.closest?.(`${GUARDED} :is(button, label, input:is([type=radio], [type=checkbox]))`) ?? null;
}

export function start() {
  document.addEventListener("pointerdown", (event) => (pressedEarly = isGuarded() && Boolean(isChoice(event.target))), true);
  document.addEventListener("click", (event) => {
    const refused = pressedEarly || isGuarded();
    pressedEarly = false;
    if (refused && isChoice(event.target)) refuse(event);
  }, true);
  document.addEventListener("submit", (event) => {
    if (isGuarded() && event.target.closest(GUARDED)) refuse(event);
  }, true);
  document.addEventListener("keydown", (event) => {
    const presses = event.key === "Enter" || event.key === " ";
    if (presses && isGuarded() && isChoice(event.target)) refuse(event);
  }, true);
  document.addEventListener("visibilitychange", () => document.hidden || arm());
}
