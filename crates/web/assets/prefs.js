// Preferences of this browser: single keys, sound, system notifications, and the look.
const NAMES = ["keys", "sound", "system"];
const DEFAULTS = { keys: "on", sound: "off", system: "off" };

export function isOn(name) {
  try {
    return (localStorage.getItem(`countersign.${name}`) ?? DEFAULTS[name]) === "on";
  } catch {
    return DEFAULTS[name] === "on";
  }
}

export function set(name, on) {
  try {
    localStorage.setItem(`countersign.${name}`, on ? "on" : "off");
  } catch {
    // Storage is blocked: the preference is not saved.
  }
  update();
}

/** A cookie that the hub reads, kept for a year. */
export function setCookie(name, value) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${name}=${value}; Path=/; SameSite=Lax; Max-Age=31536000${secure}`;
}

/**
 * Applies a theme or a density at once; another language needs the page again. The cookie tells the hub, which renders the
 * look into every page from then on.
 */
export function setLook(name, value) {
  const root = document.documentElement;
  if (value === "system") delete root.dataset[name];
  else root.dataset[name] = value;
  const { theme = "system", density = "compact", language = "system" } = root.dataset;
  setCookie("countersign_look", `${theme}.${density}.${language}`);
  if (name === "language") reloadInLanguage();
  const schemes = theme === "system" ? "light dark" : theme;
  document.querySelector("meta[name=color-scheme]")?.setAttribute("content", schemes);
  update();
}

/** The offline page is cached in the former language. */
async function reloadInLanguage() {
  const names = globalThis.caches ? await caches.keys() : [];
  const refresh = async (name) => (await caches.open(name)).add(new Request("/inbox/offline", { cache: "reload" }));
  await Promise.allSettled(names.filter((name) => name.startsWith("countersign-")).map(refresh));
  location.reload();
}

function onLook(event) {
  const button = event.submitter;
  if (!event.target.matches?.("form.look") || !button?.name) return;
  event.preventDefault();
  setLook(button.name, button.value);
}

function showLook() {
  const look = { theme: "system", density: "compact", language: "system", ...document.documentElement.dataset };
  for (const button of document.querySelectorAll("form.look button[name]")) {
    button.setAttribute("aria-pressed", String(button.value === look[button.name]));
  }
}

/** All checkboxes of a preference: in the settings by id, in the help by class. */
function switches(name) {
  return document.querySelectorAll(`#${name}, .switch-${name}`);
}

export function update() {
  document.documentElement.dataset.keys = isOn("keys") ? "on" : "off";
  showLook();
  for (const name of NAMES) for (const box of switches(name)) box.checked = isOn(name);
}

/** `onChange(name, on)` is called after each change and may revert it with `set`. */
export function start(onChange) {
  document.addEventListener("change", (event) => {
    const name = NAMES.find((candidate) => event.target.matches?.(`#${candidate}, .switch-${candidate}`));
    if (!name) return;
    set(name, event.target.checked);
    onChange(name, event.target.checked);
  });
  // Before the handler that sends forms.
  document.addEventListener("submit", onLook, true);
  window.addEventListener("storage", update);
}
