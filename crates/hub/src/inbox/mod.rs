//! What people see. Never in it: `state`, `client_ref`, callbacks, keys.

pub mod api;
mod item;
pub mod news;
mod presets;
pub mod text;
pub mod web;
