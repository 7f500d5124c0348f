//! The hub: doors for agents, the inbox for people, push delivery, and timers.

pub mod admin;
pub mod auth;
pub mod background;
pub mod cluster;
pub mod config;
pub mod cue_waiters;
pub mod delivery;
pub mod doors;
pub mod http;
pub mod inbox;
pub mod limits;
pub mod live;
pub mod messages;
mod metrics;
pub mod node;
pub mod problem;
pub mod process;
pub mod routes;
pub mod serve;
pub mod state;
#[cfg(test)]
mod testing;

pub use routes::Pages;
pub use state::Hub;
