use std::path::Path;
use std::sync::Arc;

use crate::clock::Clock;
use crate::error::StoreError;
use crate::exec::Op;
use crate::sqlite::Sqlite;

pub use crate::sqlite::SCHEMA_VERSION;

/// The hub's memory. An enum and not a trait object: the operations are generic over the engine, and there are few engines.
pub struct Store {
    engine: Engine,
    clock: Arc<dyn Clock>,
}

enum Engine {
    Sqlite(Sqlite),
}

impl Store {
    pub fn open_sqlite(file: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let engine = Engine::Sqlite(Sqlite::open(file, Arc::clone(&clock))?);
        Ok(Self { engine, clock })
    }

    pub async fn run<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.run(op).await,
        }
    }

    /// For a clean stop: call it when nobody writes any more.
    pub fn settle(&self) -> Result<(), StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.settle(),
        }
    }

    /// The clock that settles every race in this store.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }
}
