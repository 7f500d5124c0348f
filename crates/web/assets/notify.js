// Sound and system notifications, both only when asked for. The text of a sensitive question never leaves the page.
import { isOn, set } from "./prefs.js";
import { tell } from "./tell.js";

const GATHER_MS = 800;
const TITLE_CHARS = 120;
let audio = null;
let waiting = [];

/** Browsers let a page sound only after somebody has touched it. */
function wakeAudio() {
  if (!isOn("sound") || !globalThis.AudioContext) return;
  audio ??= new AudioContext();
  audio.resume();
}

function tone(frequency, at) {
  const oscillator = audio.createOscillator();
  const gain = audio.createGain();
  oscillator.frequency.value = frequency;
  gain.gain.setValueAtTime(0.0001, at);
  gain.gain.exponentialRampToValueAtTime(0.12, at + 0.02);
  gain.gain.exponentialRampToValueAtTime(0.0001, at + 0.22);
  oscillator.connect(gain).connect(audio.destination);
  oscillator.start(at);
  oscillator.stop(at + 0.25);
}

function sound() {
  wakeAudio();
  if (audio?.state !== "running") return;
  tone(660, audio.currentTime);
  tone(880, audio.currentTime + 0.12);
}

async function system(events) {
  const isLooking = !document.hidden && document.hasFocus();
  if (isLooking || globalThis.Notification?.permission !== "granted") return;
  const [first] = events;
  const isOne = events.length === 1;
  const one = first.sensitive ? "A sensitive question" : `${first.agent}: ${first.title}`.slice(0, TITLE_CHARS);
  const options = { tag: isOne ? first.id : "several", data: { path: isOne ? `/inbox/items/${first.id}` : "/inbox" }, icon: icon() };
  const title = isOne ? one : `${events.length} new questions`;
  const registration = await navigator.serviceWorker?.getRegistration("/inbox");
  if (registration?.active) await registration.showNotification(title, options);
  else new Notification(title, options);
}

function icon() {
  return document.querySelector("link[rel=apple-touch-icon]")?.href;
}

/** Several that come at once are told of once. */
export function announce(event) {
  waiting.push(event);
  if (waiting.length > 1) return;
  setTimeout(() => {
    const events = waiting;
    waiting = [];
    if (isOn("sound")) sound();
    if (isOn("system")) system(events).catch(() => {});
  }, GATHER_MS);
}

/** A switch was turned. */
export async function turned(name, on) {
  if (!on) return;
  if (name === "sound") {
    sound();
    return;
  }
  if (name !== "system") return;
  const answer = (await globalThis.Notification?.requestPermission()) ?? "missing";
  if (answer === "granted") return;
  set("system", false);
  tell(answer === "missing" ? "This browser has no system notifications." : "Notifications are blocked in this browser's settings for this site.");
}

export function wants() {
  return isOn("sound") || isOn("system");
}

export function start() {
  for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, wakeAudio, { passive: true });
}
