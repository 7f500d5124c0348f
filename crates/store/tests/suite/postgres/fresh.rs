//! An empty store in a temporary database.

use std::sync::Arc;

use countersign_store::clock::{Clock, ManualClock};
use countersign_store::{Store, StoreError};
use tokio_postgres::{Client, NoTls};

use super::server;
use crate::scene::at;

async fn connect_to(database: &str) -> Client {
    let address = format!("{} dbname={database}", server::address());
    let (client, connection) = tokio_postgres::connect(&address, NoTls)
        .await
        .expect("PostgreSQL answers");
    tokio::spawn(connection);
    client
}

pub struct Database {
    name: String,
}

impl Database {
    pub async fn create() -> Self {
        let name = format!("test_{:016x}", getrandom::u64().expect("the machine has randomness"));
        connect_to("postgres")
            .await
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .await
            .expect("a new database");
        Self { name }
    }

    pub fn url(&self) -> String {
        format!("{} dbname={}", server::address(), self.name)
    }

    /// A separate connection, as an operator with psql would have.
    pub async fn connect(&self) -> Client {
        connect_to(&self.name).await
    }

    pub async fn open_with(&self, clock: Arc<dyn Clock>) -> Result<Store, StoreError> {
        Store::open_postgres(&self.url(), clock).await
    }

    async fn drop_now(name: &str) {
        let sql = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        connect_to("postgres")
            .await
            .batch_execute(&sql)
            .await
            .expect("the database goes");
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let name = std::mem::take(&mut self.name);
        // The test's own runtime cannot be blocked on from here.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime starts").block_on(Self::drop_now(&name));
        });
        // A leftover database is harmless: the cluster is removed too.
        drop(dropping.join());
    }
}

/// The store is dropped before its database: fields drop in declaration order.
pub struct Fresh {
    pub store: Store,
    pub clock: Arc<ManualClock>,
    pub database: Database,
}

impl Fresh {
    pub async fn open() -> Self {
        let database = Database::create().await;
        let clock = Arc::new(ManualClock::at(at(0)));
        let store = database
            .open_with(Arc::clone(&clock) as Arc<dyn Clock>)
            .await
            .expect("a new store opens");
        Self { store, clock, database }
    }

    /// Another hub on the same database.
    pub async fn neighbour(&self) -> Store {
        self.database
            .open_with(Arc::clone(&self.clock) as Arc<dyn Clock>)
            .await
            .expect("the database takes another hub")
    }
}
