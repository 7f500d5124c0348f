//! Secrets that a callback may name. They are read only here, never from the process environment.

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::SecretName;
use crate::ops::message::audit;
use crate::ops::row_lock;

pub async fn value<X: Exec>(x: &mut X, agent_id: &str, name: &str) -> Result<Option<String>, StoreError> {
    const SELECT: &str = "SELECT value FROM secret WHERE agent_id = ?1 AND name = ?2";
    x.row(SELECT, &[agent_id.into(), name.into()])
        .await?
        .map(|mut row| row.text(0))
        .transpose()
}

pub struct HasSecret {
    pub agent_id: String,
    pub name: String,
}

impl Op for HasSecret {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<bool, StoreError> {
        Ok(value(x, &self.agent_id, &self.name).await?.is_some())
    }
}

/// Returns whether the agent exists.
pub struct PutSecret {
    pub agent_id: String,
    pub name: String,
    pub value: String,
    pub actor: String,
}

impl Op for PutSecret {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const PUT: &str = "INSERT INTO secret (agent_id, name, value, created_at) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (agent_id, name) DO UPDATE SET value = excluded.value, created_at = excluded.created_at";
        if !row_lock::agent(x, &self.agent_id).await? {
            return Ok(false);
        }
        let params = [
            (&self.agent_id).into(),
            (&self.name).into(),
            (&self.value).into(),
            now.into(),
        ];
        x.exec(PUT, &params).await?;
        audit::append_operation(x, &format!("agent:{}", self.agent_id), &self.actor, "secret.set", now).await?;
        Ok(true)
    }
}

pub struct RemoveSecret {
    pub agent_id: String,
    pub name: String,
    pub actor: String,
}

impl Op for RemoveSecret {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const REMOVE: &str = "DELETE FROM secret WHERE agent_id = ?1 AND name = ?2";
        let removed = x.exec(REMOVE, &[(&self.agent_id).into(), (&self.name).into()]).await? == 1;
        if removed {
            let subject = format!("agent:{}", self.agent_id);
            audit::append_operation(x, &subject, &self.actor, "secret.removed", now).await?;
        }
        Ok(removed)
    }
}

pub struct ListSecrets {
    pub agent_id: Option<String>,
}

impl Op for ListSecrets {
    type Out = Vec<SecretName>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<SecretName>, StoreError> {
        const SELECT: &str = "SELECT agent_id, name, created_at FROM secret WHERE ?1 = '' OR agent_id = ?1 \
             ORDER BY agent_id, name";
        let agent_id = self.agent_id.as_deref().unwrap_or_default();
        let mut names = Vec::new();
        for mut row in x.rows(SELECT, &[agent_id.into()]).await? {
            names.push(SecretName {
                agent_id: row.text(0)?,
                name: row.text(1)?,
                created_at: row.instant(2)?,
            });
        }
        Ok(names)
    }
}
