// Copy buttons: on blocks of code and JSON, which this script makes, and on `button[data-copy]`, which names its source.
import { t } from "./words.js";

const COPYABLE = ":is(main, #detail) :is(.md pre, details.raw > pre, pre.address, pre[data-copy])";
const SHOWN_MS = 2000;

/** The live region that announces a copy to screen readers. */
const status = document.createElement("div");
status.className = "visually-hidden";
status.setAttribute("role", "status");

/** The clipboard exists over https and on localhost only; elsewhere the text is selected for the person to copy. */
async function copy(block) {
  try {
    await navigator.clipboard.writeText(block.textContent);
    return t("Copied");
  } catch {
    getSelection().selectAllChildren(block);
    return t("Selected; copy it with your keys");
  }
}

async function onCopy(button) {
  const { copy: source } = button.dataset;
  const block = source ? document.querySelector(source) : button.parentElement.querySelector("pre");
  const result = await copy(block);
  button.textContent = result;
  status.textContent = result;
  setTimeout(() => {
    button.textContent = t("Copy");
    status.textContent = "";
  }, SHOWN_MS);
}

function addButton(block) {
  const box = document.createElement("div");
  box.className = "copyable";
  block.replaceWith(box);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = t("Copy");
  button.setAttribute("aria-description", block.dataset.copy ?? t("Copies this block"));
  box.append(block, button);
}

/** Adds the buttons that are missing on the page. */
export function update() {
  for (const block of document.querySelectorAll(COPYABLE)) {
    if (!block.parentElement.matches(".copyable")) addButton(block);
  }
}

export function start() {
  document.body.append(status);
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button.copy, button[data-copy]");
    if (button) onCopy(button);
  });
}
