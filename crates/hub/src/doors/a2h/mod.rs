//! The A2H door over HTTP, for both protocol families, A2H and MA2H.

mod addressing;
mod callback;
pub mod cancel;
pub mod discovery;
pub mod pull;
mod receipt_body;
pub mod resolve;
pub mod submit;
