//! HAP: the input format of `cueme`, used by coding agents in a terminal.

pub mod name;
pub mod payload;
pub mod tagblocks;

pub use payload::{Confirm, CueField, CueOffer, CuePayload};
pub use tagblocks::{CueEnvelope, CueEnvelopeError, CueKind, DecodeError, decode};
