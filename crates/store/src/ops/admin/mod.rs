//! Administration by an owner: agents, their keys, callback hosts and secrets; people. Each change is audited.

pub mod agents;
pub mod callbacks;
pub mod data_loss;
pub mod keys;
pub mod people;
pub mod secrets;

/// The result of adding an agent or a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddOutcome {
    Added,
    /// An account of this name exists.
    Exists,
    /// The name belonged to a removed account, and the request does not say `reuse`.
    UsedBefore,
}
