//! The hub: doors for agents, the inbox for people, push delivery, and timers.

pub mod admin;
pub mod app;
mod attachments;
pub mod auth;
mod body;
pub mod config;
mod decisions;
pub mod delivery;
pub mod doors;
mod extract;
mod health;
pub mod inbox;
mod indexer;
mod intake;
mod metrics;
mod openapi;
mod outgoing;
mod peers;
mod presence;
mod problem;
mod receipts;
mod room;
pub mod runs;
mod seats;
pub mod serve;
mod terminals;
#[cfg(test)]
mod testing;
mod timers;
mod wake;

pub use app::Hub;
