// Swipes on a touch screen: to the right opens the snooze menu of a row, to the left archives a notice. A swipe never decides.
import { archive, list, moveTo } from "./rows.js";
import { openMenu } from "./snooze.js";

const MIN_PX = 80;
/** As for the buttons of an item: a touch that was meant for the page before does nothing. */
const GUARD_MS = 500;
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
let shownAt = 0;
let touch = null;

function onStart(event) {
  end();
  const row = event.target.closest?.("#rows > .row:not(.gone)");
  const isFresh = performance.now() - shownAt < GUARD_MS;
  if (!row || isFresh || event.touches.length !== 1 || !actionOf(row)) return;
  const [{ clientX: x, clientY: y }] = event.touches;
  touch = { row, x, y, dx: 0 };
}

/** What a swipe of this row does: its direction and its action. */
function actionOf(row) {
  const name = list()?.dataset.list;
  if (name === "open") return { sign: 1, run: () => openSnooze(row) };
  if (name === "notices") return { sign: -1, run: () => archive(row) };
  return null;
}

function openSnooze(row) {
  moveTo(row, { focus: false });
  openMenu();
}

function onMove(event) {
  if (!touch) return;
  const [{ clientX, clientY }] = event.touches;
  const dx = clientX - touch.x;
  if (event.touches.length > 1 || Math.abs(clientY - touch.y) > Math.max(Math.abs(dx), 20)) {
    end();
    return;
  }
  touch.dx = dx;
  const { sign } = actionOf(touch.row) ?? {};
  if (!STILL.matches && sign * dx > 0) touch.row.style.transform = `translateX(${dx}px)`;
}

function onEnd() {
  const { row, dx } = touch ?? {};
  const action = row && actionOf(row);
  end();
  if (action && action.sign * dx >= MIN_PX) action.run();
}

function end() {
  if (touch) touch.row.style.transform = "";
  touch = null;
}

export function start() {
  shownAt = performance.now();
  document.addEventListener("shown", () => (shownAt = performance.now()));
  document.addEventListener("touchstart", onStart, { passive: true });
  document.addEventListener("touchmove", onMove, { passive: true });
  document.addEventListener("touchend", onEnd);
  document.addEventListener("touchcancel", end);
}
