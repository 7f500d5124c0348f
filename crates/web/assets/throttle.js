// Throttling of refreshes: at most one per interval, for any number of live events.

/** Returns a function that schedules a refresh of a page while it is shown. */
export function throttled(isShown, refresh, intervalMs) {
  let isRunning = false;
  let isQueued = false;
  return async () => {
    isQueued = true;
    if (isRunning) return;
    isRunning = true;
    while (isQueued && isShown()) {
      isQueued = false;
      await refresh().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, intervalMs));
    }
    isRunning = false;
  };
}
