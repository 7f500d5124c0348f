//! Names of agents where only their ids are known.

use std::collections::HashMap;

use countersign_core::asker::run_agent;
use countersign_hub::Hub;
use countersign_store::StoreError;
use countersign_store::ops::agent::AgentNames;

use crate::language::say;

/// The names of some agents.
#[derive(Default)]
pub struct KnownNames(HashMap<String, String>);

impl KnownNames {
    /// An empty id is of no agent.
    pub async fn of<'i>(hub: &Hub, ids: impl IntoIterator<Item = &'i str>) -> Result<Self, StoreError> {
        let ids = ids.into_iter().filter(|id| !id.is_empty()).map(str::to_owned).collect();
        Ok(Self(hub.store.run(AgentNames { ids }).await?))
    }

    pub fn name(&self, agent_id: &str) -> String {
        self.0.get(agent_id).cloned().unwrap_or_else(|| agent_label(agent_id))
    }
}

/// An agent of a run is called after its strategy and the run, any other one by its id.
pub fn agent_label(agent_id: &str) -> String {
    match run_agent(agent_id) {
        Some((agent, run)) => say!("{agent} in run {run}", agent = agent, run = run),
        None => agent_id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::Language;

    use super::*;
    use crate::layout::look::in_language;

    #[test]
    fn an_agent_of_a_run_is_labelled_by_its_name_even_with_a_hash_in_it() {
        assert_eq!(agent_label("user#run-1"), "user in run run-1");
        assert_eq!(agent_label("a#b#run-1"), "a#b in run run-1");
        assert_eq!(agent_label("deploybot"), "deploybot");
        let german = in_language(Language::German, || agent_label("user#run-1"));
        assert_eq!(german, "user in Lauf run-1");
    }
}
