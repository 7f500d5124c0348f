//! Copying a store between the engines: identical results, interruptions, and refusals.

mod both_ways;
mod cut;
mod full;
mod held;
mod refusals;
mod stage;
mod verified;
