//! An empty store in a temporary directory.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use countersign_store::clock::{Clock, ManualClock};
use countersign_store::{Store, StoreError};
use rusqlite::Connection;

use crate::scene::at;

pub struct Scratch(PathBuf);

impl Scratch {
    /// Takes the next free name: a killed run may have left directories under the same pid.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let directory = std::env::temp_dir().join(format!("countersign-store-{}-{number}", std::process::id()));
            match fs::create_dir(&directory) {
                Ok(()) => return Self(directory),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => panic!("{}: {error}", directory.display()),
            }
        }
    }

    pub fn file(&self) -> PathBuf {
        self.0.join("countersign.db")
    }

    /// A separate connection, as an operator with a shell would have.
    pub fn connect(&self) -> Connection {
        Connection::open(self.file()).expect("the file opens")
    }

    pub fn open_at(&self, clock: &Arc<ManualClock>) -> Result<Store, StoreError> {
        Store::open_sqlite(&self.file(), Arc::clone(clock) as Arc<dyn Clock>)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover directory is harmless.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// The store is dropped before its directory: fields drop in declaration order.
pub struct Fresh {
    pub store: Store,
    pub clock: Arc<ManualClock>,
    pub scratch: Scratch,
}

impl Fresh {
    pub fn open() -> Self {
        let scratch = Scratch::new();
        let clock = Arc::new(ManualClock::at(at(0)));
        let store = scratch.open_at(&clock).expect("a new store opens");
        Self { store, clock, scratch }
    }

    /// Closes this store and opens its file again.
    pub fn reopen(self) -> Self {
        let Self { store, clock, scratch } = self;
        drop(store);
        let store = scratch.open_at(&clock).expect("the file opens again");
        Self { store, clock, scratch }
    }
}
