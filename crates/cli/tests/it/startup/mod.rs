//! The start of a hub: files, greeting, refused settings, TLS.

mod files;
mod greeting;
mod refusals;
pub mod tls;
