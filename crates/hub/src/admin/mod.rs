//! The owner's API: agents, people, callback hosts, secrets, deliveries, keys.

pub mod agents;
pub mod callbacks;
pub mod deliveries;
pub mod health;
pub mod keys;
pub mod links;
pub mod metrics;
pub mod openapi;
pub mod people;
pub mod secrets;
pub mod status;
pub mod tokens;

use serde::Deserialize;

use crate::problem::Problem;

/// Restricts a list to one agent; without it the list has all agents.
#[derive(Deserialize)]
pub struct AgentFilter {
    agent_id: Option<String>,
}

pub fn no_agent(id: &str) -> Problem {
    Problem::NotFound {
        message: format!("no agent {id}; add it with `countersign agent add {id}`"),
    }
}
