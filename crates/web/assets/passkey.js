// Passkeys: signing in with one, and adding one in the settings.
async function post(path, body) {
  const csrf = document.querySelector("meta[name=csrf]")?.content ?? "";
  const headers = { "content-type": "application/json", "x-csrf": csrf };
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const isJson = response.headers.get("content-type")?.includes("json");
  const answer = isJson ? await response.json() : {};
  if (!response.ok) throw new Error(answer.error?.message ?? "The hub refused this. Load the page and try again.");
  return answer;
}

async function ceremony(path, { asked = {}, sent = {}, run }) {
  const begun = await post(`${path}/begin`, asked);
  const credential = await run(begun.publicKey);
  const { next } = await post(`${path}/finish`, { ...sent, ceremony: begun.ceremony, credential: credential.toJSON() });
  location.assign(ourPath(next));
}

function get(given) {
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(given) });
}

function create(given) {
  return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(given) });
}

/** A person who changes their mind is no error worth many words. */
function words(error) {
  if (error.name === "NotAllowedError") return "No passkey was used. You can try again.";
  if (error.name === "InvalidStateError") return "This device already has a passkey for you.";
  return error.message;
}

async function attempt(control, act) {
  const said = complaint(control);
  said.hidden = true;
  control.disabled = true;
  try {
    await act();
  } catch (error) {
    said.textContent = words(error);
    said.hidden = false;
  } finally {
    control.disabled = false;
  }
}

function complaint(control) {
  const there = document.getElementById("passkey-error");
  if (there) return there;
  const p = document.createElement("p");
  Object.assign(p, { id: "passkey-error", className: "error", role: "alert" });
  (control.closest("form") ?? control).after(p);
  return p;
}

function ourPath(next) {
  return typeof next === "string" && /^\/(?![/\\])/.test(next) ? next : "/inbox";
}

function signIn() {
  const next = document.querySelector("form input[name=next]")?.value ?? "";
  return ceremony("/signin/passkey", { sent: { next }, run: get });
}

function add(form) {
  const name = new FormData(form).get("name") ?? "";
  return ceremony("/inbox/settings/passkeys", { asked: { name }, run: create });
}

/** Browsers that cannot read the hub's offers are too old for passkeys. */
export function look() {
  const can = Boolean(globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON);
  for (const one of document.querySelectorAll("#passkey-signin, #passkey-add")) one.hidden = !can;
}

export function start() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button#passkey-signin");
    if (button) attempt(button, signIn);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.id !== "passkey-add") return;
    event.preventDefault();
    attempt(form.querySelector("button"), () => add(form));
  });
}
