//! Names of askers as people read them.

use crate::message::{Message, Source};

/// The run that asks, and the agent in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOrigin<'m> {
    pub run_id: &'m str,
    pub agent_name: &'m str,
    pub strategy: &'m str,
}

impl<'m> RunOrigin<'m> {
    /// Returns `None` for a message that came through another door.
    pub fn of(source: &'m Source) -> Option<Self> {
        match source {
            Source::Runs(run) => Some(Self {
                run_id: &run.run_id,
                agent_name: &run.agent_name,
                strategy: &run.strategy,
            }),
            Source::A2h(_) | Source::Hap(_) => None,
        }
    }

    pub fn href(&self) -> String {
        run_href(self.run_id)
    }
}

/// A run id needs no escaping in a URL.
pub fn run_href(run_id: &str) -> String {
    format!("/runs/{run_id}")
}

/// The name of the asking agent: `agent_name` is its display name. An agent of a run is called as its strategy calls it,
/// because its id also contains the run id, which tells people nothing.
pub fn asker_name<'m>(message: &'m Message, agent_name: &'m str) -> &'m str {
    RunOrigin::of(&message.source).map_or(agent_name, |run| run.agent_name)
}

/// The name and the run of an agent of a run. Only those have a `#` in their id, and a run id never has one.
pub fn run_agent(agent_id: &str) -> Option<(&str, &str)> {
    agent_id.rsplit_once('#')
}
