//! What becomes of a message: one function decides, and these are its promises.

mod affordance;
mod expiry;
mod order;
mod race;
mod scene;
mod sequences;
