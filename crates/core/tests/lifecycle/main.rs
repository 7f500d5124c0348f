//! The lifecycle of a message: the guarantees of `decide`.

#![cfg(test)]

mod affordance;
mod expiry;
mod hold;
mod order;
mod race;
mod scene;
mod sequences;
