//! The engine for several hubs on one database: a pool of connections, and one transaction an operation.
//!
//! Writers run beside each other here. Operations guard what they write by what they read, and one that finds its ground
//! changed gives `Raced`: it is undone and runs again from its start. READ COMMITTED is enough for that, and a busy row,
//! such as an agent's counter, then makes its writers wait in line instead of fail.

pub mod connect;
pub mod migrate;
mod refusal;
mod texts;
mod turn;
pub mod values;

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::time::Timestamp;
use deadpool_postgres::Pool;

use crate::clock::Clock;
use crate::copy;
use crate::error::StoreError;
use crate::exec::{Mode, Op};
use texts::Texts;
use turn::Turn;

const MOST_ATTEMPTS: u32 = 16;
const LONGEST_PAUSE_MILLIS: u64 = 64;

pub struct Postgres(Arc<Engine>);

struct Engine {
    pool: Pool,
    texts: Texts,
    clock: Arc<dyn Clock>,
}

impl Postgres {
    pub async fn open(url: &str, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let pool = connect::pool(url)?;
        copy::refuse_half_copied_database(&pool).await?;
        migrate::run(&pool).await?;
        Ok(Self(Arc::new(Engine { pool, texts: Texts::default(), clock })))
    }

    pub async fn run<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        match O::MODE {
            // On a task of its own: a caller that goes away does not undo its write, as on the embedded engine.
            Mode::Write => {
                let engine = Arc::clone(&self.0);
                tokio::spawn(async move { engine.run(&op).await })
                    .await
                    .map_err(|error| StoreError::Unavailable(error.to_string()))?
            }
            Mode::Read | Mode::Scan => self.0.run(&op).await,
        }
    }
}

impl Engine {
    async fn run<O: Op>(&self, op: &O) -> Result<O::Out, StoreError> {
        for attempt in 1..=MOST_ATTEMPTS {
            match self.run_once(op).await {
                Err(StoreError::Raced) => pause(attempt).await,
                done => return done,
            }
        }
        Err(StoreError::Unavailable(format!("others were first {MOST_ATTEMPTS} times in a row")))
    }

    async fn run_once<O: Op>(&self, op: &O) -> Result<O::Out, StoreError> {
        let mut turn = Turn::take(&self.pool, &self.texts).await?;
        let now = self.begin(&mut turn, O::MODE).await?;
        match op.run(&mut turn, now).await {
            Ok(out) => turn.commit().await.map(|()| out),
            Err(error) => {
                turn.undo().await;
                Err(error)
            }
        }
    }

    /// The transaction's own instant: of the database if the clock follows it, in the same round trip.
    async fn begin(&self, turn: &mut Turn<'_>, mode: Mode) -> Result<Timestamp, StoreError> {
        if !self.clock.follows_database() {
            turn.begin(mode).await?;
            return Ok(self.clock.now());
        }
        let now = turn.begin_and_tell_time(mode).await?;
        self.clock.observe(now);
        Ok(now)
    }
}

/// Of random length, so that those who met once do not meet again; longer after every loss.
async fn pause(attempt: u32) {
    let longest = (1_u64 << attempt.min(16)).min(LONGEST_PAUSE_MILLIS) * 1_000;
    let random = getrandom::u64().unwrap_or(0);
    tokio::time::sleep(Duration::from_micros(random % longest)).await;
}
