//! PostgreSQL's side of a copy.

mod guard;
mod read;
mod write;

use std::pin::Pin;
use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Object, Pool, Runtime};
use tokio_postgres::{Config, RowStream};

use crate::error::StoreError;
use crate::postgres::connect::manager;

/// Not that of a hub, which is looked for by its name.
const APPLICATION_NAME: &str = "countersign store copy";
/// A copy takes as long as it takes, but it does not wait for others without end.
const SESSION: &str = "SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '3s'; SET statement_timeout = 0";
/// One for the copy, one for the migrations before it.
const CONNECTIONS: usize = 2;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub struct PostgresSide {
    pool: Pool,
    connection: Object,
    /// The rows of one table on their way. The server sends no more than is taken, so a large table costs no memory.
    reading: Option<Pin<Box<RowStream>>>,
    /// What hubs on this database call themselves.
    hub_names: Vec<String>,
}

impl PostgresSide {
    pub async fn connect(config: &Config) -> Result<Self, StoreError> {
        let hub_names = guard::hub_names(config);
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
}
