//! The identity of the asking agent.

use std::collections::BTreeMap;

use serde::Serialize;
use uuid::Uuid;

/// The agent as the hub and people see it. The credential is bound to `agent_id`; `run_id` is only a label and grants
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// The id of the agent at the hub.
    #[serde(rename = "id")]
    pub agent_id: String,
    /// Tells the runs of this agent apart.
    pub run_id: String,
    /// `github-actions`, `cli`, `cloud`, `desktop`, `openclaw` or `other`.
    pub runtime: String,
    /// The project that the agent works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Free labels, such as the branch.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl Identity {
    /// An identity with a fresh run id and runtime `cli`.
    pub fn new(agent_id: impl Into<String>) -> Self {
        Self {
            agent_id: agent_id.into(),
            run_id: Uuid::new_v4().to_string(),
            runtime: "cli".to_owned(),
            project: None,
            labels: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_identity_gets_a_fresh_run_id() {
        let first = Identity::new("deploybot");
        let second = Identity::new("deploybot");
        assert_eq!(first.agent_id, second.agent_id);
        assert_ne!(first.run_id, second.run_id);
    }

    #[test]
    fn unset_fields_are_not_serialized() {
        let wire = serde_json::to_value(Identity::new("deploybot")).unwrap();
        let keys: Vec<&str> = wire.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["id", "run_id", "runtime"]);
    }
}
