// Preferences of this browser: single keys, sound, system notifications.
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

/** All checkboxes of a preference: in the settings by id, in the help by class. */
function switches(name) {
  return document.querySelectorAll(`#${name}, .switch-${name}`);
}

export function update() {
  document.documentElement.dataset.keys = isOn("keys") ? "on" : "off";
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
  window.addEventListener("storage", update);
}
