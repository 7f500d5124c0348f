//! The inbox: everything people see of messages and runs. It never shows `state`, `client_ref`, callbacks or keys.

pub mod api;
mod asker;
mod cursor;
mod find;
mod item;
mod kind;
pub mod news;
mod presets;
mod runs;
mod shelf;
pub mod text;
pub mod web;
