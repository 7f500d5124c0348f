//! Administration by an owner: agents, their keys, callback hosts and secrets; people. Each change is audited.

pub mod agents;
pub mod callbacks;
pub mod keys;
pub mod people;
pub mod secrets;
