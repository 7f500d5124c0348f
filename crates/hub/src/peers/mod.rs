//! Other hubs on the same store: what they are told, what is heard of them, and what is taken over when one is gone.
//!
//! A word that is said between hubs is a hint. It may be lost; the store is the truth, and a look at it now and then is the
//! net under every hint. On a store of its own a hub has no peers, and all of this is silent.

mod hear;
mod known;
mod lease;
mod letters;
mod net;
mod post;
mod say;
mod signal;

pub use hear::run as hear;
pub use lease::{LEASE, enter, leave, run as lease};
pub use letters::{CommandFailure, CommandReply};
pub use net::run as net;
pub use say::Cluster;
pub use signal::Signal;
