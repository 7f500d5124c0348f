//! What the hub remembers. The only crate that names a database driver.
//!
//! Every operation is written once, in `ops/`, over the small `Exec` seam; an engine brings transactions and connections.

pub mod clock;
mod error;
mod exec;
pub mod model;
pub mod ops;
mod sqlite;
mod store;

pub use error::StoreError;
pub use store::{SCHEMA_VERSION, Store};
