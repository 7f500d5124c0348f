//! How many streams each person has open. A browser has one for each of its windows; whoever opens many more holds
//! connections that others need.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::problem::Problem;

const MOST_OF_A_PERSON: usize = 50;
const RETRY_AFTER_SECONDS: u64 = 30;

/// By name; nobody who has none open.
#[derive(Default)]
pub struct Seats {
    taken: Mutex<HashMap<String, usize>>,
}

impl Seats {
    pub fn take(self: &Arc<Self>, person: &str) -> Result<Seat, Problem> {
        let mut taken = self.lock();
        let count = taken.entry(person.to_owned()).or_default();
        if *count >= MOST_OF_A_PERSON {
            let message = format!("{MOST_OF_A_PERSON} streams of events are open under your name; close some of them");
            return Err(Problem::RateLimited { retry_after_seconds: RETRY_AFTER_SECONDS, message });
        }
        *count += 1;
        drop(taken);
        Ok(Seat { seats: Arc::clone(self), person: person.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One stream, for as long as it is open.
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
    fn a_person_has_so_many_streams_and_leaves_nothing_behind() {
        let seats = Arc::new(Seats::default());
        let mut held: Vec<_> = (0..MOST_OF_A_PERSON).map(|_| seats.take("alice").unwrap()).collect();
        assert!(matches!(seats.take("alice"), Err(Problem::RateLimited { .. })));
        assert!(seats.take("bob").is_ok(), "whatever others have open");
        held.pop();
        held.push(seats.take("alice").unwrap());
        drop(held);
        assert!(seats.lock().is_empty());
    }
}
