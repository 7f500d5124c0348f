//! The inbox in a browser without scripts.

mod agents;
mod batch;
mod client;
mod decide;
mod events;
mod form;
mod history;
mod host;
pub mod image;
mod item;
mod language;
mod list;
mod neighbours;
mod not_found;
mod notices;
mod proxy;
mod pulse;
pub mod runs;
pub mod runs_asks;
mod search;
mod settings;
mod sign_in;
mod snooze;
mod terminals;
mod terminals_files;
mod triage;
mod weight;

pub use client::{Page, WebClient, new_link};
pub use sign_in::{age_sessions, sign_in};
