// Guard against accidental decisions: the buttons of an item, of a conversation or of a batch confirmation are blocked for
// half a second after they appear. A click or key press aimed at the previous page must not decide anything.
const GUARD_MS = 500;
const GUARDED = ":is(#panel, #confirm, #thread)";
let frame;
let releaseTimer;
let wasPressedGuarded = false;

export function isGuarded() {
  return document.querySelector(`${GUARDED}[data-guarded]`) !== null;
}

export function arm() {
  const guarded = document.querySelector("#panel:has(form), form#confirm, #thread:has(form)");
  cancelAnimationFrame(frame);
  clearTimeout(releaseTimer);
  if (!guarded) return;
  guarded.setAttribute("data-guarded", "");
  guarded.setAttribute("aria-busy", "true");
  // The delay starts with the frame that shows the panel, which may come late on a slow machine.
  frame = requestAnimationFrame(() => {
    releaseTimer = setTimeout(release, GUARD_MS, guarded);
  });
}

function release(guarded) {
  guarded.removeAttribute("data-guarded");
  guarded.removeAttribute("aria-busy");
}

/** When the pointer or the focus entered a row: the buttons of a row are blocked for as long after that. */
const enteredAt = new WeakMap();
let rowsMovedAt = 0;

/** A finger enters with its press, so its rows are blocked for as long after they came or moved. */
function onEnter({ target, relatedTarget, pointerType }) {
  const row = target.closest?.("#rows > .row");
  if (row && !row.contains(relatedTarget)) enteredAt.set(row, pointerType === "touch" ? rowsMovedAt : performance.now());
}

/** The focus that comes with a press of the pointer has not entered a row by itself. */
function onFocus(event) {
  if (event.target.matches(":focus-visible")) onEnter(event);
}

function isTooEarly(target) {
  const row = target.closest?.(".quick")?.closest(".row");
  return Boolean(row) && performance.now() - (enteredAt.get(row) ?? Infinity) < GUARD_MS;
}

function block(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

function choiceAt(target) {
  return target.closest?.(`${GUARDED} :is(button, label, input:is([type=radio], [type=checkbox]))`) ?? null;
}

export function start() {
  document.addEventListener("pointerdown", (event) => (wasPressedGuarded = isGuarded() && Boolean(choiceAt(event.target))), true);
  document.addEventListener("click", (event) => {
    const isBlocked = wasPressedGuarded || isGuarded();
    wasPressedGuarded = false;
    if ((isBlocked && choiceAt(event.target)) || isTooEarly(event.target)) block(event);
  }, true);
  document.addEventListener("pointerover", onEnter, true);
  document.addEventListener("focusin", onFocus, true);
  for (const name of ["rows", "shown"]) document.addEventListener(name, () => (rowsMovedAt = performance.now()));
  document.addEventListener("submit", (event) => {
    if (isGuarded() && event.target.closest(GUARDED)) block(event);
  }, true);
  document.addEventListener("keydown", (event) => {
    const isPress = event.key === "Enter" || event.key === " ";
    if (isPress && isGuarded() && choiceAt(event.target)) block(event);
  }, true);
  document.addEventListener("visibilitychange", () => document.hidden || arm());
}
