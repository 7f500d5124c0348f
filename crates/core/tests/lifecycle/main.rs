//! The lifecycle of a message: the guarantees of `decide`.

mod affordance;
mod expiry;
mod hold;
mod order;
mod race;
mod scene;
mod sequences;
