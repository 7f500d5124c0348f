//! Commands of an owner: agents, callbacks, deliveries, keys, people, secrets.

pub mod agent;
pub mod callback;
pub mod delivery;
pub mod key;
pub mod person;
pub mod secret;
