//! Followers of a run: clients, the replay buffer, broadcasts, and the asks that are still open.

pub mod broadcast;
pub mod client;
pub mod conversation;
pub mod list;
pub mod pending;
pub mod replay;
pub mod subscribe;
pub mod subscription;
pub mod view;
