// News from the hub as they happen. The stream says what changed; how things stand is always asked of the hub.
import { isSending } from "./answer.js";
import { changeNotices, changeOpen } from "./counts.js";
import { decidedElsewhere, renew, shownItem } from "./item.js";
import { announce, wants } from "./notify.js";
import { heard, refresh } from "./refresh.js";
import { flip, insert, read } from "./rows.js";

const QUIET_MS = 3000;
const FIRST_RETRY_MS = 4000;
const LONGEST_RETRY_MS = 60_000;
const HIDDEN_MS = 60_000;
let source = null;
let retry = FIRST_RETRY_MS;
let complaining;
let retrying;
let closing;

const hear = {
  opened(event) {
    const row = read(event);
    changeOpen(1);
    insert("open", row);
    if (row.dataset.mine !== "no") announce(event);
  },
  noticed(event) {
    changeNotices(1);
    insert("notices", read(event));
  },
  resolved({ id, words, actor }) {
    const told = actor && !words.includes(actor) ? `${words} by ${actor}` : words;
    changeOpen(-1);
    flip(id, told);
    if (!isSending(id)) decidedElsewhere(id, told).catch(() => {});
  },
  tracked({ id }) {
    if (shownItem()?.dataset.id === id && !isSending(id)) renew(id).catch(() => {});
  },
  /** Everybody is told at once; not everybody has to ask at once. */
  resync() {
    setTimeout(refresh, Math.random() * 1000);
  },
};

function connect() {
  clearTimeout(retrying);
  source = new EventSource("/inbox/events");
  for (const [name, act] of Object.entries(hear)) {
    source.addEventListener(name, (event) => {
      heard();
      act(JSON.parse(event.data));
    });
  }
  source.addEventListener("open", opened);
  source.addEventListener("error", lost);
  // What happened between the rendering of the page and the opening of the stream is in neither.
  source.addEventListener("open", () => refresh(), { once: true });
}

function opened() {
  retry = FIRST_RETRY_MS;
  clearTimeout(complaining);
  complaining = undefined;
  document.getElementById("link")?.remove();
}

function lost({ target }) {
  if (target !== source) return;
  complaining ??= setTimeout(say, QUIET_MS, "Reconnecting…");
  if (source.readyState !== EventSource.CLOSED) return;
  // The browser gives up when the answer was no stream at all.
  source.close();
  retrying = setTimeout(tryAgain, retry);
  retry = Math.min(retry * 2, LONGEST_RETRY_MS);
}

async function tryAgain() {
  const response = await fetch("/inbox", { method: "HEAD", headers: { "x-fragment": "main" } }).catch(() => null);
  if (response?.status === 401) say("Signed out. Load the page again to sign in.");
  else connect();
}

function say(words) {
  let link = document.getElementById("link");
  if (!link) {
    link = document.createElement("div");
    link.id = "link";
    link.setAttribute("role", "status");
    document.body.append(link);
  }
  link.textContent = words;
}

function disconnect() {
  source?.close();
  source = null;
  clearTimeout(retrying);
}

/** Browsers allow few connections to one host: a tab nobody looks at gives its own back, unless it has to call. */
function looked() {
  clearTimeout(closing);
  if (document.hidden) closing = setTimeout(() => wants() || disconnect(), HIDDEN_MS);
  else if (!source) connect();
}

export function start() {
  if (!document.body.dataset.person) return;
  connect();
  document.addEventListener("visibilitychange", looked);
  window.addEventListener("pagehide", disconnect);
  window.addEventListener("pageshow", (event) => event.persisted && !source && connect());
}
