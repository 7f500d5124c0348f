// Toasts: short messages, announced by screen readers.
const TOAST_MS = 12_000;
let hideTimer;

/** Shows a message, with an optional link. */
export function showToast(message, link) {
  const toast = document.getElementById("news");
  if (!toast) return;
  toast.replaceChildren(message);
  if (link) {
    const a = document.createElement("a");
    a.href = link.href;
    a.textContent = link.text;
    toast.append(a);
  }
  scheduleHide(toast);
}

function scheduleHide(toast) {
  clearTimeout(hideTimer);
  hideTimer = setTimeout(() => {
    if (toast.matches(":hover, :focus-within")) scheduleHide(toast);
    else toast.replaceChildren();
  }, TOAST_MS);
}
