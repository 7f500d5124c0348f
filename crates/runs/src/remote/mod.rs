//! Runs of other nodes: which node owns a run, and read-only replicas for followers here.

pub mod commands;
pub mod ownership;
pub mod replica;
pub mod replicas;
pub mod replies;
