//! HAP: what a coding agent in a terminal hands to `cueme`.

pub mod name;
pub mod payload;
pub mod tagblocks;

pub use payload::{Confirm, CueField, CueOffer, CuePayload};
pub use tagblocks::{CueEnvelope, CueEnvelopeError, CueKind, DecodeError, decode};
