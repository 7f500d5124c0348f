// The answer form of an item: marks the fields that differ from the agent's suggestion, and shows what will be sent. The hub
// makes the preview, with the same reader that takes the answer.
import { load } from "./swap.js";
import { t } from "./words.js";

const PREVIEW_DELAY_MS = 300;
let timer;
let latest = 0;

const isChanged = (field) => {
  if (field.matches("select")) return [...field.options].some((option) => option.selected !== option.defaultSelected);
  return ["checkbox", "radio"].includes(field.type) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
};

function markEdited(box) {
  const fields = [...box.querySelectorAll(":is(input, textarea, select):not([type=hidden])")];
  if (fields.some(isChanged)) box.dataset.edited = t("edited");
  else delete box.dataset.edited;
}

async function showPreview(box) {
  const form = box.closest("form");
  const request = (latest += 1);
  const url = new URL(box.querySelector("[formaction]").getAttribute("formaction"), location.href);
  const fields = new FormData(form);
  for (const { name } of form.querySelectorAll("input[type=file]")) fields.delete(name);
  fields.set("verdict", "answered");
  const page = await load(url, { method: "POST", body: new URLSearchParams(fields) });
  if (request !== latest || !box.isConnected) return;
  const preview = page.main.querySelector("#preview")?.textContent;
  box.querySelector("#preview").textContent = page.status < 400 && preview ? preview : t("Fill in the required fields first.");
}

function schedulePreview() {
  const box = document.querySelector("#preview-box[open]");
  clearTimeout(timer);
  // A preview that fails is not worth a message: sending the answer tells what is wrong.
  if (box) timer = setTimeout(() => showPreview(box).catch(() => {}), PREVIEW_DELAY_MS);
}

export function update() {
  document.querySelectorAll("#answer .field[data-default]").forEach(markEdited);
}

export function start() {
  document.addEventListener("input", ({ target }) => {
    if (!target.closest?.("#answer")) return;
    const box = target.closest(".field[data-default]");
    if (box) markEdited(box);
    schedulePreview();
  });
  document.addEventListener("toggle", ({ target }) => target.id === "preview-box" && schedulePreview(), true);
}
