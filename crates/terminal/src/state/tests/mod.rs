//! The inbox, key by key and event by event.

mod batch;
mod deciding;
mod listing;
mod scene;
mod terminals;
mod together;
mod undo;

pub use scene::Scene;
