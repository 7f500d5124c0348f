//! Moving a store between the engines: what is the same afterwards, what a cut leaves behind, and what is refused.

mod both_ways;
mod cut;
mod full;
mod held;
mod refusals;
mod stage;
mod verified;
