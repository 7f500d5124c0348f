//! The other nodes on the same store: what is published to them, and the dedup window for what they publish.
//!
//! A signal between nodes is a hint and may be lost. The store is the truth, and `node::reconcile` reads it periodically to
//! make up for lost signals. On an unshared store all of this is inactive.

mod publish;
mod seen;
mod signal;

use std::time::Duration;

pub use publish::Cluster;
pub use signal::{LiveChange, Signal};

/// From the last renewal of a node until others take over its work.
pub const LEASE: Duration = Duration::from_secs(4);
