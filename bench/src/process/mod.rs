//! The servers under measurement: start, observation through /proc, and a guaranteed stop.

mod browser;
mod ceiling;
mod child;
mod cueme;
mod hub;
mod postgres;
mod scratch;
mod usage;

use std::net::SocketAddr;

pub use ceiling::Ceiling;
pub use cueme::{Cueme, Terminal};
pub use hub::{Agent, Hub, HubOptions};
pub use postgres::Postgres;
pub use scratch::Scratch;
pub use usage::{MachineTime, Usage, ensure_open_files, rss_bytes, wait_until_idle};

/// A running server: its address and its process id.
#[derive(Clone, Copy)]
pub struct Target {
    pub address: SocketAddr,
    pub pid: u32,
}
