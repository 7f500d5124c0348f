//! Hosts that an agent may be called back on. The agent or an owner registers one; only an owner approves it.

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::CallbackHost;
use crate::ops::message::audit;
use crate::ops::row_lock;

pub const PENDING: &str = "pending";
pub const APPROVED: &str = "approved";

/// A registered host without a port matches every port.
pub async fn is_approved<X: Exec>(x: &mut X, agent_id: &str, host: &str) -> Result<bool, StoreError> {
    const SELECT: &str =
        "SELECT 1 FROM callback_host WHERE agent_id = ?1 AND state = 'approved' AND (host = ?2 OR host = ?3)";
    let name = host.rsplit_once(':').map_or(host, |(name, _port)| name);
    Ok(x.row(SELECT, &[agent_id.into(), host.into(), name.into()])
        .await?
        .is_some())
}

pub struct IsApproved {
    pub agent_id: String,
    pub host: String,
}

impl Op for IsApproved {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<bool, StoreError> {
        is_approved(x, &self.agent_id, &self.host).await
    }
}

/// Registers or approves a host. Registering an approved host again keeps the approval. `None` if the agent does not
/// exist.
pub struct PutHost {
    pub agent_id: String,
    pub host: String,
    pub approve: bool,
    pub actor: String,
}

impl Op for PutHost {
    type Out = Option<CallbackHost>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<CallbackHost>, StoreError> {
        const PUT: &str = "INSERT INTO callback_host (agent_id, host, state, created_at) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (agent_id, host) DO UPDATE SET state = \
             CASE WHEN callback_host.state = 'approved' THEN 'approved' ELSE excluded.state END \
             RETURNING agent_id, host, state, created_at";
        if !row_lock::agent(x, &self.agent_id).await? {
            return Ok(None);
        }
        let state = if self.approve { APPROVED } else { PENDING };
        let params = [(&self.agent_id).into(), (&self.host).into(), state.into(), now.into()];
        let event = if self.approve {
            "callback.approved"
        } else {
            "callback.registered"
        };
        let subject = format!("agent:{}", self.agent_id);
        let stored = x
            .row(PUT, &params)
            .await?
            .map(|mut row| host_row(&mut row))
            .transpose()?;
        audit::append_operation(x, &subject, &self.actor, event, now).await?;
        Ok(stored)
    }
}

fn host_row(row: &mut crate::exec::Row) -> Result<CallbackHost, StoreError> {
    let agent_id = row.text(0)?;
    let host = row.text(1)?;
    Ok(CallbackHost {
        agent_id,
        host,
        state: row.text(2)?,
        created_at: row.instant(3)?,
    })
}

pub struct RemoveHost {
    pub agent_id: String,
    pub host: String,
    pub actor: String,
}

impl Op for RemoveHost {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const REMOVE: &str = "DELETE FROM callback_host WHERE agent_id = ?1 AND host = ?2";
        let removed = x.exec(REMOVE, &[(&self.agent_id).into(), (&self.host).into()]).await? == 1;
        if removed {
            let subject = format!("agent:{}", self.agent_id);
            audit::append_operation(x, &subject, &self.actor, "callback.removed", now).await?;
        }
        Ok(removed)
    }
}

/// The hosts of one agent, or of all agents.
pub struct ListHosts {
    pub agent_id: Option<String>,
}

impl Op for ListHosts {
    type Out = Vec<CallbackHost>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<CallbackHost>, StoreError> {
        const SELECT: &str = "SELECT agent_id, host, state, created_at FROM callback_host \
             WHERE ?1 = '' OR agent_id = ?1 ORDER BY agent_id, host";
        let agent_id = self.agent_id.as_deref().unwrap_or_default();
        x.rows(SELECT, &[agent_id.into()])
            .await?
            .iter_mut()
            .map(host_row)
            .collect()
    }
}
