// An item that has just appeared cannot be answered for half a second: a click or a key that was meant for what stood there
// before must not decide anything.
const GUARD_MS = 500;
let releasing;
let pressedEarly = false;

function panel() {
  return document.getElementById("panel");
}

export function isGuarded() {
  return panel()?.hasAttribute("data-guarded") ?? false;
}

export function arm() {
  const guarded = panel();
  clearTimeout(releasing);
  if (!guarded?.querySelector("form")) return;
  guarded.setAttribute("data-guarded", "");
  guarded.setAttribute("aria-busy", "true");
  releasing = setTimeout(() => {
    guarded.removeAttribute("data-guarded");
    guarded.removeAttribute("aria-busy");
  }, GUARD_MS);
}

function refuse(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

function isChoice(target) {
  return target.closest?.("#panel :is(button, label, input:is([type=radio], [type=checkbox]))") ?? null;
}

export function start() {
  document.addEventListener("pointerdown", (event) => (pressedEarly = isGuarded() && Boolean(isChoice(event.target))), true);
  document.addEventListener("click", (event) => {
    const refused = pressedEarly || isGuarded();
    pressedEarly = false;
    if (refused && isChoice(event.target)) refuse(event);
  }, true);
  document.addEventListener("submit", (event) => {
    if (isGuarded() && event.target.closest("#panel")) refuse(event);
  }, true);
  document.addEventListener("keydown", (event) => {
    const presses = event.key === "Enter" || event.key === " ";
    if (presses && isGuarded() && isChoice(event.target)) refuse(event);
  }, true);
  document.addEventListener("visibilitychange", () => document.hidden || arm());
}
