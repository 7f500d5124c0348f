//! The A2H door over HTTP, for both protocol families, A2H and MA2H.

pub mod cancel;
pub mod discovery;
pub mod pull;
pub mod resolve;
pub mod submit;
