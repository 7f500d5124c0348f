// Images of agents. The hub fetches one when its button is pressed; then the image takes the place of the button. Without
// scripts the button opens the image as a page.
import { parse } from "./swap.js";
import { t } from "./words.js";

async function fetchImage(form, button) {
  // Before the button is disabled: a form does not send the name of a disabled button.
  const body = new URLSearchParams(new FormData(form, button));
  button.disabled = true;
  const signed = await fetch(form.action, { method: "POST", body, headers: { "x-fragment": "main" } });
  const address = signed.headers.get("location");
  const response = signed.ok && address ? await fetch(address) : signed;
  if (!response.ok) throw new Error(parse(await response.text()).getElementById("problem")?.textContent ?? "");
  const image = new Image();
  image.src = address;
  image.alt = button.textContent.replace(/^Show image(: )?/, "");
  await image.decode();
  return image;
}

async function show(form, button) {
  const place = button.closest(".image");
  place.querySelector(".error")?.remove();
  try {
    const image = await fetchImage(form, button);
    image.tabIndex = -1;
    button.replaceWith(image);
    image.focus({ preventScroll: true });
  } catch (error) {
    const note = document.createElement("span");
    note.className = "error";
    note.setAttribute("role", "alert");
    note.textContent = t("The image cannot be shown. {reason}", { reason: error.message });
    place.append(note);
    button.disabled = false;
  }
}

export function start() {
  document.addEventListener("submit", (event) => {
    if (event.target.id !== "images" || !event.submitter) return;
    event.preventDefault();
    show(event.target, event.submitter);
  });
}
