//! The net under what hubs say to each other: a hub that dies between its commit and its word leaves others waiting. Whoever
//! waits here for something that was resolved a moment ago looks again.

use std::sync::Arc;
use std::time::Duration;

use countersign_store::ops::sweep::ResolvedSince;

use crate::app::Hub;

const ROUND: Duration = Duration::from_millis(700);
/// Longer than a round takes, and than a transaction between its instant and its commit.
const WINDOW: Duration = Duration::from_secs(5);
const MOST: i64 = 10_000;

/// Runs until it is dropped; without peers it waits for ever.
pub async fn run(hub: Arc<Hub>) {
    if !hub.store.is_shared() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(ROUND).await;
        if hub.wake.waited_for() == 0 {
            continue;
        }
        let since = hub.store.clock().now().minus(WINDOW);
        match hub.store.run(ResolvedSince { since, limit: MOST }).await {
            Ok(ids) => ids.iter().for_each(|id| hub.wake.look(id)),
            Err(error) => tracing::warn!(%error, "what other hubs resolved could not be read"),
        }
    }
}
