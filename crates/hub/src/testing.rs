//! A hub for unit tests: no listener, and a temporary SQLite store.

use std::sync::Arc;

use countersign_config::{Config, ConfigFile, Overrides};
use countersign_store::Store;
use countersign_store::clock::SystemClock;
use tokio::sync::watch;
use uuid::Uuid;

use crate::Hub;
use crate::delivery::Outbox;

pub fn store() -> Arc<Store> {
    let file = std::env::temp_dir().join(format!("countersign-hub-{}.db", Uuid::new_v4()));
    Arc::new(Store::open_sqlite(&file, Arc::new(SystemClock)).unwrap())
}

pub fn hub() -> Arc<Hub> {
    let store = store();
    let config = Config::resolve(ConfigFile::default(), Overrides::default()).unwrap();
    let outbox = Outbox::new(Arc::clone(&store), config.push).unwrap();
    Hub::new(store, config, outbox, watch::channel(false).1).unwrap()
}
