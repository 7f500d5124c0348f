//! What an operator sees of a hub: request ids, the log, metrics and spans.

mod dashboard;
mod requests;
#[cfg(feature = "otel")]
mod spans;
