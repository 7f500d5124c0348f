//! What the inbox does, key by key and event by event.

mod deciding;
mod listing;
mod scene;
mod together;

pub use scene::Scene;
