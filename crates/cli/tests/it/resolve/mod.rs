//! Resolving a message: permissions, values and outcomes.

mod access;
mod cancel;
mod expiry;
mod outcome;
mod value;
