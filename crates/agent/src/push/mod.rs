//! Receiving pushed answers: a function that verifies one, and a tower layer for a web service.
//!
//! The order at a receiver: verify, record the jti, begin the action, work, finish the action.

mod layer;
mod refusal;
mod verify;

pub use layer::ReceiverLayer;
pub use refusal::Refusal;
pub use verify::{Verified, Verifier, verify};

/// Larger than any push of a hub.
pub const MAX_PUSH_BYTES: usize = 1024 * 1024;
