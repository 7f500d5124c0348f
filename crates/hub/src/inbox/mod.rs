//! What people see. Never in it: `state`, `client_ref`, callbacks, keys.

pub mod api;
mod asker;
mod cursor;
mod find;
mod item;
mod kind;
pub mod news;
pub mod outcome;
mod presets;
mod runs;
mod shelf;
pub mod text;
pub mod web;
