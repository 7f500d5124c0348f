// Files beside an answer: what is too large is told before it is sent.
const MIB = 1024 * 1024;
const INPUT = "#answer input[type=file]";

function words({ files, dataset }) {
  const [most, each, together] = [dataset.most, dataset.mostBytes, dataset.mostTogether].map(Number);
  const large = [...files].find((file) => file.size > each);
  const sum = [...files].reduce((bytes, file) => bytes + file.size, 0);
  if (files.length > most) return `Attach at most ${most} files.`;
  if (large) return `${large.name} is too large: a file may have ${each / MIB} MiB.`;
  return sum > together ? `Together the files may have ${together / MIB} MiB.` : "";
}

/** Whether there are any. */
export function any(form) {
  return [...form.querySelectorAll("input[type=file]")].some(({ files }) => files.length > 0);
}

/** The form was rendered anew: what was attached to the old one goes with it. */
export function carry(old) {
  const held = old.querySelector("input[type=file]")?.files;
  const field = document.querySelector(INPUT);
  if (!held?.length || !field) return;
  field.files = held;
  document.getElementById("files-lost")?.remove();
  check(field);
}

function check(field) {
  field.setCustomValidity(words(field));
  if (field.files.length > 0) field.reportValidity();
}

export function start() {
  document.addEventListener("change", ({ target }) => target.matches?.(INPUT) && check(target));
}
