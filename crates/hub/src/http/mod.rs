//! Requests and replies: bounded bodies, parameters, files in both directions.

pub mod attachments;
pub mod body;
pub mod chunked_body;
pub mod extract;
