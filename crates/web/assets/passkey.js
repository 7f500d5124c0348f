// Passkeys: sign-in, and registration in the settings. Only the two pages that have the controls load this script.
import { t } from "./words.js";

async function post(path, body) {
  const csrf = document.querySelector("meta[name=csrf]")?.content ?? "";
  const headers = { "content-type": "application/json", "x-csrf": csrf };
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const isJson = response.headers.get("content-type")?.includes("json");
  const reply = isJson ? await response.json() : {};
  if (!response.ok) throw new Error(reply.error?.message ?? t("The hub refused this. Load the page and try again."));
  return reply;
}

async function runCeremony(path, { beginBody = {}, finishBody = {}, prompt }) {
  const challenge = await post(`${path}/begin`, beginBody);
  const credential = await prompt(challenge.publicKey);
  const { next } = await post(`${path}/finish`, { ...finishBody, ceremony: challenge.ceremony, credential: credential.toJSON() });
  location.assign(safePath(next));
}

function getCredential(options) {
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

function createCredential(options) {
  return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
}

/** The message for an error; a cancelled prompt gets a short one. */
function errorText(error) {
  if (error.name === "NotAllowedError") return t("No passkey was used. You can try again.");
  if (error.name === "InvalidStateError") return t("This device already has a passkey for you.");
  return error.message;
}

async function withErrors(control, action) {
  const errorBox = errorElement(control);
  errorBox.hidden = true;
  control.disabled = true;
  try {
    await action();
  } catch (error) {
    errorBox.textContent = errorText(error);
    errorBox.hidden = false;
  } finally {
    control.disabled = false;
  }
}

function errorElement(control) {
  const existing = document.getElementById("passkey-error");
  if (existing) return existing;
  const p = document.createElement("p");
  Object.assign(p, { id: "passkey-error", className: "error", role: "alert" });
  (control.closest("form") ?? control).after(p);
  return p;
}

function safePath(next) {
  return typeof next === "string" && /^\/(?![/\\])/.test(next) ? next : "/inbox";
}

function signIn() {
  const next = document.querySelector("form input[name=next]")?.value ?? "";
  return runCeremony("/signin/passkey", { finishBody: { next }, prompt: getCredential });
}

function add(form) {
  const fields = new FormData(form);
  const beginBody = { name: fields.get("name") ?? "", current: fields.get("current") ?? "" };
  return runCeremony("/inbox/settings/passkeys", { beginBody, prompt: createCredential });
}

// The controls stay hidden in browsers that cannot parse WebAuthn options from JSON.
const isSupported = Boolean(globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON);
for (const control of document.querySelectorAll("#passkey-signin, #passkey-add")) control.hidden = !isSupported;
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button#passkey-signin");
  if (button) withErrors(button, signIn);
});
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.id !== "passkey-add") return;
  event.preventDefault();
  withErrors(form.querySelector("button"), () => add(form));
});
