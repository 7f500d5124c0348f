//! What people see. Never in it: `state`, `client_ref`, callbacks, keys.

mod item;
mod list;

pub use list::{history, list, show};
