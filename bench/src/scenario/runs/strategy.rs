use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use crate::process::Scratch;

/// The events of one round of an echo step, and the additional events of every run.
pub const EVENTS_PER_ROUND: usize = 4;
pub const EVENTS_PER_RUN: usize = 2;

/// A strategy file on disk, removed with its handle.
pub struct StrategyFile {
    pub path: PathBuf,
    _scratch: Scratch,
}

impl StrategyFile {
    /// A cycle in which a person and an agent take turns.
    pub fn talk(root: &Path, rounds: usize) -> Result<Self> {
        let agents = json!({ "user": { "type": "user" }, "assistant": { "type": "echo" } });
        Self::cycle(
            root,
            agents,
            json!([{ "agent": "user" }, { "agent": "assistant" }]),
            rounds,
        )
    }

    /// A cycle of one agent that needs no person.
    pub fn echoes(root: &Path, rounds: usize) -> Result<Self> {
        Self::cycle(
            root,
            json!({ "worker": { "type": "echo" } }),
            json!([{ "agent": "worker" }]),
            rounds,
        )
    }

    fn cycle(root: &Path, agents: Value, steps: Value, rounds: usize) -> Result<Self> {
        let flow = json!({ "name": "Main", "type": "cycle", "cycles": rounds, "steps": steps });
        let strategy = json!({ "name": "Bench", "version": "1.0", "agents": agents, "flow": flow });
        let scratch = Scratch::new(root, "strategy")?;
        let path = scratch.path().join("strategy.json");
        fs::write(&path, strategy.to_string())?;
        Ok(Self {
            path,
            _scratch: scratch,
        })
    }
}
