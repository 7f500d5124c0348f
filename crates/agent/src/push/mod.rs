//! Receiving pushed answers: a plain function that checks one, and a layer that does so for a web service.
//!
//! The order at a receiver: verify, see the jti, begin the act, work, finish it.

mod layer;
mod refusal;
mod verify;

pub use layer::ReceiverLayer;
pub use refusal::Refusal;
pub use verify::{Verified, Verifier, verify};

/// More than any answer of a hub.
pub const MAX_PUSH_BYTES: usize = 1024 * 1024;
