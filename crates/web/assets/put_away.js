// Snoozes and archives one item. The toast about it offers to take it back.
import { recount } from "./counts.js";
import { csrfToken } from "./rows.js";
import { load } from "./swap.js";
import { offerUndoAll } from "./undo.js";

/** Returns whether the hub has done it. `action` is `aside` or `archive`. */
export async function putAway(id, action, fields = {}) {
  const body = new URLSearchParams({ csrf: csrfToken(), ...fields });
  const result = await load(`/inbox/items/${encodeURIComponent(id)}/${action}`, { method: "POST", body }).catch(() => null);
  if (result?.status !== 200) return false;
  showPutAway(result);
  return true;
}

export function showPutAway({ main }) {
  offerUndoAll(main);
  recount();
}
