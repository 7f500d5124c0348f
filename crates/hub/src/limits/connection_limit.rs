//! Limits how many connections one person holds at once, so that one person cannot use up the connections of the hub. A
//! browser holds one per window, an agent in a terminal one while it waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::problem::Problem;

const RETRY_AFTER_SECONDS: u64 = 30;

pub struct ConnectionLimit {
    max: usize,
    /// Error text after the number: the kind of connection, and how to free one.
    advice: &'static str,
    /// Open connections by person; only people who have any.
    open: Mutex<HashMap<String, usize>>,
}

impl ConnectionLimit {
    pub fn new(max: usize, advice: &'static str) -> Arc<Self> {
        Arc::new(Self {
            max,
            advice,
            open: Mutex::default(),
        })
    }

    pub fn acquire(self: &Arc<Self>, person: &str) -> Result<ConnectionPermit, Problem> {
        let mut open = self.lock();
        let count = open.entry(person.to_owned()).or_default();
        if *count >= self.max {
            let message = format!("{} {}", self.max, self.advice);
            return Err(Problem::RateLimited {
                retry_after_seconds: RETRY_AFTER_SECONDS,
                message,
            });
        }
        *count += 1;
        drop(open);
        Ok(ConnectionPermit {
            limit: Arc::clone(self),
            person: person.to_owned(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts one connection until dropped.
pub struct ConnectionPermit {
    limit: Arc<ConnectionLimit>,
    person: String,
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.limit.lock();
        if let Some(count) = open.get_mut(&self.person) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.person);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_limited_per_person_and_freed_on_drop() {
        let limit = ConnectionLimit::new(50, "are open");
        let mut held: Vec<_> = (0..50).map(|_| limit.acquire("alice").unwrap()).collect();
        assert!(matches!(limit.acquire("alice"), Err(Problem::RateLimited { .. })));
        assert!(limit.acquire("bob").is_ok(), "other people are not affected");
        held.pop();
        held.push(limit.acquire("alice").unwrap());
        drop(held);
        assert!(limit.lock().is_empty());
    }
}
