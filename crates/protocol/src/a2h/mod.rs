//! The A2H wire format: envelopes in, signed responses out, under both names of the protocol.

pub mod api_error;
pub mod capability;
pub mod envelope;
pub mod family;
mod fields;
pub mod limits;
mod part;
pub mod request;
pub mod response;
pub mod seal;
pub mod signature;
pub mod wire_enum;

pub use api_error::ApiError;
pub use capability::Capability;
pub use envelope::{Agent, Envelope, EnvelopeError, EnvelopePayload, Kind, Priority, RUNTIMES, payload_hash};
pub use family::{Family, PushSigning, Version};
pub use request::{
    APPROVE, AskRequest, AuthScheme, CallbackAuth, CallbackMode, CallbackRequest, CheckItem, Choice, DENY, Mode,
    Permissions, Routing, TaskAction,
};
pub use response::{Response, ResponseAgent, ResponseBody};
pub use seal::{SealBinding, SealForm, SealToken, SealedFor, TokenError};
pub use signature::{SignatureError, SignatureHeader, SignedContext, payload_sha256};
pub use wire_enum::UnknownValue;
