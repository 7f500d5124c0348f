//! The agents that `from:` means: the one with this id, else those whose display name has these words.

use std::collections::HashSet;

use countersign_core::asker::run_agent;
use countersign_core::search::{SearchQuery, SearchTerm, words};

use crate::error::StoreError;
use crate::exec::{Exec, Param};
use crate::ops::agent::names;

/// The maximum number of agents searched by name.
const MAX_NAMED_AGENTS: i64 = 10_000;

/// Agents that are found by name. Their id alone says nothing to people.
#[derive(Debug, Default)]
pub struct NamedSenders {
    ids: HashSet<String>,
    /// The name that a strategy gives its agent; the id of such an agent also has the run.
    in_runs: String,
}

impl NamedSenders {
    /// Returns `None` if the query names no agent, or one by its id.
    pub async fn of<X: Exec>(x: &mut X, query: &SearchQuery) -> Result<Option<Self>, StoreError> {
        const SENT: &str = "SELECT 1 FROM message m WHERE m.agent_id = ?1 LIMIT 1";
        let Some(wanted) = &query.agent else { return Ok(None) };
        if x.row(SENT, &[Param::from(wanted)]).await?.is_some() {
            return Ok(None);
        }
        let terms: Vec<SearchTerm> = words(wanted).map(SearchTerm::start).collect();
        let named = names::named(x, MAX_NAMED_AGENTS).await?.into_iter();
        let is_wanted = |name: &str| {
            let has = |term: &SearchTerm| words(name).any(|word| term.matches(&word));
            !terms.is_empty() && terms.iter().all(has)
        };
        Ok(Some(Self {
            ids: named.filter(|(_, name)| is_wanted(name)).map(|(id, _)| id).collect(),
            in_runs: wanted.clone(),
        }))
    }

    pub fn includes(&self, agent_id: &str) -> bool {
        self.ids.contains(agent_id) || run_agent(agent_id).is_some_and(|(name, _)| name == self.in_runs)
    }
}
