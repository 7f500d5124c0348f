// The page of figures follows live events. Its figures are counted on the hub.
import { load } from "./swap.js";
import { throttled } from "./throttle.js";

const MIN_INTERVAL_MS = 2000;
/** The parts of the page that change. */
const PARTS = ["#pulse > .tiles", "#pulse > .charts", "#by-agent"];

export function isShown() {
  return document.getElementById("pulse") !== null;
}

export async function refreshPulse() {
  const url = location.href;
  const page = await load(url);
  if (location.href !== url || page.status !== 200 || !isShown()) return;
  for (const part of PARTS) {
    const [shown, fresh] = [document, page.main].map((root) => root.querySelector(part));
    // A link that has the focus keeps it; a later event brings the figures.
    if (fresh && !shown.contains(document.activeElement)) shown.replaceWith(document.adoptNode(fresh));
  }
  document.dispatchEvent(new CustomEvent("rows"));
}

export const scheduleRefresh = throttled(isShown, refreshPulse, MIN_INTERVAL_MS);
