//! Bringing resolutions to their agents: claimed from the outbox, signed, sent to a checked address, settled.

mod client;
pub mod guard;
mod lane;
mod outbox;
mod resolver;
mod send;
mod settle;
mod sign;
mod width;

pub use guard::{TargetRefused, callback_host, check_callback_url, normalise_binding};
pub use outbox::{Outbox, OutboxError};
pub use resolver::{DnsLookup, SystemLookup};
pub use settle::DeliveryCounts;
