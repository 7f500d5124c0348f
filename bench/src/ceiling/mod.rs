//! The ceiling: the hub's stack with nothing in it.
//!
//! It parses, commits durably and replies, and it can hold a long-poll. It has no identity, no rules, no audit trail:
//! the difference between the hub and the ceiling is the cost of the hub's own work.

mod serve;
mod socket;
mod store;
mod waiters;

pub use serve::run;

#[cfg(test)]
mod tests;
