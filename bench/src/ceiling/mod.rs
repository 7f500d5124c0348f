//! The ceiling: the hub's stack with nothing in it.
//!
//! It parses, commits durably and replies, and it can keep a caller waiting. No identity, no rules, no audit: whatever
//! the hub is slower than this is the price of what the hub does.

mod serve;
mod socket;
mod store;
mod waiters;

pub use serve::run;

#[cfg(test)]
mod tests;
