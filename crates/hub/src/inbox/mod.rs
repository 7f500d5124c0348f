//! The inbox: everything people see of messages and runs. It never shows `state`, `client_ref`, callbacks or keys.

pub mod api;
pub mod cursor;
pub mod events;
pub mod find;
pub mod images;
pub mod item;
pub mod presets;
pub mod runs;
pub mod snooze;
