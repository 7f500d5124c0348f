// Order and groups of the rows in the inbox, for rows that arrive or change while the page is open. The hub renders the same
// order and the same headings.
import { t } from "./words.js";

const SECTIONS = { soon: 0, waiting: 1 };
const HEADINGS = { soon: t("Ends soon"), waiting: t("Waiting now"), pressing: t("Urgent and high"), rest: t("Everything else") };

/** The instant before which a message ends soon, and the suffix of cursors: the walk of this page. */
function walkOf(list) {
  return list.dataset.walk ?? "";
}

function soonBefore(list) {
  return Number(walkOf(list).split(".")[0]) || 0;
}

/** The group of a row: given by the hub, or found here for a row that has just arrived. */
function groupOf(row, list) {
  const { sort = "" } = list.dataset;
  if (sort === "agent") return `agent ${row.dataset.agent}`;
  if (sort) return "";
  const expires = Number(row.dataset.expires) || 0;
  if (expires && expires < soonBefore(list)) return "soon";
  if (row.dataset.group === "waiting" || row.querySelector(".here[data-state=waiting], .here[data-state=paused]")) return "waiting";
  return Number(row.dataset.rank) <= 1 ? "pressing" : "rest";
}

/** The sort key of a row: numbers or texts that are compared one after the other. */
export function sortKey(row, list) {
  const { rank, seq, expires, agent } = row.dataset;
  const { sort = "", list: name } = list.dataset;
  if (name === "notices" || sort === "newest") return [-Number(seq)];
  if (sort === "oldest") return [Number(seq)];
  if (sort === "agent") return [agent, Number(seq)];
  row.dataset.group ||= groupOf(row, list);
  const section = SECTIONS[row.dataset.group] ?? 2;
  return [section, section === 0 ? Number(expires) : Number(rank), Number(seq)];
}

export function compareKeys(one, other) {
  const at = one.findIndex((part, index) => part !== other[index]);
  if (at < 0) return 0;
  return one[at] < other[at] ? -1 : 1;
}

/** The cursor of a row, as the hub writes it. Waiting rows have no cursor here: their place is known to the hub only. */
export function cursorAfter(row, list) {
  const { rank, seq, expires, group } = row.dataset;
  if (list.dataset.list === "notices") return seq;
  if (list.dataset.sort) return `0.${seq}`;
  if (group === "waiting") return null;
  const suffix = walkOf(list) ? `.${walkOf(list)}` : "";
  return `${group === "soon" ? `s${expires}` : rank}.${seq}${suffix}`;
}

/** Renews the headings after rows were added, moved or removed. */
export function updateHeadings(list) {
  if (list?.dataset.list !== "open") return;
  const rows = [...list.querySelectorAll(":scope > .row")];
  for (const row of rows) row.dataset.group ??= groupOf(row, list);
  const isPlain = rows.every((row) => ["rest", ""].includes(row.dataset.group));
  const old = new Map([...list.querySelectorAll(":scope > .group")].map((heading) => [heading.dataset.group, heading]));
  let group = null;
  for (const row of rows) {
    if (!isPlain && row.dataset.group !== group) {
      const heading = old.get(row.dataset.group) ?? createHeading(row);
      old.delete(row.dataset.group);
      if (row.previousElementSibling !== heading) row.before(heading);
    }
    group = row.dataset.group;
  }
  for (const heading of old.values()) heading.remove();
}

function createHeading(row) {
  const item = document.createElement("li");
  const heading = document.createElement("h2");
  item.className = "group";
  item.dataset.group = row.dataset.group;
  heading.textContent = HEADINGS[row.dataset.group] ?? row.querySelector(".agent")?.textContent ?? "";
  item.append(heading);
  return item;
}
