//! Appending to the trail and reading it.

use countersign_core::Digest;
use countersign_core::audit::Entry;
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};
use crate::model::AuditRow;

/// `hash` is the entry's own; the caller has it already, because the subject's row keeps it too.
pub async fn append<X: Exec>(x: &mut X, n: i64, entry: &Entry, hash: &Digest) -> Result<(), StoreError> {
    const INSERT: &str = "INSERT INTO audit (subject, n, at, actor, event, content_sha256, resolution_sha256, hash) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let params = [
        (&entry.subject).into(),
        n.into(),
        entry.at.into(),
        (&entry.actor).into(),
        (&entry.event).into(),
        entry.content_sha256.as_ref().into(),
        entry.resolution_sha256.as_ref().into(),
        hash.into(),
    ];
    x.exec(INSERT, &params).await.map(drop)
}

/// What an operator did to an agent, a person or the hub.
pub async fn append_operation<X: Exec>(
    x: &mut X,
    subject: &str,
    actor: &str,
    event: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    const LAST: &str = "SELECT n, hash FROM audit WHERE subject = ?1 ORDER BY n DESC LIMIT 1";
    let (n, prev_hash) = match x.row(LAST, &[subject.into()]).await? {
        Some(mut row) => (row.int(0)? + 1, Some(row.digest(1)?)),
        None => (1, None),
    };
    let entry = Entry {
        subject: subject.to_owned(),
        at: now,
        actor: actor.to_owned(),
        event: event.to_owned(),
        content_sha256: None,
        resolution_sha256: None,
        prev_hash,
    };
    append(x, n, &entry, &entry.hash()).await
}

pub struct Trail {
    pub subject: String,
}

impl Op for Trail {
    type Out = Vec<AuditRow>;
    const MODE: Mode = Mode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<AuditRow>, StoreError> {
        const SELECT: &str = "SELECT n, at, actor, event, content_sha256, resolution_sha256, hash \
             FROM audit WHERE subject = ?1 ORDER BY n LIMIT 1000";
        let mut entries: Vec<AuditRow> = Vec::new();
        for mut row in x.rows(SELECT, &[(&self.subject).into()]).await? {
            let entry = Entry {
                subject: self.subject.clone(),
                at: row.instant(1)?,
                actor: row.text(2)?,
                event: row.text(3)?,
                content_sha256: row.opt_digest(4)?,
                resolution_sha256: row.opt_digest(5)?,
                prev_hash: entries.last().map(|before| before.hash),
            };
            entries.push(AuditRow { n: row.int(0)?, entry, hash: row.digest(6)? });
        }
        Ok(entries)
    }
}
