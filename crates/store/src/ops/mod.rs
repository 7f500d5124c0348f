//! The domain operations, one file per job, each written once for every engine.

pub mod account;
pub mod admin;
pub mod agent;
mod decisions;
pub mod deliver;
pub mod dialect;
pub mod last_seen;
pub mod list;
pub mod message;
pub mod node;
pub mod pulse;
mod row_lock;
pub mod rows;
pub mod run;
pub mod search;
pub mod terminal;
