//! Requests and replies: bounded bodies, parameters, files in both directions.

pub mod attachments;
pub mod body;
pub mod callers;
pub mod chunked_body;
pub mod client_addr;
pub mod event_stream;
pub mod extract;
pub mod host;
pub mod long_poll;
pub mod route;
