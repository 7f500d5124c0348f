//! Agents, with their callback hosts and secrets, and the keys that the hub signs with.

use serde::{Deserialize, Serialize};

use crate::api::HubTime;

/// GET /v1/admin/agents.
#[derive(Debug, Serialize, Deserialize)]
pub struct AgentsList<A = ListedAgent> {
    pub agents: Vec<A>,
}

/// An agent with its counts.
#[derive(Debug, Serialize, Deserialize)]
pub struct ListedAgent {
    pub agent_id: String,
    /// The display name; an earlier hub sends none.
    #[serde(default)]
    pub name: String,
    pub signature_alg: String,
    pub created_at: HubTime,
    pub tokens: u64,
    pub signing_keys: u64,
    pub open: u64,
    /// The agent's last call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<HubTime>,
}

/// The secrets of an agent that was added or rotated, shown once.
#[derive(Serialize, Deserialize)]
pub struct IssuedCredentials {
    pub agent_id: String,
    pub token: String,
    pub signing_key: String,
    /// Only of an agent that was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature_alg: Option<String>,
    /// The end of the credentials before a rotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_valid_until: Option<HubTime>,
}

/// An agent with its display name, after it was renamed.
#[derive(Debug, Serialize, Deserialize)]
pub struct RenamedAgent {
    pub agent_id: String,
    pub name: String,
}

/// An agent that was removed.
#[derive(Debug, Serialize, Deserialize)]
pub struct AgentRef {
    pub agent_id: String,
}

/// GET /v1/admin/callbacks.
#[derive(Debug, Serialize, Deserialize)]
pub struct CallbacksList<C = ListedCallback> {
    pub callbacks: Vec<C>,
}

/// A host that answers may be pushed to. One that was removed has no state.
#[derive(Debug, Serialize, Deserialize)]
pub struct ListedCallback {
    pub agent_id: String,
    pub host: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<HubTime>,
}

/// GET /v1/admin/secrets.
#[derive(Debug, Serialize, Deserialize)]
pub struct SecretsList<S = ListedSecret> {
    pub secrets: Vec<S>,
}

/// A secret, without its value.
#[derive(Debug, Serialize, Deserialize)]
pub struct ListedSecret {
    pub agent_id: String,
    pub name: String,
    pub created_at: HubTime,
}

/// A secret that was stored or removed.
#[derive(Debug, Serialize, Deserialize)]
pub struct AgentSecret {
    pub agent_id: String,
    pub name: String,
}

/// The keys after a rotation.
#[derive(Debug, Serialize, Deserialize)]
pub struct KeysList {
    pub keys: Vec<PublicKey>,
}

/// A public key of the hub.
#[derive(Debug, Serialize, Deserialize)]
pub struct PublicKey {
    pub kid: String,
    pub alg: String,
    pub public_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retires_at: Option<HubTime>,
}
