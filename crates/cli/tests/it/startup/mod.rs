//! The start of a hub: files, lost data, greeting, refused settings, TLS.

mod data_loss;
mod files;
mod greeting;
mod lan;
mod refusals;
pub mod tls;
