//! What an owner does: agents, their keys, callback hosts and secrets; people. Each act leaves an audit entry.

pub mod agents;
pub mod callbacks;
pub mod keys;
pub mod people;
pub mod secrets;
