//! Prepare, start, steer, stop and restore a run.

pub mod file;
pub mod prepare;
pub mod restore;
pub mod start;
pub mod steer;
pub mod stop;
