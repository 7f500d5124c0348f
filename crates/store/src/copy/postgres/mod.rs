//! The PostgreSQL side of a copy.

mod read;
mod running_hubs;
mod write;

use std::pin::Pin;
use std::time::Duration;

use countersign_protocol::time::Timestamp;
use deadpool_postgres::{Hook, HookError, Object, Pool, Runtime};
use tokio_postgres::{Config, RowStream};

use crate::error::StoreError;
use crate::exec::{AccessMode, Op};
use crate::postgres::connect::manager;
use crate::postgres::statement_cache::StatementCache;
use crate::postgres::transaction::PgTransaction;

/// Differs from a hub's application name, by which hubs are detected.
const APPLICATION_NAME: &str = "countersign store copy";
/// A copy may take any amount of time, but does not wait long for locks.
const SESSION: &str = "SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '3s'; SET statement_timeout = 0";
/// One for the copy, one for the migrations before it.
const CONNECTIONS: usize = 2;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub struct PostgresSide {
    pool: Pool,
    connection: Object,
    /// The row stream of one table. The server sends only as much as is consumed, so a large table costs no memory.
    reading: Option<Pin<Box<RowStream>>>,
    /// The application names that hubs on this database use.
    hub_names: Vec<String>,
}

impl PostgresSide {
    pub async fn connect(config: &Config) -> Result<Self, StoreError> {
        let hub_names = running_hubs::hub_names(config);
        let mut config = config.clone();
        config.application_name(APPLICATION_NAME);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        let pool = Pool::builder(manager(config)?)
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .post_create(Hook::async_fn(|client, _| {
                Box::pin(async move { client.batch_execute(SESSION).await.map_err(HookError::Backend) })
            }))
            .build()
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let connection = pool.get().await?;
        Ok(Self {
            pool,
            connection,
            reading: None,
            hub_names,
        })
    }

    /// Runs a read-only operation of any length, in one snapshot.
    pub async fn read<O: Op>(self, op: &O, now: Timestamp) -> Result<O::Out, StoreError> {
        let statements = StatementCache::default();
        let mut transaction = PgTransaction::new(self.connection, &statements);
        transaction.begin(AccessMode::Read).await?;
        let done = op.run(&mut transaction, now).await;
        transaction.rollback().await;
        done
    }
}
