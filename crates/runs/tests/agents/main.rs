//! The agents, tested with a model endpoint on a real socket and with real programs.

#![cfg(test)]

mod command;
mod context;
mod endpoint;
mod errors;
mod group;
mod llm;
mod permission;
mod questions;
mod retry;
mod stage;
