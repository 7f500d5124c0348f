//! Public API tests of the receiving half: journal, seal, verification, layer.

#![cfg(test)]

mod any_bytes;
mod journal;
mod layer;
mod processes;
mod scratch;
mod seal;
mod signed;
mod verify;
