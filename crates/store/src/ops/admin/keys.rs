//! Keys that sign pushes: one set per agent, and the hub's own Ed25519 keys.

use std::time::Duration;

use countersign_core::Actor;
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::HubKey;
use crate::ops::message::audit;
use crate::ops::row_lock;

pub async fn insert_signing_key<X: Exec>(
    x: &mut X,
    agent_id: &str,
    key: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    const INSERT: &str = "INSERT INTO signing_key (agent_id, key, created_at) VALUES (?1, ?2, ?3)";
    x.exec(INSERT, &[agent_id.into(), key.into(), now.into()])
        .await
        .map(drop)
}

pub async fn retire_signing_keys<X: Exec>(
    x: &mut X,
    agent_id: &str,
    retires_at: Timestamp,
    now: Timestamp,
) -> Result<(), StoreError> {
    const FORGET: &str = "DELETE FROM signing_key WHERE agent_id = ?1 AND retires_at < ?2";
    const RETIRE: &str = "UPDATE signing_key SET retires_at = ?1 WHERE agent_id = ?2 \
         AND (retires_at IS NULL OR retires_at > ?1)";
    x.exec(FORGET, &[agent_id.into(), now.into()]).await?;
    x.exec(RETIRE, &[retires_at.into(), agent_id.into()]).await.map(drop)
}

/// Retires the agent's signing keys that are older than the token of a call: a call with a new token confirms its
/// rotation. The old tokens stay valid until the overlap ends.
pub struct ConfirmRotation {
    pub agent_id: String,
    pub token_hash: [u8; 32],
}

impl Op for ConfirmRotation {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        const RETIRE: &str = "DELETE FROM signing_key WHERE agent_id = ?1 AND retires_at IS NOT NULL \
             AND created_at < (SELECT created_at FROM credential WHERE hash = ?2)";
        // Serializes with rotations and with confirmations on other nodes, so that the event is recorded once.
        if !row_lock::agent(x, &self.agent_id).await? {
            return Ok(());
        }
        let params = [(&self.agent_id).into(), self.token_hash.as_slice().into()];
        if x.exec(RETIRE, &params).await? == 0 {
            return Ok(());
        }
        let actor = Actor::agent(&self.agent_id);
        audit::append_operation(x, actor.as_str(), actor.as_str(), "agent.rotation_confirmed", now).await
    }
}

/// The valid hub keys, the current one first.
pub struct HubKeys;

impl Op for HubKeys {
    type Out = Vec<HubKey>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<HubKey>, StoreError> {
        const SELECT: &str = "SELECT kid, seed, retires_at FROM hub_key WHERE retires_at IS NULL OR retires_at >= ?1 \
             ORDER BY CASE WHEN retires_at IS NULL THEN 0 ELSE 1 END, created_at DESC LIMIT 8";
        let mut keys = Vec::new();
        for mut row in x.rows(SELECT, &[now.into()]).await? {
            keys.push(HubKey {
                kid: row.text(0)?,
                seed: row.blob(1)?,
                retires_at: row.opt_instant(2)?,
            });
        }
        Ok(keys)
    }
}

/// Adds a hub key; the earlier ones stay published until the overlap ends.
pub struct AddHubKey {
    pub kid: String,
    pub seed: Vec<u8>,
    pub overlap: Duration,
    pub actor: String,
}

impl Op for AddHubKey {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        const RETIRE: &str = "UPDATE hub_key SET retires_at = ?1 WHERE retires_at IS NULL OR retires_at > ?1";
        const INSERT: &str = "INSERT INTO hub_key (kid, seed, created_at) VALUES (?1, ?2, ?3)";
        // The audit entry comes first: it serializes concurrent additions, so the later one sees this key and retires
        // it.
        audit::append_operation(x, "hub", &self.actor, "hub.key_added", now).await?;
        x.exec(RETIRE, &[now.plus(self.overlap).into()]).await?;
        x.exec(INSERT, &[(&self.kid).into(), self.seed.as_slice().into(), now.into()])
            .await
            .map(drop)
    }
}
