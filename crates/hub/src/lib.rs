//! The hub: doors for agents, the inbox for people, push delivery, and timers.

mod address;
pub mod admin;
pub mod app;
pub mod attachments;
pub mod auth;
pub mod body;
pub mod config;
mod decisions;
pub mod delivery;
pub mod doors;
pub mod extract;
mod health;
pub mod inbox;
mod indexer;
mod intake;
mod metrics;
mod openapi;
mod outgoing;
mod peers;
pub mod presence;
pub mod problem;
mod receipts;
pub mod room;
pub mod runs;
pub mod seats;
pub mod serve;
pub mod terminals;
#[cfg(test)]
mod testing;
mod timers;
pub mod wake;

pub use app::{Hub, Pages};
