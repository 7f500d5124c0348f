//! The outbox: obligations claimed for an attempt, settled by its end.

use std::time::Duration;

use countersign_core::State;
use countersign_core::delivery::Track;
use countersign_core::message::Callback;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::{admin, pull, rows};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};
use crate::model::{Claim, Delivery, Found, Parcel, Settlement, SignatureAlg};

/// Takes due obligations of one host. A claim is a lease: if nobody settles it, it falls due again by itself.
pub struct ClaimDue {
    pub host: String,
    pub limit: i64,
    pub lease: Duration,
}

impl Op for ClaimDue {
    type Out = Vec<Claim>;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<Claim>, StoreError> {
        const CLAIM: &str = "UPDATE delivery SET due_at = ?1, claimed = 1 WHERE message_id IN \
             (SELECT message_id FROM delivery WHERE track = 'pending' AND host = ?2 AND due_at <= ?3 \
             ORDER BY due_at LIMIT ?4) AND track = 'pending' AND due_at <= ?3 \
             RETURNING message_id, agent_id, attempts, created_at";
        const MORE: &str = "SELECT 1 FROM delivery WHERE track = 'pending' AND host = ?1 AND due_at <= ?2 LIMIT 1";
        let params = [now.plus(self.lease).into(), (&self.host).into(), now.into(), self.limit.into()];
        let mut claims = Vec::new();
        for mut row in x.rows(CLAIM, &params).await? {
            claims.push(Claim {
                message_id: rows::message_id(&mut row, 0)?,
                agent_id: row.text(1)?,
                attempts: u32::try_from(row.int(2)?).unwrap_or(u32::MAX),
                created_at: row.instant(3)?,
            });
        }
        // Fewer than were due: a rival took what the inner SELECT had found, and the outer condition kept it from both.
        let full = i64::try_from(claims.len()).is_ok_and(|count| count >= self.limit);
        if !full && x.row(MORE, &[(&self.host).into(), now.into()]).await?.is_some() {
            return Err(StoreError::Raced);
        }
        Ok(claims)
    }
}

/// After a crash: whatever this process's predecessor had under way is due at once.
pub struct ReleaseClaims;

impl Op for ReleaseClaims {
    type Out = u64;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<u64, StoreError> {
        const RELEASE: &str = "UPDATE delivery SET due_at = ?1, claimed = 0 WHERE track = 'pending' AND claimed = 1";
        x.exec(RELEASE, &[now.into()]).await
    }
}

pub struct PendingHosts;

impl Op for PendingHosts {
    type Out = Vec<String>;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<String>, StoreError> {
        const SELECT: &str = "SELECT DISTINCT host FROM delivery WHERE track = 'pending'";
        x.rows(SELECT, &[]).await?.into_iter().map(|mut row| row.text(0)).collect()
    }
}

pub struct NextDue {
    pub host: String,
}

impl Op for NextDue {
    type Out = Option<Timestamp>;
    const MODE: Mode = Mode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        const SELECT: &str =
            "SELECT due_at FROM delivery WHERE track = 'pending' AND host = ?1 ORDER BY due_at LIMIT 1";
        x.row(SELECT, &[(&self.host).into()]).await?.map(|mut row| row.instant(0)).transpose()
    }
}

pub struct LoadParcel(pub MessageId);

impl Op for LoadParcel {
    type Out = Option<Parcel>;
    const MODE: Mode = Mode::Read;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<Parcel>, StoreError> {
        let Some(Found::Live(pulled)) = pull::pulled(x, &self.0).await? else { return Ok(None) };
        let State::Resolved(resolution) = pulled.state.clone() else { return Ok(None) };
        let Some(callback) = callback(x, &self.0).await? else { return Ok(None) };
        let Some(signature_alg) = signature_alg(x, &pulled.agent_id).await? else { return Ok(None) };
        let signing_keys = admin::keys::signing_keys(x, &pulled.agent_id, now).await?;
        let secret = match &callback.auth {
            Some(auth) => admin::secrets::value(x, &pulled.agent_id, &auth.reference).await?,
            None => None,
        };
        let host_approved = admin::callbacks::is_approved(x, &pulled.agent_id, &callback.host).await?;
        Ok(Some(Parcel { pulled, resolution, callback, signature_alg, signing_keys, secret, host_approved }))
    }
}

async fn callback<X: Exec>(x: &mut X, id: &MessageId) -> Result<Option<Callback>, StoreError> {
    const SELECT: &str = "SELECT callback FROM message WHERE id = ?1";
    let Some(mut row) = x.row(SELECT, &[id.as_str().into()]).await? else { return Ok(None) };
    Ok(row.opt_text(0)?.as_deref().map(serde_json::from_str).transpose()?)
}

async fn signature_alg<X: Exec>(x: &mut X, agent_id: &str) -> Result<Option<SignatureAlg>, StoreError> {
    const SELECT: &str = "SELECT signature_alg FROM agent WHERE id = ?1";
    let Some(mut row) = x.row(SELECT, &[agent_id.into()]).await? else { return Ok(None) };
    Ok(SignatureAlg::parse(&row.text(0)?))
}

/// Counts an attempt and says what becomes of the obligation.
pub struct Settle {
    pub message_id: MessageId,
    pub settlement: Settlement,
}

impl Op for Settle {
    type Out = ();
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        const SETTLE: &str = "UPDATE delivery SET track = ?1, attempts = attempts + 1, due_at = ?2, claimed = 0, \
             delivered_at = ?3, last_error = ?4 WHERE message_id = ?5 AND track = 'pending'";
        let (track, due_at, delivered_at, reason) = match &self.settlement {
            Settlement::Delivered => (Track::Delivered, now, Some(now), None),
            Settlement::Failed { reason } => (Track::Failed, now, None, Some(reason)),
            Settlement::Retry { at, reason } => (Track::Pending, *at, None, Some(reason)),
        };
        let params =
            [track.as_str().into(), due_at.into(), delivered_at.into(), reason.into(), self.message_id.as_str().into()];
        x.exec(SETTLE, &params).await.map(drop)
    }
}

/// Of one track, or of all when none is named: then what failed comes first, because it waits for a person.
pub struct Deliveries {
    pub track: Option<Track>,
    pub limit: i64,
}

impl Op for Deliveries {
    type Out = Vec<Delivery>;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<Delivery>, StoreError> {
        const SELECT: &str = "SELECT message_id, agent_id, host, track, attempts, created_at, due_at, delivered_at, \
             last_error FROM delivery WHERE track = ?1 ORDER BY created_at DESC LIMIT ?2";
        let tracks = match self.track {
            Some(track) => vec![track],
            None => vec![Track::Failed, Track::Pending, Track::Delivered],
        };
        let mut found = Vec::new();
        for track in tracks {
            for mut row in x.rows(SELECT, &[track.as_str().into(), self.limit.into()]).await? {
                found.push(rows::delivery(&mut row, 0)?);
            }
        }
        found.truncate(usize::try_from(self.limit).unwrap_or(0));
        Ok(found)
    }
}

/// A person asked for another attempt. What was given up starts anew, with all of its attempts and its time; what waits
/// for its next attempt is due at once. Says to which host, or that nothing is owed.
pub struct RetryDelivery {
    pub message_id: MessageId,
    pub actor: String,
}

impl Op for RetryDelivery {
    type Out = Option<String>;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<String>, StoreError> {
        const ANEW: &str = "UPDATE delivery SET track = 'pending', attempts = 0, created_at = ?1, due_at = ?1, \
             claimed = 0, last_error = NULL WHERE message_id = ?2 AND track = 'failed' RETURNING host";
        const SOONER: &str = "UPDATE delivery SET due_at = ?1 WHERE message_id = ?2 AND track = 'pending' \
             AND claimed = 0 AND due_at > ?1 RETURNING host";
        const PENDING: &str = "SELECT host FROM delivery WHERE message_id = ?1 AND track <> 'delivered'";
        let id = self.message_id.as_str();
        for retry in [ANEW, SOONER] {
            if let Some(mut row) = x.row(retry, &[now.into(), id.into()]).await? {
                let subject = format!("delivery:{id}");
                super::audit::append_operation(x, &subject, &self.actor, "delivery.retried", now).await?;
                return row.text(0).map(Some);
            }
        }
        x.row(PENDING, &[id.into()]).await?.map(|mut row| row.text(0)).transpose()
    }
}
