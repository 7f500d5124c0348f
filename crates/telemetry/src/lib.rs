//! What an operator sees of a hub: request ids, spans, the access log and metrics. It knows no messages: the crates above
//! hand in names and numbers.

pub mod metrics;
pub mod request;
