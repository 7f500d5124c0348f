//! Who asks, in the words of people.

use countersign_core::Message;
use countersign_core::message::{Door, Source};

/// The run that asks, and which of its agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOrigin<'m> {
    pub run_id: &'m str,
    pub agent_name: &'m str,
    pub strategy: &'m str,
}

impl<'m> RunOrigin<'m> {
    /// Nothing for what came through another door.
    pub fn of(source: &'m Source) -> Option<Self> {
        let id = |name: &str| source.ids.get(name).map(String::as_str).unwrap_or_default();
        match source.door {
            Door::Runs => Some(Self {
                run_id: id("runId"),
                agent_name: id("agentName"),
                strategy: id("strategy"),
            }),
            Door::A2h | Door::Hap => None,
        }
    }

    pub fn href(&self) -> String {
        run_href(self.run_id)
    }
}

/// An id of a run needs no escaping in an address.
pub fn run_href(run_id: &str) -> String {
    format!("/runs/{run_id}")
}

/// The id of a run's agent holds the id of its run as well, which says nothing to people.
pub fn asker_name(message: &Message) -> &str {
    RunOrigin::of(&message.source).map_or(&message.content.agent.id, |run| run.agent_name)
}

/// Of the id of an agent alone: no agent but one of a run has a `#` in it, and no id of a run has one.
pub fn agent_label(agent_id: &str) -> String {
    match agent_id.rsplit_once('#') {
        Some((agent_name, run_id)) => format!("{agent_name} in run {run_id}"),
        None => agent_id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_agent_is_labelled_by_its_name_even_with_a_hash_in_it() {
        assert_eq!(agent_label("user#run-1"), "user in run run-1");
        assert_eq!(agent_label("a#b#run-1"), "a#b in run run-1");
        assert_eq!(agent_label("deploybot"), "deploybot");
    }
}
