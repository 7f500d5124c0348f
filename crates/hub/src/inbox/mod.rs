//! What people see. Never in it: `state`, `client_ref`, callbacks, keys.

pub mod api;
mod item;
pub mod news;
pub mod text;
pub mod web;
