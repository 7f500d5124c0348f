//! Runs of other nodes: which node owns a run, and read-only replicas for followers here.

pub mod ownership;
pub mod replica;
pub mod replicas;
