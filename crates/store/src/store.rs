use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use crate::clock::Clock;
use crate::error::StoreError;
use crate::exec::Op;
use crate::postgres::{NotifyBus, Postgres};
use crate::sqlite::Sqlite;

/// The hub's memory. An enum and not a trait object: the operations are generic over the engine, and there are few engines.
pub struct Store {
    engine: Engine,
    clock: Arc<dyn Clock>,
    node: RwLock<String>,
}

enum Engine {
    Sqlite(Sqlite),
    Postgres(Box<Postgres>),
}

impl Store {
    pub fn open_sqlite(file: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let engine = Engine::Sqlite(Sqlite::open(file, Arc::clone(&clock))?);
        Ok(Self {
            engine,
            clock,
            node: RwLock::new(new_node()?),
        })
    }

    /// With a `DatabaseClock` the database's own clock settles every race, as several hubs on one database need it.
    pub async fn open_postgres(url: &str, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let engine = Engine::Postgres(Box::new(Postgres::open(url, Arc::clone(&clock)).await?));
        Ok(Self {
            engine,
            clock,
            node: RwLock::new(new_node()?),
        })
    }

    pub async fn run<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.run(op).await,
            // Boxed: it takes kilobytes, which everybody who waits on the embedded engine would carry for nothing.
            Engine::Postgres(postgres) => Box::pin(postgres.run(op)).await,
        }
    }

    /// The same for what must not wait behind others, such as a sign of life.
    pub async fn run_with_priority<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.run(op).await,
            Engine::Postgres(postgres) => Box::pin(postgres.run_with_priority(op)).await,
        }
    }

    /// Where hubs that share this store talk to each other. Nothing where a store is one hub's alone.
    pub fn bus(&self) -> Option<&NotifyBus> {
        match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(postgres) => Some(postgres.bus()),
        }
    }

    pub fn is_shared(&self) -> bool {
        self.bus().is_some()
    }

    /// For a clean stop: call it when nobody writes any more.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.checkpoint(),
            // What is committed there is where it belongs.
            Engine::Postgres(_) => Ok(()),
        }
    }

    /// Under which this process has things under way in the store. Another one at every opening: what it had before is not
    /// its own any more.
    pub fn node(&self) -> String {
        self.node.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Others have taken over from this process. It goes on under another id, so that nothing it had before can seem its own.
    pub fn renew_node_id(&self) -> Result<(), StoreError> {
        *self.node.write().unwrap_or_else(PoisonError::into_inner) = new_node()?;
        Ok(())
    }

    /// The clock that settles every race in this store.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }
}

fn new_node() -> Result<String, StoreError> {
    let random = getrandom::u64().map_err(|error| StoreError::Unavailable(error.to_string()))?;
    Ok(format!("{random:016x}"))
}
