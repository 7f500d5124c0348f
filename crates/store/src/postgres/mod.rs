//! The engine for several hubs on one database: a pool of connections, and one transaction an operation.
//!
//! Writers run beside each other here. Operations guard what they write by what they read, and one that finds its ground
//! changed gives `Raced`: it is undone and runs again from its start. READ COMMITTED is enough for that, and a busy row,
//! such as an agent's counter, then makes its writers wait in line instead of fail.

mod bus;
pub mod connect;
pub mod migrate;
mod outage;
mod refusal;
mod texts;
mod turn;
pub mod values;

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_protocol::time::Timestamp;
use deadpool_postgres::{Object, Pool, PoolError, TimeoutType};
use tokio::time::{sleep, timeout};
use tokio_postgres::error::SqlState;

use crate::clock::{Clock, SystemClock};
use crate::copy;
use crate::error::StoreError;
use crate::exec::{Mode, Op};
use crate::finish::to_the_end;
pub use bus::{Bus, Word};
use outage::Outage;
use texts::Texts;
use turn::Turn;

const MOST_ATTEMPTS: u32 = 16;
const LONGEST_PAUSE_MILLIS: u64 = 64;
/// Connections that turn out to be dead when they are used: after a restart of the database all of them are.
const MOST_BROKEN: u32 = 3;
/// From the beginning of a transaction to its commit. The database has limits of its own; this one is for when it is silent.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_FOR_SCANS: Duration = Duration::from_secs(35);
const PATIENCE_FOR_FIRST: Duration = Duration::from_secs(2);
const CROWD_PATIENCE: Duration = Duration::from_secs(5);
const CROWD_PAUSE: Duration = Duration::from_millis(20);

pub struct Postgres {
    engine: Arc<Engine>,
    /// For what must not wait behind anything else.
    first: Arc<Engine>,
    bus: Bus,
}

struct Engine {
    pool: Pool,
    texts: Texts,
    clock: Arc<dyn Clock>,
    outage: Outage,
    patience: Duration,
}

/// Why a transaction came to nothing.
enum Fault {
    Raced,
    /// The connection was dead; on another one it may work.
    Broken(StoreError),
    Refused(StoreError),
}

impl Postgres {
    pub async fn open(url: &str, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let settings = connect::settings(url)?;
        let pool = connect::pool(settings.clone(), connect::MOST_CONNECTIONS)?;
        let first = connect::pool(settings.clone(), connect::FIRST_CONNECTIONS)?;
        copy::refuse_half_copied_database(&pool).await?;
        migrate::run(&pool).await?;
        let first = Engine::new(first, Arc::clone(&clock), PATIENCE_FOR_FIRST);
        Ok(Self {
            engine: Engine::new(pool, clock, PATIENCE),
            first,
            bus: Bus::new(settings),
        })
    }

    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// On a connection of its own, which is given up sooner than others are.
    pub async fn run_first<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        let engine = Arc::clone(&self.first);
        to_the_end(async move { engine.run(&op).await }).await
    }

    pub async fn run<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        match O::MODE {
            // A caller that goes away does not undo its write, as on the embedded engine; nor does it cost a connection, which
            // is closed when nobody ends its transaction.
            Mode::Write | Mode::Note | Mode::Read => {
                let engine = Arc::clone(&self.engine);
                to_the_end(async move { engine.run(&op).await }).await
            }
            // It may be long, and nobody wants it any more.
            Mode::Scan => self.engine.run(&op).await,
        }
    }
}

impl Engine {
    fn new(pool: Pool, clock: Arc<dyn Clock>, patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            pool,
            texts: Texts::default(),
            clock,
            outage: Outage::default(),
            patience,
        })
    }

    async fn run<O: Op>(&self, op: &O) -> Result<O::Out, StoreError> {
        let mut broken = 0;
        for attempt in 1..=MOST_ATTEMPTS {
            match self.run_once(op).await {
                Ok(out) => return Ok(out),
                Err(Fault::Raced) => pause(attempt).await,
                Err(Fault::Broken(error)) if broken == MOST_BROKEN => return Err(error),
                Err(Fault::Broken(_)) => broken += 1,
                Err(Fault::Refused(error)) => return Err(error),
            }
        }
        Err(StoreError::Unavailable(format!(
            "others were first {MOST_ATTEMPTS} times in a row"
        )))
    }

    async fn run_once<O: Op>(&self, op: &O) -> Result<O::Out, Fault> {
        let connection = self.connection().await.map_err(Fault::Refused)?;
        let mut turn = Turn::new(connection, &self.texts);
        let patience = if O::MODE == Mode::Scan {
            PATIENCE_FOR_SCANS
        } else {
            self.patience
        };
        let ran = timeout(patience, async {
            let now = self.begin::<O>(&mut turn).await?;
            op.run(&mut turn, now).await
        });
        match ran.await {
            // Nothing could be lost, or nothing that anybody would miss.
            Ok(Ok(out)) if O::MODE != Mode::Write => {
                turn.end().await;
                Ok(out)
            }
            Ok(Ok(out)) => turn.commit().await.map(|()| out).map_err(|error| match error {
                StoreError::Raced => Fault::Raced,
                // It said so instead of committing.
                ended @ StoreError::Ended(_) => Fault::Broken(ended),
                other => Fault::Refused(other),
            }),
            Ok(Err(StoreError::Raced)) => {
                turn.undo().await;
                Err(Fault::Raced)
            }
            Ok(Err(error)) if turn.is_broken() || matches!(error, StoreError::Ended(_)) => Err(Fault::Broken(error)),
            Ok(Err(error)) => {
                turn.undo().await;
                Err(Fault::Refused(error))
            }
            // Not undone: nobody would answer that either. The connection is closed instead, and so are those that nobody
            // uses: if the way there is gone, each of them would be waited for as long.
            Err(_elapsed) => {
                self.pool.retain(|_, _| false);
                Err(Fault::Refused(StoreError::Unavailable(
                    "it did not answer in time".to_owned(),
                )))
            }
        }
    }

    async fn connection(&self) -> Result<Object, StoreError> {
        if self.pool.status().available == 0 {
            self.outage.check(Instant::now())?;
        }
        let began = Instant::now();
        loop {
            match self.pool.get().await {
                Ok(connection) => {
                    self.outage.is_over();
                    return Ok(connection);
                }
                // No more are to be had, but one of those that are may come free.
                Err(error) if is_crowded(&error) && began.elapsed() < CROWD_PATIENCE => sleep(CROWD_PAUSE).await,
                // The database is there, and busy.
                Err(error @ PoolError::Timeout(TimeoutType::Wait)) => return Err(error.into()),
                Err(error) if is_crowded(&error) => return Err(error.into()),
                Err(error) => {
                    let error = error.into();
                    self.outage.failed(Instant::now(), &error);
                    return Err(error);
                }
            }
        }
    }

    /// The transaction's own instant: of the database if the clock follows it and something may depend on it, in the same
    /// round trip.
    async fn begin<O: Op>(&self, turn: &mut Turn<'_>) -> Result<Timestamp, StoreError> {
        if !O::IS_TIMED || O::MODE != Mode::Write || !self.clock.follows_database() {
            turn.begin(O::MODE).await?;
            return Ok(self.clock.now());
        }
        let asked_at = SystemClock.now();
        let now = turn.begin_writing_and_tell_time().await?;
        self.clock.observe(asked_at, now);
        Ok(now)
    }
}

fn is_crowded(error: &PoolError) -> bool {
    matches!(error, PoolError::Backend(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS))
}

/// Of random length, so that those who met once do not meet again; longer after every loss.
async fn pause(attempt: u32) {
    let longest = (1_u64 << attempt.min(16)).min(LONGEST_PAUSE_MILLIS) * 1_000;
    let random = getrandom::u64().unwrap_or(0);
    sleep(Duration::from_micros(random % longest)).await;
}
