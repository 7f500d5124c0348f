//! Copying a store between the engines: identical results, interruptions, and refusals.

mod both_ways;
mod fixtures;
mod full_store;
mod interrupted;
mod locking;
mod refusals;
mod verified;
