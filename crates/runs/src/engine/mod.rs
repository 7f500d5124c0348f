//! A run at work: one task per run, the agents it calls, and the checkpoint it continues from.

pub mod agents;
pub mod checkpoint;
pub mod commands;
pub mod plan;
pub mod task;
