// A large batch is sent in parts, so that the page can count what is done. The results are shown as one.
import { load, show, UnexpectedResponse } from "./swap.js";
import { t } from "./words.js";

const PART_ITEMS = 20;

function onSubmit(event) {
  const form = event.target;
  if (event.defaultPrevented || form.id !== "confirm") return;
  const fields = new FormData(form, event.submitter);
  if (fields.getAll("id").length <= PART_ITEMS) return;
  event.preventDefault();
  sendInParts(form, fields);
}

async function sendInParts(form, fields) {
  const ids = fields.getAll("id");
  const button = form.querySelector("#do");
  const label = button.textContent;
  let result = null;
  button.disabled = true;
  try {
    for (let at = 0; at < ids.length; at += PART_ITEMS) {
      button.textContent = t("{count} of {total} done…", { count: at, total: ids.length });
      fields.delete("id");
      for (const id of ids.slice(at, at + PART_ITEMS)) fields.append("id", id);
      const page = await load(form.action, { method: "POST", body: new URLSearchParams(fields) });
      if (page.status !== 200 && result) throw new UnexpectedResponse(page.status);
      if (result) merge(result.main, page.main);
      else result = page;
      if (page.status !== 200) break;
    }
    show(result);
    window.scrollTo(0, 0);
  } catch {
    button.disabled = false;
    button.textContent = label;
    showBroken(form);
  }
}

/** What was decided stays decided: sending the batch again skips it. */
function showBroken(form) {
  const text = document.createElement("p");
  Object.assign(text, { className: "error", role: "alert", textContent: t("Not all of it was sent. Send it again: what is done is skipped.") });
  form.prepend(text);
}

function merge(main, part) {
  const last = main.querySelector("#onwards").parentElement;
  for (const name of ["done", "failed"]) {
    const [list, more] = [main.querySelector(`#${name}`), part.querySelector(`#${name}`)];
    if (list && more) list.append(...more.children);
    else if (more) last.before(more.closest("section"));
  }
  const [undo, further] = [main.querySelector("#undo-all"), part.querySelector("#undo-all")];
  if (undo && further) {
    undo.append(...further.querySelectorAll("[name=id]"));
    undo.dataset.until = further.dataset.until;
  }
  const count = (name) => main.querySelectorAll(`#${name} > li`).length;
  const heading = main.querySelector("h1");
  const { past } = heading.dataset;
  heading.textContent = t("{past}: {count} of {total}", { past, count: count("done"), total: count("done") + count("failed") });
}

export function start() {
  document.addEventListener("submit", onSubmit);
}
