//! The protocol of runs and the strategy files.

#![cfg(test)]

mod bounds;
mod examples;
mod faults;
mod frames;
mod hostile;
mod messages;
mod other_views;
mod strategies;
