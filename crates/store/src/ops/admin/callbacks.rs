//! Hosts that an agent may be called back on. The agent or an owner registers one; only an owner approves it.

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::CallbackHost;
use crate::ops::message::audit;
use crate::ops::row_lock;

pub const PENDING: &str = "pending";
pub const APPROVED: &str = "approved";

/// How many hosts of one agent may wait for approval.
pub const MAX_PENDING_HOSTS: i64 = 20;

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

/// Why a host was not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostRefusal {
    NoAgent,
    /// The agent has `MAX_PENDING_HOSTS` waiting for approval.
    TooManyPending,
}

/// Registers or approves a host. Registering a known host again changes nothing, and keeps an approval.
pub struct PutHost {
    pub agent_id: String,
    pub host: String,
    pub approve: bool,
    pub actor: String,
}

impl Op for PutHost {
    type Out = Result<CallbackHost, HostRefusal>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Self::Out, StoreError> {
        const KNOWN: &str =
            "SELECT agent_id, host, state, created_at FROM callback_host WHERE agent_id = ?1 AND host = ?2";
        const COUNT_PENDING: &str = "SELECT COUNT(*) FROM callback_host WHERE agent_id = ?1 AND state = 'pending'";
        const PUT: &str = "INSERT INTO callback_host (agent_id, host, state, created_at) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (agent_id, host) DO UPDATE SET state = excluded.state \
             RETURNING agent_id, host, state, created_at";
        // The lock also makes the count exact under concurrent registrations.
        if !row_lock::agent(x, &self.agent_id).await? {
            return Ok(Err(HostRefusal::NoAgent));
        }
        if !self.approve {
            if let Some(mut known) = x.row(KNOWN, &[(&self.agent_id).into(), (&self.host).into()]).await? {
                return host_row(&mut known).map(Ok);
            }
            let pending = x.row(COUNT_PENDING, &[(&self.agent_id).into()]).await?;
            if pending.map_or(Ok(0), |mut row| row.int(0))? >= MAX_PENDING_HOSTS {
                return Ok(Err(HostRefusal::TooManyPending));
            }
        }
        let state = if self.approve { APPROVED } else { PENDING };
        let params = [(&self.agent_id).into(), (&self.host).into(), state.into(), now.into()];
        let event = if self.approve {
            "callback.approved"
        } else {
            "callback.registered"
        };
        let subject = format!("agent:{}", self.agent_id);
        let missing = || StoreError::Corrupt("the host that was just stored is missing".to_owned());
        let stored = host_row(&mut x.row(PUT, &params).await?.ok_or_else(missing)?)?;
        audit::append_operation(x, &subject, &self.actor, event, now).await?;
        Ok(Ok(stored))
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
