//! A fixed set of read-only connections.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::connection::{open_reader, run_now};
use crate::clock::Clock;
use crate::error::StoreError;
use crate::exec::Op;

pub struct Readers {
    connections: Vec<Mutex<Connection>>,
    next: AtomicUsize,
    clock: Arc<dyn Clock>,
}

impl Readers {
    pub fn open(file: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let count = std::thread::available_parallelism().map_or(2, usize::from) + 2;
        let connections = (0..count)
            .map(|_| open_reader(file).map(Mutex::new))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            connections,
            next: AtomicUsize::new(0),
            clock,
        })
    }

    pub fn run<O: Op>(&self, op: &O) -> Result<O::Out, StoreError> {
        let mut connection = self.free_connection();
        // One snapshot for the whole operation.
        connection.prepare_cached("BEGIN")?.raw_execute()?;
        let done = run_now(op, &mut connection, self.clock.now());
        connection.prepare_cached("COMMIT")?.raw_execute()?;
        done
    }

    /// The first unlocked connection; if all are locked, waits for the next in round-robin order.
    fn free_connection(&self) -> MutexGuard<'_, Connection> {
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        let at = |offset: usize| &self.connections[(start + offset) % self.connections.len()];
        (0..self.connections.len())
            .find_map(|offset| at(offset).try_lock().ok())
            .unwrap_or_else(|| at(0).lock().unwrap_or_else(PoisonError::into_inner))
    }
}
