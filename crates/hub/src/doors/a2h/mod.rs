//! A2H over HTTP, under both of its names.

mod callback;
pub mod cancel;
pub mod discovery;
pub mod pull;
mod receipted;
pub mod resolve;
pub mod respond;
pub mod submit;
