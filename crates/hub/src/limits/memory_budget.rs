//! The memory budget for large request bodies and files, in total and per caller. Small bodies of known callers are not
//! counted: they are gone before they could add up. Bodies of unknown callers always are.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// Bodies from this size on are counted, and are processed on the blocking pool.
pub const LARGE_BODY_BYTES: usize = 256 * 1024;
const TOTAL_BYTES: usize = 128 * 1024 * 1024;
/// Enough for the largest answer with files, and small enough to leave budget for other callers.
const BYTES_PER_CALLER: usize = 32 * 1024 * 1024;
/// Of one address whose callers are not known yet, so that one machine cannot keep all others from signing in.
const BYTES_PER_ADDRESS: usize = 1024 * 1024;
/// The one account of all unknown callers. No agent or actor can have this name.
const UNKNOWN_CALLER: &str = "";
const PERMIT_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_AFTER_SECONDS: u64 = 5;

pub struct MemoryBudget {
    total: Arc<Semaphore>,
    /// Callers that hold a permit now.
    callers: Mutex<HashMap<String, Weak<Semaphore>>>,
    /// Addresses of unknown callers that hold a permit now.
    addresses: Mutex<HashMap<IpAddr, Weak<Semaphore>>>,
}

/// Memory reserved until the permit is dropped.
pub struct MemoryPermit {
    _address: Option<OwnedSemaphorePermit>,
    _own: OwnedSemaphorePermit,
    _total: OwnedSemaphorePermit,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self {
            total: Arc::new(Semaphore::new(TOTAL_BYTES)),
            callers: Mutex::default(),
            addresses: Mutex::default(),
        }
    }
}

impl MemoryBudget {
    /// Waits up to `PERMIT_TIMEOUT` for a permit. Small bodies need none.
    pub async fn acquire(&self, caller: &str, bytes: usize) -> Result<Option<MemoryPermit>, Problem> {
        if bytes < LARGE_BODY_BYTES {
            return Ok(None);
        }
        self.reserve(caller, bytes).await.map(Some)
    }

    /// As `reserve`, for a caller that is not known yet. All unknown callers share the budget of one, and those of one
    /// address a part of it.
    pub async fn reserve_unknown(&self, address: IpAddr, bytes: usize) -> Result<MemoryPermit, Problem> {
        let of_address = semaphore(&self.addresses, address, BYTES_PER_ADDRESS);
        let reserving = async {
            let address = of_address
                .acquire_many_owned(permits(bytes, BYTES_PER_ADDRESS))
                .await
                .ok()?;
            let permit = self.wait_for(UNKNOWN_CALLER, bytes).await?;
            Some(MemoryPermit {
                _address: Some(address),
                ..permit
            })
        };
        in_time(reserving).await
    }

    /// Waits up to `PERMIT_TIMEOUT` for a permit of any size.
    pub async fn reserve(&self, caller: &str, bytes: usize) -> Result<MemoryPermit, Problem> {
        in_time(self.wait_for(caller, bytes)).await
    }

    /// `None` never happens: the semaphores are not closed.
    async fn wait_for(&self, caller: &str, bytes: usize) -> Option<MemoryPermit> {
        let own = semaphore(&self.callers, caller.to_owned(), BYTES_PER_CALLER);
        let own = own.acquire_many_owned(permits(bytes, BYTES_PER_CALLER)).await.ok()?;
        let total = Arc::clone(&self.total);
        let total = total.acquire_many_owned(permits(bytes, TOTAL_BYTES)).await.ok()?;
        Some(MemoryPermit {
            _address: None,
            _own: own,
            _total: total,
        })
    }
}

async fn in_time(reserving: impl Future<Output = Option<MemoryPermit>>) -> Result<MemoryPermit, Problem> {
    match tokio::time::timeout(PERMIT_TIMEOUT, reserving).await {
        Ok(Some(permit)) => Ok(permit),
        Ok(None) | Err(_) => Err(Problem::RateLimited {
            retry_after_seconds: RETRY_AFTER_SECONDS,
            message: "too many large uploads and downloads at once; wait as long as Retry-After says".to_owned(),
        }),
    }
}

/// The semaphore under this key. Those without a permit are forgotten.
fn semaphore<K: Eq + Hash>(known: &Mutex<HashMap<K, Weak<Semaphore>>>, key: K, bytes: usize) -> Arc<Semaphore> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(&key).and_then(Weak::upgrade) {
        return found;
    }
    known.retain(|_, semaphore| semaphore.strong_count() > 0);
    let semaphore = Arc::new(Semaphore::new(bytes));
    known.insert(key, Arc::downgrade(&semaphore));
    semaphore
}

/// A request larger than the whole budget takes all of it.
fn permits(bytes: usize, max: usize) -> u32 {
    u32::try_from(bytes.min(max)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    #[tokio::test(start_paused = true)]
    async fn caller_over_budget_is_refused_and_others_are_not() {
        let budget = MemoryBudget::default();
        let held = budget.acquire("alice", 28 * MIB).await.unwrap();
        assert!(held.is_some());
        assert!(matches!(
            budget.acquire("alice", 8 * MIB).await,
            Err(Problem::RateLimited { .. })
        ));
        assert!(
            budget.acquire("alice", LARGE_BODY_BYTES - 1).await.unwrap().is_none(),
            "small bodies always fit"
        );
        assert!(budget.acquire("bob", 28 * MIB).await.is_ok());
        drop(held);
        assert!(budget.acquire("alice", 8 * MIB).await.is_ok());
        assert!(
            budget.acquire("carol", 200 * MIB).await.is_ok(),
            "an oversized body takes the whole budget"
        );
        assert!(
            budget.callers.lock().unwrap().len() <= 2,
            "callers without a permit are removed"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_callers_share_one_budget_and_leave_the_rest() {
        let budget = MemoryBudget::default();
        let address = |number: usize| IpAddr::from([10, 0, 0, u8::try_from(number).unwrap()]);
        let mut held = Vec::new();
        held.push(budget.reserve_unknown(address(0), BYTES_PER_ADDRESS).await.unwrap());
        assert!(
            budget.reserve_unknown(address(0), 1).await.is_err(),
            "one address has its own limit"
        );
        for number in 1..BYTES_PER_CALLER / BYTES_PER_ADDRESS {
            held.push(
                budget
                    .reserve_unknown(address(number), BYTES_PER_ADDRESS)
                    .await
                    .unwrap(),
            );
        }
        assert!(matches!(
            budget.reserve_unknown(address(200), 4 * 1024).await,
            Err(Problem::RateLimited { .. })
        ));
        assert!(
            budget.acquire("alice", 32 * MIB).await.is_ok(),
            "known callers are not affected"
        );
        held.pop();
        assert!(budget.reserve_unknown(address(200), 4 * 1024).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn total_budget_bounds_all_callers() {
        let budget = MemoryBudget::default();
        let mut held = Vec::new();
        for caller in ["a", "b", "c", "d"] {
            held.push(budget.acquire(caller, 32 * MIB).await.unwrap());
        }
        assert!(budget.acquire("e", MIB).await.is_err());
        let (taken, ()) = tokio::join!(budget.acquire("e", MIB), async { drop(held.pop()) });
        assert!(taken.is_ok(), "a waiting caller gets a freed permit");
    }
}
