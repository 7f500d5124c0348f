//! Push delivery of resolutions: claim from the outbox, sign, send to a guarded address, settle.

mod concurrency_window;
pub mod guard;
mod host_worker;
mod http_client;
mod outbox;
mod push_client;
mod resolver;
pub mod respond;
mod settle;

pub(crate) use http_client::{cause as failure_cause, reason as failure_reason};

pub use guard::{TargetRefused, callback_host, normalise_binding};
pub use outbox::{Outbox, OutboxError};
pub use resolver::{DnsLookup, SystemLookup};
pub use settle::DeliveryCounts;
