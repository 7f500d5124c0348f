//! The A2H wire format: envelopes in, signed responses out, under both names of the protocol.

pub mod bounds;
pub mod capability;
pub mod envelope;
pub mod family;
mod fields;
mod part;
pub mod refused;
pub mod request;
pub mod seal;
pub mod signature;
mod words;

pub use capability::Capability;
pub use envelope::{Agent, Envelope, EnvelopeError, Kind, Priority, RUNTIMES, payload_hash};
pub use family::{Family, PushSigning, Version};
pub use refused::ApiError;
pub use request::{
    APPROVE, AskRequest, AuthScheme, CallbackAuth, CallbackMode, CallbackRequest, CheckItem, Choice, DENY, Mode,
    Permissions, TaskAction,
};
pub use seal::{SealBinding, SealForm, SealToken, SealedFor, TokenError};
pub use signature::{Response, SignatureError, SignatureHeader, SignedContext, payload_sha256};
pub use words::UnknownWord;
