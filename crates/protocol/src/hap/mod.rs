//! HAP: what a coding agent in a terminal hands to `cueme`.

pub mod name;
pub mod payload;
pub mod tagblocks;

pub use payload::{Confirm, Field, Offer, Payload};
pub use tagblocks::{DecodeError, Envelope, EnvelopeError, Kind, decode};
