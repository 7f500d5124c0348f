//! The wire of runs and the files of strategies, as a stranger meets them.

mod bounds;
mod examples;
mod faults;
mod frames;
mod hostile;
mod messages;
mod strategies;
