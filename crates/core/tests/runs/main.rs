//! The rules of runs: the next action, the asks, and the messages people see.

#![cfg(test)]

mod asks;
mod broadcast;
mod cycle;
mod failure;
mod random;
mod scene;
mod sequence;
mod stored;
