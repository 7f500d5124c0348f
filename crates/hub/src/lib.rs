//! The hub: doors for agents, the inbox for people, push delivery, and timers.

mod address;
pub mod admin;
pub mod app;
pub mod auth;
pub mod background;
pub mod cluster;
pub mod config;
pub mod cue_waiters;
pub mod delivery;
pub mod doors;
mod health;
pub mod http;
pub mod inbox;
pub mod limits;
pub mod live;
pub mod messages;
mod metrics;
mod openapi;
pub mod problem;
pub mod runs;
pub mod serve;
#[cfg(test)]
mod testing;
pub mod waiters;

pub use app::{Hub, Pages};
