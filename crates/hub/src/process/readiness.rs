//! Whether the store accepts writes.

use std::time::{Duration, Instant};

use countersign_store::ops::message::sweep::ProveWritable;
use countersign_store::{Store, StoreError};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::problem::Problem;

/// Caches the readiness check, because the endpoint is open and every check costs a write.
#[derive(Default)]
pub struct ReadinessCache(Mutex<Option<Instant>>);

const READINESS_TTL: Duration = Duration::from_millis(500);
/// Shorter than the time-outs of usual readiness probes.
const READINESS_TIMEOUT: Duration = Duration::from_secs(3);

impl ReadinessCache {
    pub async fn check(&self, store: &Store) -> Result<(), Problem> {
        let late = || StoreError::Unavailable("the store did not accept a write in time".to_owned());
        let checking = async {
            let mut checked_at = self.0.lock().await;
            if checked_at.is_none_or(|at| at.elapsed() > READINESS_TTL) {
                *checked_at = None;
                store.run(ProveWritable::at(store.clock().now())).await?;
                *checked_at = Some(Instant::now());
            }
            Ok(())
        };
        timeout(READINESS_TIMEOUT, checking)
            .await
            .unwrap_or_else(|_elapsed| Err(late().into()))
    }
}
