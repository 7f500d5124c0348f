//! How many connections each person holds at once. A browser has one for each of its windows, an agent in a terminal one while
//! it waits; whoever opens many more holds connections that others need.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::problem::Problem;

const RETRY_AFTER_SECONDS: u64 = 30;

pub struct Seats {
    most: usize,
    /// What there are so many of, and what to do about it.
    told: &'static str,
    /// By name; nobody who has none open.
    taken: Mutex<HashMap<String, usize>>,
}

impl Seats {
    pub fn new(most: usize, told: &'static str) -> Arc<Self> {
        Arc::new(Self {
            most,
            told,
            taken: Mutex::default(),
        })
    }

    pub fn take(self: &Arc<Self>, person: &str) -> Result<Seat, Problem> {
        let mut taken = self.lock();
        let count = taken.entry(person.to_owned()).or_default();
        if *count >= self.most {
            let message = format!("{} {}", self.most, self.told);
            return Err(Problem::RateLimited {
                retry_after_seconds: RETRY_AFTER_SECONDS,
                message,
            });
        }
        *count += 1;
        drop(taken);
        Ok(Seat {
            seats: Arc::clone(self),
            person: person.to_owned(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection, for as long as it is held.
pub struct Seat {
    seats: Arc<Seats>,
    person: String,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.lock();
        if let Some(count) = taken.get_mut(&self.person) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.person);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_has_so_many_and_leaves_nothing_behind() {
        let seats = Seats::new(50, "are open");
        let mut held: Vec<_> = (0..50).map(|_| seats.take("alice").unwrap()).collect();
        assert!(matches!(seats.take("alice"), Err(Problem::RateLimited { .. })));
        assert!(seats.take("bob").is_ok(), "whatever others have open");
        held.pop();
        held.push(seats.take("alice").unwrap());
        drop(held);
        assert!(seats.lock().is_empty());
    }
}
