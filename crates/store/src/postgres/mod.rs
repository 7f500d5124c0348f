//! The engine for several nodes on one database: a connection pool, and one transaction per operation.
//!
//! Writers run concurrently here. Operations guard their writes by what they read (optimistic locking); an operation
//! whose guard fails returns `Conflict`, is rolled back and runs again from its start. READ COMMITTED is enough for
//! that, and makes writers of a hot row, such as an agent's counter, queue instead of fail.

mod circuit_breaker;
pub mod connect;
mod database;
mod errors;
pub mod migrate;
mod notify_bus;
pub mod statement_cache;
pub mod transaction;
pub mod values;

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_protocol::time::Timestamp;
use countersign_telemetry::metrics::DurationHistogram;
use deadpool_postgres::{Object, Pool, PoolError, TimeoutType};
use futures_util::future::BoxFuture;
use tokio::time::{sleep, timeout};
use tokio_postgres::error::SqlState;

use crate::clock::{Clock, SystemClock};
use crate::completion::run_to_completion;
use crate::copy;
use crate::error::StoreError;
use crate::exec::{AccessMode, Op};
use crate::store::StoreLoad;
use circuit_breaker::CircuitBreaker;
pub use database::{ConnectError, PostgresDatabase};
pub use notify_bus::{Notification, NotifyBus};
use statement_cache::StatementCache;
use transaction::PgTransaction;

const MAX_ATTEMPTS: u32 = 16;
const MAX_BACKOFF_MILLIS: u64 = 64;
/// Attempts on dead connections: after a restart of the database all pooled connections are dead.
const MAX_BROKEN_CONNECTIONS: u32 = 3;
/// From BEGIN to before the commit. The database has timeouts of its own; this one covers an unresponsive database.
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(10);
const SCAN_TIMEOUT: Duration = Duration::from_secs(35);
const PRIORITY_TIMEOUT: Duration = Duration::from_secs(2);
const CONNECTION_WAIT_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECTION_RETRY_INTERVAL: Duration = Duration::from_millis(20);

pub struct Postgres {
    engine: Arc<PoolEngine>,
    /// For operations that must not queue behind others.
    priority: Arc<PoolEngine>,
    bus: NotifyBus,
}

struct PoolEngine {
    pool: Pool,
    statements: StatementCache,
    clock: Arc<dyn Clock>,
    breaker: CircuitBreaker,
    commits: DurationHistogram,
    time_limit: Duration,
    /// The server's name in errors.
    server: String,
}

/// An operation, type-erased: the code around its transaction would otherwise be compiled for each operation.
trait TransactionJob: Send {
    fn mode(&self) -> AccessMode;
    fn is_timed(&self) -> bool;
    fn run<'a>(
        &'a mut self,
        transaction: &'a mut PgTransaction<'_>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
}

struct OpJob<O: Op> {
    op: O,
    out: Option<O::Out>,
}

impl<O: Op> TransactionJob for OpJob<O> {
    fn mode(&self) -> AccessMode {
        O::MODE
    }

    fn is_timed(&self) -> bool {
        O::IS_TIMED
    }

    fn run<'a>(
        &'a mut self,
        transaction: &'a mut PgTransaction<'_>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.out = Some(self.op.run(transaction, now).await?);
            Ok(())
        })
    }
}

/// Why a transaction failed.
enum TransactionError {
    Conflict,
    /// The connection was dead; a retry on another one may work.
    Broken(StoreError),
    Failed(StoreError),
}

impl Postgres {
    pub async fn open(
        database: PostgresDatabase,
        clock: Arc<dyn Clock>,
        commits: DurationHistogram,
    ) -> Result<Self, StoreError> {
        let PostgresDatabase { settings, pool } = database;
        let priority = connect::pool(settings.clone(), connect::PRIORITY_CONNECTIONS)?;
        copy::refuse_unfinished_database(&pool).await?;
        migrate::run(&pool).await?;
        let server = database::shown(&settings);
        Ok(Self {
            priority: PoolEngine::new(
                priority,
                Arc::clone(&clock),
                commits.clone(),
                PRIORITY_TIMEOUT,
                server.clone(),
            ),
            engine: PoolEngine::new(pool, clock, commits, TRANSACTION_TIMEOUT, server),
            bus: NotifyBus::new(settings),
        })
    }

    pub fn load(&self) -> StoreLoad {
        let pool = self.engine.pool.status();
        StoreLoad {
            queued_writes: 0,
            pool_size: pool.size,
            pool_in_use: pool.size.saturating_sub(pool.available),
        }
    }

    pub fn bus(&self) -> &NotifyBus {
        &self.bus
    }

    /// Runs on a separate connection with a shorter timeout.
    pub async fn run_with_priority<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        let engine = Arc::clone(&self.priority);
        run_to_completion(async move { engine.run(op).await }).await
    }

    pub async fn run<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        match O::MODE {
            // A dropped caller does not undo its write, as on the embedded engine. It does not cost a connection
            // either: a connection with an unfinished transaction has to be closed.
            AccessMode::Write | AccessMode::UnacknowledgedWrite | AccessMode::Read => {
                let engine = Arc::clone(&self.engine);
                run_to_completion(async move { engine.run(op).await }).await
            }
            // A scan may be long, and its dropped caller no longer needs it.
            AccessMode::Scan => self.engine.run(op).await,
        }
    }
}

impl PoolEngine {
    fn new(
        pool: Pool,
        clock: Arc<dyn Clock>,
        commits: DurationHistogram,
        time_limit: Duration,
        server: String,
    ) -> Arc<Self> {
        Arc::new(Self {
            pool,
            statements: StatementCache::default(),
            clock,
            breaker: CircuitBreaker::default(),
            commits,
            time_limit,
            server,
        })
    }

    async fn run<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        let mut job = OpJob { op, out: None };
        self.run_job(&mut job).await?;
        job.out
            .ok_or_else(|| StoreError::Corrupt("an operation committed without a result".to_owned()))
    }

    async fn run_job(&self, job: &mut dyn TransactionJob) -> Result<(), StoreError> {
        let mut broken = 0;
        for attempt in 1..=MAX_ATTEMPTS {
            match self.run_once(job).await {
                Ok(()) => return Ok(()),
                Err(TransactionError::Conflict) => backoff(attempt).await,
                Err(TransactionError::Broken(error)) if broken == MAX_BROKEN_CONNECTIONS => return Err(error),
                Err(TransactionError::Broken(_)) => broken += 1,
                Err(TransactionError::Failed(error)) => return Err(error),
            }
        }
        Err(StoreError::Unavailable(format!(
            "gave up after {MAX_ATTEMPTS} conflicts with other writers in a row"
        )))
    }

    async fn run_once(&self, job: &mut dyn TransactionJob) -> Result<(), TransactionError> {
        let connection = self.connection().await.map_err(TransactionError::Failed)?;
        let mut transaction = PgTransaction::new(connection, &self.statements);
        let began = Instant::now();
        let mode = job.mode();
        let time_limit = if mode == AccessMode::Scan {
            SCAN_TIMEOUT
        } else {
            self.time_limit
        };
        let ran = timeout(time_limit, async {
            let now = self.begin(&mut transaction, mode, job.is_timed()).await?;
            job.run(&mut transaction, now).await
        });
        match ran.await {
            // Reads have nothing to lose, and unacknowledged writes may be lost.
            Ok(Ok(())) if mode != AccessMode::Write => {
                transaction.end_unacknowledged().await;
                Ok(())
            }
            Ok(Ok(())) => match transaction.commit().await {
                Ok(()) => {
                    self.commits.observe(began.elapsed());
                    Ok(())
                }
                Err(StoreError::Conflict) => Err(TransactionError::Conflict),
                // The database closed the connection instead of committing.
                Err(ended @ StoreError::ConnectionEnded(_)) => Err(TransactionError::Broken(ended)),
                Err(other) => Err(TransactionError::Failed(other)),
            },
            Ok(Err(StoreError::Conflict)) => {
                transaction.rollback().await;
                Err(TransactionError::Conflict)
            }
            Ok(Err(error)) if transaction.is_broken() || matches!(error, StoreError::ConnectionEnded(_)) => {
                Err(TransactionError::Broken(error))
            }
            Ok(Err(error)) => {
                transaction.rollback().await;
                Err(TransactionError::Failed(error))
            }
            // No ROLLBACK: it would time out too. The connection is closed instead, and so are the idle ones: if the
            // network is down, each of them would cost the same timeout.
            Err(_elapsed) => {
                self.pool.retain(|_, _| false);
                Err(TransactionError::Failed(StoreError::Unavailable(
                    "the database did not respond in time".to_owned(),
                )))
            }
        }
    }

    async fn connection(&self) -> Result<Object, StoreError> {
        if self.pool.status().available == 0 {
            self.breaker.check(Instant::now())?;
        }
        let began = Instant::now();
        loop {
            match self.pool.get().await {
                Ok(connection) => {
                    self.breaker.record_success();
                    return Ok(connection);
                }
                // The server has no more connections, but a pooled one may become free.
                Err(error) if is_out_of_connections(&error) && began.elapsed() < CONNECTION_WAIT_TIMEOUT => {
                    sleep(CONNECTION_RETRY_INTERVAL).await
                }
                // The database is reachable but busy.
                Err(error @ PoolError::Timeout(TimeoutType::Wait)) => return Err(error.into()),
                Err(error) if is_out_of_connections(&error) => return Err(error.into()),
                Err(error) => {
                    let error = database::named(&self.server, error.into());
                    self.breaker.record_failure(Instant::now(), &error);
                    return Err(error);
                }
            }
        }
    }

    /// Begins the transaction and returns its time: the database's if the clock follows it and the operation depends on
    /// the time, read in the same round trip as BEGIN.
    async fn begin(
        &self,
        transaction: &mut PgTransaction<'_>,
        mode: AccessMode,
        is_timed: bool,
    ) -> Result<Timestamp, StoreError> {
        if !is_timed || mode != AccessMode::Write || !self.clock.follows_database() {
            transaction.begin(mode).await?;
            return Ok(self.clock.now());
        }
        let asked_at = SystemClock.now();
        let now = transaction.begin_write_with_time().await?;
        self.clock.observe(asked_at, now);
        Ok(now)
    }
}

fn is_out_of_connections(error: &PoolError) -> bool {
    matches!(error, PoolError::Backend(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS))
}

/// Jittered exponential backoff after a conflict.
async fn backoff(attempt: u32) {
    let longest = (1_u64 << attempt.min(16)).min(MAX_BACKOFF_MILLIS) * 1_000;
    let random = getrandom::u64().unwrap_or(0);
    sleep(Duration::from_micros(random % longest)).await;
}
