use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use countersign_telemetry::metrics::DurationHistogram;

use crate::clock::Clock;
use crate::error::StoreError;
use crate::exec::Op;
use crate::faults::Faults;
use crate::postgres::{NotifyBus, Postgres, PostgresDatabase};
use crate::sqlite::high_water_mark::DataLoss;
use crate::sqlite::{OnDataLoss, Sqlite};

/// The hub's storage. The engine is an enum, not a trait object: operations are generic over it, and there are only
/// two.
pub struct Store {
    engine: Engine,
    clock: Arc<dyn Clock>,
    node: RwLock<String>,
    faults: Faults,
    commits: DurationHistogram,
}

/// How busy the way to the database is. What the engine does not have is zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreLoad {
    /// Operations that wait for SQLite's writer thread.
    pub queued_writes: usize,
    /// Open connections to PostgreSQL.
    pub pool_size: usize,
    /// Those that an operation uses now.
    pub pool_in_use: usize,
}

enum Engine {
    Sqlite(Sqlite),
    Postgres(Box<Postgres>),
}

impl Store {
    /// Refuses a store that is behind its high-water mark.
    pub fn open_sqlite(file: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        Self::open_sqlite_with(file, clock, OnDataLoss::Refuse).map(|(store, _)| store)
    }

    /// Opens a store that has lost entries too, and returns the loss; the caller records it in the audit trail.
    pub fn open_sqlite_after_loss(file: &Path, clock: Arc<dyn Clock>) -> Result<(Self, Option<DataLoss>), StoreError> {
        Self::open_sqlite_with(file, clock, OnDataLoss::Accept)
    }

    fn open_sqlite_with(
        file: &Path,
        clock: Arc<dyn Clock>,
        on_data_loss: OnDataLoss,
    ) -> Result<(Self, Option<DataLoss>), StoreError> {
        let commits = DurationHistogram::of_commits();
        let (sqlite, loss) = Sqlite::open(file, Arc::clone(&clock), on_data_loss, commits.clone())?;
        let store = Self {
            engine: Engine::Sqlite(sqlite),
            clock,
            node: RwLock::new(new_node()?),
            faults: Faults::default(),
            commits,
        };
        Ok((store, loss))
    }

    /// With a `DatabaseClock`, the database's clock decides every race, as several nodes on one database need.
    pub async fn open_postgres(url: &str, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let database = PostgresDatabase::new(url)?;
        database.connect().await.map_err(|failed| failed.error)?;
        Self::open_database(database, clock).await
    }

    /// Like `open_postgres`, on a database that the caller has connected to.
    pub async fn open_database(database: PostgresDatabase, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let commits = DurationHistogram::of_commits();
        let postgres = Postgres::open(database, Arc::clone(&clock), commits.clone()).await?;
        Ok(Self {
            engine: Engine::Postgres(Box::new(postgres)),
            clock,
            node: RwLock::new(new_node()?),
            faults: Faults::default(),
            commits,
        })
    }

    pub async fn run<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        let done = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.run(op).await,
            // Boxed: the future takes kilobytes, which every caller on the embedded engine would carry for nothing.
            Engine::Postgres(postgres) => Box::pin(postgres.run(op)).await,
        };
        match &done {
            Ok(out) => O::damage(out).iter().for_each(|damage| self.faults.record(damage)),
            Err(error) => self.faults.record(error),
        }
        done
    }

    /// How long transactions that write take.
    pub fn commit_durations(&self) -> DurationHistogram {
        self.commits.clone()
    }

    pub fn load(&self) -> StoreLoad {
        match &self.engine {
            Engine::Sqlite(sqlite) => StoreLoad {
                queued_writes: sqlite.queued_writes(),
                ..StoreLoad::default()
            },
            Engine::Postgres(postgres) => postgres.load(),
        }
    }

    /// The damaged data met since this store was opened.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Like `run`, for operations that must not queue behind others, such as renewing a lease.
    pub async fn run_with_priority<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.run(op).await,
            Engine::Postgres(postgres) => Box::pin(postgres.run_with_priority(op)).await,
        }
    }

    /// The notification bus between nodes that share this store; `None` for an embedded store.
    pub fn bus(&self) -> Option<&NotifyBus> {
        match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(postgres) => Some(postgres.bus()),
        }
    }

    pub fn is_shared(&self) -> bool {
        self.bus().is_some()
    }

    /// For a clean shutdown: call it after the last write.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.checkpoint(),
            // PostgreSQL checkpoints by itself.
            Engine::Postgres(_) => Ok(()),
        }
    }

    /// Resolves when this store can write no more until the process restarts.
    pub async fn writer_ended(&self) {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.writer_ended().await,
            // Connections are replaced.
            Engine::Postgres(_) => std::future::pending().await,
        }
    }

    /// The node id under which this process holds claims and runs in the store. It is new at every opening, so that
    /// claims of an earlier process are not mistaken for its own.
    pub fn node(&self) -> String {
        self.node.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes a new node id after other nodes have taken over this one's claims, so that none of them seem its own.
    pub fn renew_node_id(&self) -> Result<(), StoreError> {
        *self.node.write().unwrap_or_else(PoisonError::into_inner) = new_node()?;
        Ok(())
    }

    /// The clock that decides every race in this store.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }
}

fn new_node() -> Result<String, StoreError> {
    let random = getrandom::u64().map_err(|error| StoreError::Unavailable(error.to_string()))?;
    Ok(format!("{random:016x}"))
}
