// Sound and system notifications, both opt-in. A notification never contains the text of a sensitive question.
import { isOn, set } from "./prefs.js";
import { csrfToken } from "./rows.js";
import { showToast } from "./tell.js";
import { t } from "./words.js";

const BATCH_MS = 800;
const MAX_TITLE_CHARS = 120;
let audio = null;
let pending = [];

/** Audio is allowed by browsers only after a user gesture. */
function resumeAudio() {
  if (!isOn("sound") || !globalThis.AudioContext) return;
  audio ??= new AudioContext();
  audio.resume();
}

function playTone(frequency, at) {
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

function playSound() {
  resumeAudio();
  if (audio?.state !== "running") return;
  playTone(660, audio.currentTime);
  playTone(880, audio.currentTime + 0.12);
}

async function showSystem(events) {
  const isFocused = !document.hidden && document.hasFocus();
  if (isFocused || globalThis.Notification?.permission !== "granted") return;
  const [first] = events;
  const isSingle = events.length === 1;
  const singleTitle = first.sensitive ? t("A sensitive question") : `${first.agent}: ${first.title}`.slice(0, MAX_TITLE_CHARS);
  const options = { tag: isSingle ? first.id : "several", data: { path: isSingle ? `/inbox/items/${first.id}` : "/inbox" }, icon: iconUrl() };
  const title = isSingle ? singleTitle : t("{count} new questions", { count: events.length });
  const registration = await navigator.serviceWorker?.getRegistration("/inbox");
  if (registration?.active) await registration.showNotification(title, options);
  else new Notification(title, options);
}

function iconUrl() {
  return document.querySelector("link[rel=apple-touch-icon]")?.href;
}

/** Events are batched: one sound and one notification per batch. */
export function announce(event) {
  pending.push(event);
  if (pending.length > 1) return;
  setTimeout(() => {
    const events = pending;
    pending = [];
    if (isOn("sound")) playSound();
    if (isOn("system")) showSystem(events).catch(() => {});
  }, BATCH_MS);
}

/** The first step about alerts is done for this person; the hub cannot see the preferences of a browser. */
function finishFirstStep() {
  const body = new URLSearchParams({ csrf: csrfToken(), step: "notifications" });
  // A lost request leaves the step on the card, where a button hides it.
  fetch("/inbox/onboarding", { method: "POST", body, redirect: "manual", keepalive: true }).catch(() => {});
}

/** Reaction to a changed preference: a sample sound, or the permission request for notifications. */
export async function onPrefChange(name, on) {
  if (!on) return;
  if (name === "sound") {
    playSound();
    finishFirstStep();
    return;
  }
  if (name !== "system") return;
  const permission = (await globalThis.Notification?.requestPermission()) ?? "missing";
  if (permission === "granted") {
    finishFirstStep();
    return;
  }
  set("system", false);
  showToast(permission === "missing" ? t("This browser has no system notifications.") : t("Notifications are blocked in this browser's settings for this site."));
}

export function wantsAlerts() {
  return isOn("sound") || isOn("system");
}

export function start() {
  for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, resumeAudio, { passive: true });
}
