//! One message: submit, resolve, read, expire, purge.

pub mod apply;
pub mod audit;
pub mod audit_report;
pub mod hold;
pub mod pull;
pub mod quota;
pub mod retention_clock;
pub mod snooze;
pub mod submit;
pub mod sweep;
pub mod verify;
