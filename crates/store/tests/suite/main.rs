//! One suite of behaviours that every engine runs, and the tests of each engine's own guarantees.

#![cfg(test)]

mod behaviours;
mod copy;
mod cues;
mod model;
mod nodes;
mod outbox;
mod postgres;
mod runs;
mod scene;
mod sequences;
mod sqlite;
mod version_five;
mod version_four;
mod version_one;
mod version_three;
mod version_two;
