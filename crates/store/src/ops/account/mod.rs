//! Credentials and settings of people and agents, and the limits on using them.

pub mod ceremony;
pub mod credential;
pub mod passkey;
pub mod password;
pub mod rate_limit;
pub mod setting;
