//! Appends to the audit trail and reads it.

use countersign_core::audit::AuditRecord;
use countersign_core::{Actor, Digest};
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Param};
use crate::model::AuditRow;

pub const TABLE: &str = "audit";
pub const APPEND: &str = "INSERT INTO audit (subject, n, prev_seq, at, actor, event, content_sha256, resolution_sha256, hash) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// The parameters of `APPEND`. `hash` is the entry's own; the caller has it already, because an open message stores it
/// too.
pub fn append_params<'a>(n: i64, prev_seq: Option<i64>, entry: &'a AuditRecord, hash: &'a Digest) -> [Param<'a>; 9] {
    [
        (&entry.subject).into(),
        n.into(),
        prev_seq.into(),
        entry.at.into(),
        (&entry.actor).into(),
        (&entry.event).into(),
        entry.content_sha256.as_ref().into(),
        entry.resolution_sha256.as_ref().into(),
        hash.into(),
    ]
}

/// Appends an operation on an agent, a person or the hub.
pub async fn append_operation<X: Exec>(
    x: &mut X,
    subject: &str,
    actor: &str,
    event: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    const LAST: &str =
        "SELECT a.seq, a.n, a.hash FROM audit_head h LEFT JOIN audit a ON a.seq = h.audit_seq WHERE h.subject = ?1";
    const MOVE_HEAD: &str = "INSERT INTO audit_head (subject, audit_seq) VALUES (?1, ?2) \
         ON CONFLICT (subject) DO UPDATE SET audit_seq = ?2 WHERE audit_head.audit_seq = ?3";
    let (prev_seq, n, prev_hash) = match x.row(LAST, &[subject.into()]).await? {
        Some(mut row) => {
            let seq = row
                .opt_int(0)?
                .ok_or_else(|| broken(subject, "its last entry is missing"))?;
            (Some(seq), row.int(1)? + 1, Some(row.digest(2)?))
        }
        None => (None, 1, None),
    };
    let entry = AuditRecord {
        subject: subject.to_owned(),
        at: now,
        actor: actor.to_owned(),
        event: event.to_owned(),
        content_sha256: None,
        resolution_sha256: None,
        prev_hash,
    };
    let seq = x
        .insert(APPEND, &append_params(n, prev_seq, &entry, &entry.hash()))
        .await?;
    // Guarded by the previous head: two entries with the same predecessor would fork the chain.
    match x
        .exec(MOVE_HEAD, &[subject.into(), seq.into(), prev_seq.into()])
        .await?
    {
        0 => Err(StoreError::Conflict),
        _ => Ok(()),
    }
}

/// Appends an operation on a person's account.
pub async fn append_about_person<X: Exec>(
    x: &mut X,
    name: &str,
    actor: &str,
    event: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    append_operation(x, Actor::human(name).as_str(), actor, event, now).await
}

/// Whether an agent or a person of this name was ever added: the audit trail outlives the account.
pub async fn has_trail<X: Exec>(x: &mut X, subject: &Actor) -> Result<bool, StoreError> {
    const FIND: &str = "SELECT audit_seq FROM audit_head WHERE subject = ?1";
    Ok(x.row(FIND, &[subject.as_str().into()]).await?.is_some())
}

/// The time of the newest entry.
pub async fn newest_at<X: Exec>(x: &mut X) -> Result<Option<Timestamp>, StoreError> {
    let newest = x.row("SELECT at FROM audit ORDER BY seq DESC LIMIT 1", &[]).await?;
    newest.map(|mut row| row.instant(0)).transpose()
}

fn broken(subject: &str, why: impl Into<String>) -> StoreError {
    StoreError::AuditBroken {
        subject: subject.to_owned(),
        why: why.into(),
    }
}

/// The latest entries of one subject, oldest first.
pub struct Trail {
    pub subject: String,
}

const MAX_TRAIL_ENTRIES: usize = 1000;

impl Op for Trail {
    type Out = Vec<AuditRow>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<AuditRow>, StoreError> {
        const HEAD: &str = "SELECT audit_seq FROM message WHERE id = ?1 \
             UNION ALL SELECT audit_seq FROM audit_head WHERE subject = ?1";
        const ENTRY: &str = "SELECT prev_seq, n, at, actor, event, content_sha256, resolution_sha256, hash \
             FROM audit WHERE seq = ?1";
        let head = x.row(HEAD, &[(&self.subject).into()]).await?;
        let mut next = head.map(|mut row| row.int(0)).transpose()?;
        let mut entries: Vec<AuditRow> = Vec::new();
        while let Some(seq) = next.filter(|_| entries.len() < MAX_TRAIL_ENTRIES) {
            let missing = || match entries.last() {
                Some(later) => broken(&self.subject, format!("entry {} is missing", later.n - 1)),
                None => broken(&self.subject, "its last entry is missing"),
            };
            let mut row = x.row(ENTRY, &[seq.into()]).await?.ok_or_else(missing)?;
            next = row.opt_int(0)?;
            let entry = AuditRecord {
                subject: self.subject.clone(),
                at: row.instant(2)?,
                actor: row.text(3)?,
                event: row.text(4)?,
                content_sha256: row.opt_digest(5)?,
                resolution_sha256: row.opt_digest(6)?,
                prev_hash: None,
            };
            let n = row.int(1)?;
            let hash = row.digest(7)?;
            // The trail is read backwards, so the last entry found follows this one.
            if let Some(later) = entries.last_mut() {
                later.entry.prev_hash = Some(hash);
            }
            entries.push(AuditRow { n, entry, hash });
        }
        entries.reverse();
        Ok(entries)
    }
}
