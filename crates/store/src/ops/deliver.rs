//! The outbox: deliveries are claimed for an attempt and settled with its result.

use std::collections::BTreeSet;
use std::time::Duration;

use countersign_core::State;
use countersign_core::delivery::DeliveryState;
use countersign_core::message::Callback;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::{admin, rows};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row, Value};
use crate::model::{Claim, Delivery, PushContext, Settlement, SignatureAlg};

/// Each one signs every push.
const MAX_SIGNING_KEYS: usize = 4;

/// Claims due deliveries of one host. A claim is a lease: unsettled, it becomes due again when the lease expires, or
/// earlier if its node is removed. A removed node claims nothing.
pub struct ClaimDue {
    pub node: String,
    pub host: String,
    pub limit: i64,
    pub lease: Duration,
}

impl Op for ClaimDue {
    type Out = Vec<Claim>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<Claim>, StoreError> {
        let until = now.plus(self.lease);
        let params = [
            until.into(),
            (&self.host).into(),
            now.into(),
            self.limit.into(),
            (&self.node).into(),
        ];
        let claim = |row: &mut Row| {
            Ok(Claim {
                message_id: rows::message_id(row, 0)?,
                agent_id: row.text(1)?,
                attempts: u32::try_from(row.int(2)?).unwrap_or(u32::MAX),
                created_at: row.instant(3)?,
                node: self.node.clone(),
                until,
            })
        };
        rows::readable(x.rows(X::DIALECT.claim_due, &params).await?, "delivery", claim)
    }
}

/// Releases a node's claims on a host that the node does not know of, because the outcome of its claim request was
/// lost. The deliveries named in `in_flight` stay claimed.
pub struct ReleaseClaims {
    pub node: String,
    pub host: String,
    pub in_flight: Vec<MessageId>,
}

impl Op for ReleaseClaims {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        const CLAIMED: &str = "SELECT message_id FROM delivery WHERE claimed_by = ?1 AND host = ?2 ORDER BY message_id";
        const RELEASE: &str =
            "UPDATE delivery SET due_at = ?2, claimed_by = NULL WHERE message_id = ?1 AND claimed_by = ?3";
        for mut row in x.rows(CLAIMED, &[(&self.node).into(), (&self.host).into()]).await? {
            let id = row.text(0)?;
            if !self.in_flight.iter().any(|claimed| claimed.as_str() == id) {
                x.exec(RELEASE, &[(&id).into(), now.into(), (&self.node).into()])
                    .await?;
            }
        }
        Ok(())
    }
}

/// Makes deliveries due at once whose next attempt, or the end of whose claim, lies further ahead than any can: the clock
/// has been set back since. Returns their hosts.
pub struct ResetDistantDue {
    pub max_ahead: Duration,
}

impl Op for ResetDistantDue {
    type Out = Vec<String>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<String>, StoreError> {
        const RESET: &str = "UPDATE delivery SET due_at = ?1, claimed_by = NULL \
             WHERE track = 'pending' AND due_at > ?2 RETURNING host";
        let reset = x.rows(RESET, &[now.into(), now.plus(self.max_ahead).into()]).await?;
        let hosts: Result<BTreeSet<String>, StoreError> = reset.into_iter().map(|mut row| row.text(0)).collect();
        Ok(hosts?.into_iter().collect())
    }
}

/// A loose index scan over the hosts with pending deliveries: its cost grows with the hosts, not with the deliveries.
macro_rules! hosts {
    ($which:literal) => {
        concat!(
            "WITH RECURSIVE found (host) AS (SELECT min(host) FROM delivery WHERE track = 'pending' \
             UNION ALL SELECT (SELECT min(d.host) FROM delivery d WHERE d.track = 'pending' AND d.host > found.host) \
             FROM found WHERE found.host IS NOT NULL) SELECT host FROM found WHERE ",
            $which
        )
    };
}

/// The hosts with pending deliveries, due or not.
pub struct PendingHosts;

impl Op for PendingHosts {
    type Out = Vec<String>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<String>, StoreError> {
        const SELECT: &str = hosts!("host IS NOT NULL");
        x.rows(SELECT, &[])
            .await?
            .into_iter()
            .map(|mut row| row.text(0))
            .collect()
    }
}

/// The hosts with deliveries that are due.
pub struct DueHosts;

impl Op for DueHosts {
    type Out = Vec<String>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<String>, StoreError> {
        const SELECT: &str = hosts!(
            "EXISTS (SELECT 1 FROM delivery d WHERE d.track = 'pending' AND d.host = found.host AND d.due_at <= ?1)"
        );
        x.rows(SELECT, &[now.into()])
            .await?
            .into_iter()
            .map(|mut row| row.text(0))
            .collect()
    }
}

pub struct NextDue {
    pub host: String,
}

impl Op for NextDue {
    type Out = Option<Timestamp>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        const SELECT: &str =
            "SELECT due_at FROM delivery WHERE track = 'pending' AND host = ?1 ORDER BY due_at LIMIT 1";
        x.row(SELECT, &[(&self.host).into()])
            .await?
            .map(|mut row| row.instant(0))
            .transpose()
    }
}

pub struct LoadPushContext(pub MessageId);

impl Op for LoadPushContext {
    type Out = Option<PushContext>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<PushContext>, StoreError> {
        const SELECT: &str = rows::select_audited!(
            ", m.purged_at, g.signature_alg",
            "LEFT JOIN agent g ON g.id = m.agent_id ",
            "WHERE m.id = ?1"
        );
        const PURGED_AT: usize = rows::AUDITED;
        const SIGNATURE_ALG: usize = rows::AUDITED + 1;
        let id = self.0.as_str();
        let found = x.row(SELECT, &[id.into()]).await?;
        let Some(mut row) = found.filter(|row| row.0.get(PURGED_AT) == Some(&Value::Null)) else {
            return Ok(None);
        };
        let view = rows::agent_view(&mut row)?;
        let callback = row
            .opt_text(rows::CALLBACK)?
            .map(|text| serde_json::from_str::<Callback>(&text));
        let callback = callback
            .transpose()
            .map_err(|error| StoreError::from(error).in_message(id))?;
        let signature_alg = row.opt_text(SIGNATURE_ALG)?.and_then(|text| SignatureAlg::parse(&text));
        // Without the agent there is no key to sign with.
        let (State::Resolved(resolution), Some((callback, signature_alg))) =
            (view.state.clone(), callback.zip(signature_alg))
        else {
            return Ok(None);
        };
        let secret = match &callback.auth {
            Some(auth) => admin::secrets::value(x, &view.agent_id, &auth.reference).await?,
            None => None,
        };
        Ok(Some(PushContext {
            signing_keys: signing_keys(x, &view.agent_id, now).await?,
            host_approved: admin::callbacks::is_approved(x, &view.agent_id, &callback.host).await?,
            view,
            resolution,
            callback,
            signature_alg,
            secret,
        }))
    }
}

/// The valid keys, the current one first. Of many unconfirmed rotations the oldest key stays, because the agent may still
/// have that one.
async fn signing_keys<X: Exec>(x: &mut X, agent_id: &str, now: Timestamp) -> Result<Vec<String>, StoreError> {
    const SELECT: &str = "SELECT key FROM signing_key WHERE agent_id = ?1 AND (retires_at IS NULL OR retires_at >= ?2) \
         ORDER BY CASE WHEN retires_at IS NULL THEN 0 ELSE 1 END, created_at DESC";
    let rows = x.rows(SELECT, &[agent_id.into(), now.into()]).await?;
    let keys: Result<Vec<String>, StoreError> = rows.into_iter().map(|mut row| row.text(0)).collect();
    let mut keys = keys?;
    if keys.len() > MAX_SIGNING_KEYS {
        keys.drain(MAX_SIGNING_KEYS - 1..keys.len() - 1);
    }
    Ok(keys)
}

/// Records an attempt and its result. A success always counts, even after the claim was lost; a failure counts only
/// while the claim is held. Returns whether it counted.
#[derive(Clone)]
pub struct Settle {
    pub claim: Claim,
    pub settlement: Settlement,
}

impl Op for Settle {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const SETTLE: &str = "UPDATE delivery SET track = ?1, attempts = attempts + 1, due_at = ?2, claimed_by = NULL, \
             delivered_at = ?3, last_error = ?4 WHERE message_id = ?5 AND track = 'pending' \
             AND (?1 = 'delivered' OR (claimed_by = ?6 AND due_at = ?7))";
        let (state, due_at, delivered_at, reason) = match &self.settlement {
            Settlement::Delivered => (DeliveryState::Delivered, now, Some(now), None),
            Settlement::Failed { reason } => (DeliveryState::Failed, now, None, Some(reason)),
            Settlement::Retry { at, reason } => (DeliveryState::Pending, *at, None, Some(reason)),
        };
        let Claim {
            message_id,
            node,
            until,
            ..
        } = &self.claim;
        let params = [
            state.as_str().into(),
            due_at.into(),
            delivered_at.into(),
            reason.into(),
            message_id.as_str().into(),
            node.into(),
            (*until).into(),
        ];
        Ok(x.exec(SETTLE, &params).await? == 1)
    }
}

/// The deliveries in one state, or in all; then failed ones come first, because they need a person.
pub struct Deliveries {
    pub state: Option<DeliveryState>,
    pub limit: i64,
}

impl Op for Deliveries {
    type Out = Vec<Delivery>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<Delivery>, StoreError> {
        const SELECT: &str = "SELECT message_id, agent_id, host, track, attempts, created_at, due_at, delivered_at, \
             last_error FROM delivery WHERE track = ?1 ORDER BY created_at DESC LIMIT ?2";
        let states = match self.state {
            Some(state) => vec![state],
            None => vec![DeliveryState::Failed, DeliveryState::Pending, DeliveryState::Delivered],
        };
        let mut found = Vec::new();
        for state in states {
            let of_state = x.rows(SELECT, &[state.as_str().into(), self.limit.into()]).await?;
            found.extend(rows::readable(of_state, "delivery", |row| rows::delivery(row, 0))?);
        }
        found.truncate(usize::try_from(self.limit).unwrap_or(0));
        Ok(found)
    }
}

/// Retries a delivery at a person's request. A failed one starts over with all its attempts; a pending one becomes due
/// at once. Returns the host, or `None` if there is nothing left to deliver.
pub struct RetryDelivery {
    pub message_id: MessageId,
    pub actor: String,
}

impl Op for RetryDelivery {
    type Out = Option<String>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<String>, StoreError> {
        const RESTART: &str = "UPDATE delivery SET track = 'pending', attempts = 0, created_at = ?1, due_at = ?1, \
             claimed_by = NULL, last_error = NULL WHERE message_id = ?2 AND track = 'failed' RETURNING host";
        const SOONER: &str = "UPDATE delivery SET due_at = ?1 WHERE message_id = ?2 AND track = 'pending' \
             AND claimed_by IS NULL AND due_at > ?1 RETURNING host";
        const PENDING: &str = "SELECT host FROM delivery WHERE message_id = ?1 AND track <> 'delivered'";
        let id = self.message_id.as_str();
        for retry in [RESTART, SOONER] {
            if let Some(mut row) = x.row(retry, &[now.into(), id.into()]).await? {
                let subject = format!("delivery:{id}");
                super::message::audit::append_operation(x, &subject, &self.actor, "delivery.retried", now).await?;
                return row.text(0).map(Some);
            }
        }
        x.row(PENDING, &[id.into()])
            .await?
            .map(|mut row| row.text(0))
            .transpose()
    }
}
