//! The hub's persistent storage. The only crate that names a database driver.
//!
//! Every operation is written once, in `ops/`, over the small `Exec` trait; an engine adds transactions and
//! connections.

pub mod clock;
pub mod completion;
pub mod copy;
mod error;
mod exec;
pub mod faults;
mod migrations;
pub mod model;
pub mod ops;
mod postgres;
mod sqlite;
mod store;
pub mod waiters;

pub use error::{StoreError, Unreadable};
pub use exec::Op;
pub use migrations::SCHEMA_VERSION;
pub use postgres::{ConnectError, Notification, NotifyBus, PostgresDatabase};
pub use sqlite::high_water_mark::DataLoss;
pub use sqlite::inspect;
pub use store::{Store, StoreLoad};
