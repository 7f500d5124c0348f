// Attachments of an answer: their number and size are validated before the upload.
import { t } from "./words.js";

const MIB = 1024 * 1024;
const INPUT = "#answer input[type=file]";

function problem({ files, dataset }) {
  const [maxFiles, maxBytes, maxTotal] = [dataset.most, dataset.mostBytes, dataset.mostTogether].map(Number);
  const oversized = [...files].find((file) => file.size > maxBytes);
  const total = [...files].reduce((bytes, file) => bytes + file.size, 0);
  if (files.length > maxFiles) return t("Attach at most {count} files.", { count: maxFiles });
  if (oversized) return t("{name} is too large: a file may have {size} MiB.", { name: oversized.name, size: maxBytes / MIB });
  return total > maxTotal ? t("Together the files may have {size} MiB.", { size: maxTotal / MIB }) : "";
}

/** Whether any file is attached. */
export function hasFiles(form) {
  return [...form.querySelectorAll("input[type=file]")].some(({ files }) => files.length > 0);
}

/** Moves the attached files from the old form to the re-rendered form. */
export function moveFiles(old) {
  const attached = old.querySelector("input[type=file]")?.files;
  const field = document.querySelector(INPUT);
  if (!attached?.length || !field) return;
  field.files = attached;
  document.getElementById("files-lost")?.remove();
  validate(field);
}

function validate(field) {
  field.setCustomValidity(problem(field));
  if (field.files.length > 0) field.reportValidity();
}

export function start() {
  document.addEventListener("change", ({ target }) => target.matches?.(INPUT) && validate(target));
}
