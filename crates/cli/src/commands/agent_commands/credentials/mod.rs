//! The agent's token and keys, and the session that uses them.

pub mod keys;
pub mod seal;
pub mod session;
pub mod stored_agent;
