//! Bounds on what callers can hold at once: memory, sockets, connections.

pub mod connection_limit;
pub mod memory_budget;
pub mod socket_budget;
