//! Push delivery of resolutions: claim from the outbox, sign, send to a guarded address, settle.

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
