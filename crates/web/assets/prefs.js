// What a person has chosen for this browser: single keys, sound, system notifications.
const NAMES = ["keys", "sound", "system"];
const USUAL = { keys: "on", sound: "off", system: "off" };

export function isOn(name) {
  try {
    return (localStorage.getItem(`countersign.${name}`) ?? USUAL[name]) === "on";
  } catch {
    return USUAL[name] === "on";
  }
}

export function set(name, on) {
  try {
    localStorage.setItem(`countersign.${name}`, on ? "on" : "off");
  } catch {
    // Without storage the choice holds for this page.
  }
  look();
}

/** The same switch may stand in the settings and in the help: the class finds it there. */
function switches(name) {
  return document.querySelectorAll(`#${name}, .switch-${name}`);
}

export function look() {
  document.documentElement.dataset.keys = isOn("keys") ? "on" : "off";
  for (const name of NAMES) for (const box of switches(name)) box.checked = isOn(name);
}

/** `turned(name, on)` may take it back. */
export function start(turned) {
  document.addEventListener("change", (event) => {
    const name = NAMES.find((known) => event.target.matches?.(`#${known}, .switch-${known}`));
    if (!name) return;
    set(name, event.target.checked);
    turned(name, event.target.checked);
  });
  window.addEventListener("storage", look);
}
