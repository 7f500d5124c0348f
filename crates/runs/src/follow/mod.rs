//! Followers of a run: clients, the replay buffer, broadcasts, the asks that are still open, and their answers.

pub mod broadcast;
pub mod client;
pub mod conversation;
pub mod list;
pub mod pending;
pub mod subscribe;
pub mod subscription;
pub mod view;
