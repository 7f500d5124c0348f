// Toasts: short messages, announced by screen readers.
const TOAST_MS = 12_000;
let hideTimer;

/** Shows a message, with an optional link and an optional button. It stays at least as long as the button. */
export function showToast(message, link, button) {
  const toast = document.getElementById("news");
  if (!toast) return;
  toast.replaceChildren(message);
  if (button) toast.append(" ", createButton(button));
  if (link) {
    const a = document.createElement("a");
    a.href = link.href;
    a.textContent = link.text;
    toast.append(a);
  }
  scheduleHide(toast, Math.max(TOAST_MS, button?.ms ?? 0));
}

/** A button that goes after `ms`. */
function createButton({ text, ms, run }) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "undo", textContent: text });
  button.addEventListener("click", run);
  setTimeout(() => button.remove(), ms);
  return button;
}

function scheduleHide(toast, ms) {
  clearTimeout(hideTimer);
  hideTimer = setTimeout(() => {
    if (toast.matches(":hover, :focus-within")) scheduleHide(toast, TOAST_MS);
    else toast.replaceChildren();
  }, ms);
}
