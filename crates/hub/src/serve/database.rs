//! Opens the PostgreSQL of this hub, which may start later than the hub.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use countersign_protocol::backoff::Backoff;
use countersign_store::clock::DatabaseClock;
use countersign_store::{PostgresDatabase, Store};
use tokio::time::sleep;

const INITIAL_BACKOFF: Duration = Duration::from_millis(200);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// Waits for the database for up to `max_wait`. An error that time does not cure ends the wait at once.
pub async fn open(url: &str, max_wait: Duration) -> anyhow::Result<Store> {
    let database = PostgresDatabase::new(url)?;
    connect(&database, max_wait).await?;
    Ok(Store::open_database(database, Arc::new(DatabaseClock::default())).await?)
}

async fn connect(database: &PostgresDatabase, max_wait: Duration) -> anyhow::Result<()> {
    let began = Instant::now();
    // Jittered, so that nodes do not connect at the same time.
    let mut backoff = Backoff::new(INITIAL_BACKOFF, MAX_BACKOFF);
    let mut is_first = true;
    loop {
        let Err(failed) = database.connect().await else {
            return Ok(());
        };
        if !failed.is_transient || max_wait.is_zero() {
            return Err(failed.error.into());
        }
        let left = max_wait.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Err(failed.error).context(format!("no connection within {} s", max_wait.as_secs()));
        }
        if is_first {
            let max_wait_seconds = max_wait.as_secs();
            tracing::warn!(error = %failed.error, max_wait_seconds, "database unreachable; waiting for it");
            is_first = false;
        }
        sleep(backoff.pause().min(left)).await;
    }
}
