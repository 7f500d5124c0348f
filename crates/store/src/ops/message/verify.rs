//! Checks the whole audit trail against itself and against the messages that it covers, in one snapshot.

use std::time::Instant;

use countersign_core::Digest;
use countersign_core::audit::AuditRecord;
use countersign_protocol::time::Timestamp;

use super::audit_report::{AuditCheckpoint, AuditFaultKind, AuditReport};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};
use crate::ops::rows;

/// The columns of `select_audited`, but of messages without a resolution too.
const SELECT_MESSAGES: &str = rows::select_messages!(
    ", a.subject, a.content_sha256, a.resolution_sha256, a.n, a.hash, m.audit_hash, m.purged_at",
    "LEFT JOIN audit a ON a.seq = m.audit_seq WHERE m.seq > ?1 ORDER BY m.seq LIMIT ?2"
);
const ENTRY_N: usize = rows::AUDITED;
const ENTRY_HASH: usize = rows::AUDITED + 1;
const HASH_WHILE_OPEN: usize = rows::AUDITED + 2;
const PURGED_AT: usize = rows::AUDITED + 3;

const ENTRY_BATCH: i64 = 1_000;
/// Smaller, because each message brings its text.
const MESSAGE_BATCH: i64 = 32;
/// Entries of no trail that are named at most.
const MAX_UNREACHABLE: i64 = 100;

#[derive(Debug, Clone, Copy, Default)]
pub struct VerifyAudit {
    /// An earlier state that the trail must continue.
    pub expected: Option<AuditCheckpoint>,
    /// When to stop, with an incomplete report.
    pub deadline: Option<Instant>,
}

impl Op for VerifyAudit {
    type Out = AuditReport;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<AuditReport, StoreError> {
        let mut check = AuditCheck {
            verify: *self,
            report: AuditReport::default(),
            on_trails: 0,
        };
        let is_settled = no_transaction_runs(x).await?;
        let state = check.entries(x).await?;
        check.messages(x).await?;
        check.other_trails(x).await?;
        check.report.is_complete = !self.is_over();
        if check.report.is_complete {
            check.report.checkpoint = is_settled.then_some(state);
            if u64::try_from(check.on_trails) != Ok(check.report.entries) {
                check.unreachable(x).await?;
            }
        }
        Ok(check.report)
    }
}

impl VerifyAudit {
    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// A running transaction may still commit an entry with a lower number than the last one.
async fn no_transaction_runs<X: Exec>(x: &mut X) -> Result<bool, StoreError> {
    match x.row(X::DIALECT.running_transactions, &[]).await? {
        Some(mut row) => Ok(row.int(0)? >= row.int(1)?),
        None => Ok(false),
    }
}

struct AuditCheck {
    verify: VerifyAudit,
    report: AuditReport,
    /// The entries of all trails, by the numbers of their last entries.
    on_trails: i64,
}

impl AuditCheck {
    /// Checks every entry against the one before it in its trail. Returns the state of the trail.
    async fn entries<X: Exec>(&mut self, x: &mut X) -> Result<AuditCheckpoint, StoreError> {
        const SELECT: &str = "SELECT a.seq, a.subject, a.n, a.prev_seq, a.at, a.actor, a.event, a.content_sha256, \
             a.resolution_sha256, a.hash, p.subject, p.n, p.hash FROM audit a LEFT JOIN audit p ON p.seq = a.prev_seq \
             WHERE a.seq > ?1 ORDER BY a.seq LIMIT ?2";
        let mut state = AuditCheckpoint::START;
        let mut expected = self.verify.expected;
        while !self.verify.is_over() {
            let rows = x.rows(SELECT, &[state.seq.into(), ENTRY_BATCH.into()]).await?;
            if rows.is_empty() {
                self.compare(expected, state);
                break;
            }
            for mut row in rows {
                let seq = row.int(0)?;
                if expected.is_some_and(|expected| expected.seq < seq) {
                    self.compare(expected.take(), state);
                }
                self.report.entries += 1;
                self.report.unused_numbers += seq.abs_diff(state.seq).saturating_sub(1);
                let subject = row.peek(1).unwrap_or_default().to_owned();
                let n = row.int(2).unwrap_or_default();
                // An entry that cannot be decoded was changed.
                let (hash, fault) = check_entry(&subject, n, &mut row)
                    .unwrap_or((AuditCheckpoint::START.digest, Some(AuditFaultKind::ChangedEntry)));
                state = state.with(seq, &hash);
                match fault {
                    Some(AuditFaultKind::MissingEntry) => {
                        self.report.add(&subject, Some(n - 1), AuditFaultKind::MissingEntry);
                    }
                    Some(kind) => self.report.add(&subject, Some(n), kind),
                    None => {}
                }
            }
        }
        Ok(state)
    }

    fn compare(&mut self, expected: Option<AuditCheckpoint>, state: AuditCheckpoint) {
        if expected.is_some_and(|expected| expected != state) {
            self.report.add("audit", None, AuditFaultKind::ChangedCheckpoint);
        }
    }

    /// Checks that every message has its trail, and is what the last entry of it says.
    async fn messages<X: Exec>(&mut self, x: &mut X) -> Result<(), StoreError> {
        let mut after = 0;
        while !self.verify.is_over() {
            let rows = x.rows(SELECT_MESSAGES, &[after.into(), MESSAGE_BATCH.into()]).await?;
            if rows.is_empty() {
                break;
            }
            for mut row in rows {
                after = row.int(rows::SEQ)?;
                self.report.messages += 1;
                self.message(&mut row)?;
            }
        }
        Ok(())
    }

    fn message(&mut self, row: &mut Row) -> Result<(), StoreError> {
        let id = row.peek(rows::ID).unwrap_or_default().to_owned();
        let n = row.opt_int(ENTRY_N).unwrap_or_default();
        self.on_trails += n.unwrap_or_default();
        let hash = row.opt_blob(ENTRY_HASH).unwrap_or_default();
        let hash_while_open = row.opt_blob(HASH_WHILE_OPEN).unwrap_or_default();
        let purged_at = row.opt_int(PURGED_AT);
        let is_purged = matches!(purged_at, Ok(Some(_)));
        if row.peek(rows::AUDIT_SUBJECT) != Some(id.as_str()) {
            self.report.add(&id, None, AuditFaultKind::MissingLastEntry);
        } else if hash_while_open.is_some() && hash_while_open != hash {
            self.report.add(&id, n, AuditFaultKind::ChangedEntry);
        } else if !is_purged {
            if !rows::has_recorded_content(row) {
                self.report.add(&id, n, AuditFaultKind::ChangedContent);
            }
            if !rows::has_recorded_resolution(row) {
                self.report.add(&id, n, AuditFaultKind::ChangedResolution);
            }
        }
        let is_damaged = purged_at.is_err() || row.int(rows::RANK).is_err();
        if is_damaged || (!is_purged && rows::message(row).is_err()) {
            self.report.add(&id, None, AuditFaultKind::UnreadableMessage);
        }
        Ok(())
    }

    /// The trails of agents, people, deliveries and the hub.
    async fn other_trails<X: Exec>(&mut self, x: &mut X) -> Result<(), StoreError> {
        const SELECT: &str = "SELECT h.subject, a.subject, a.n FROM audit_head h \
             LEFT JOIN audit a ON a.seq = h.audit_seq WHERE h.subject > ?1 ORDER BY h.subject LIMIT ?2";
        let mut after = String::new();
        while !self.verify.is_over() {
            let rows = x.rows(SELECT, &[(&after).into(), ENTRY_BATCH.into()]).await?;
            if rows.is_empty() {
                break;
            }
            for mut row in rows {
                after = row.text(0)?;
                self.report.other_trails += 1;
                self.on_trails += row.opt_int(2)?.unwrap_or_default();
                if row.peek(1) != Some(after.as_str()) {
                    self.report.add(&after, None, AuditFaultKind::MissingLastEntry);
                }
            }
        }
        Ok(())
    }

    /// Names entries that have no successor and are not the last of a trail. Neither side of the comparison has an
    /// index, so this runs only if the numbers of the trails do not add up.
    async fn unreachable<X: Exec>(&mut self, x: &mut X) -> Result<(), StoreError> {
        const SELECT: &str = "SELECT a.subject, a.n FROM audit a LEFT JOIN audit b ON b.prev_seq = a.seq \
             LEFT JOIN message m ON m.audit_seq = a.seq LEFT JOIN audit_head h ON h.audit_seq = a.seq \
             WHERE b.seq IS NULL AND m.seq IS NULL AND h.subject IS NULL ORDER BY a.seq LIMIT ?1";
        for mut row in x.rows(SELECT, &[MAX_UNREACHABLE.into()]).await? {
            let n = row.opt_int(1)?;
            let subject = row.peek(0).unwrap_or_default();
            self.report.add(subject, n, AuditFaultKind::UnreachableEntry);
        }
        Ok(())
    }
}

/// Returns the stored hash of an entry, and the fault of the entry if it has one.
fn check_entry(subject: &str, n: i64, row: &mut Row) -> Result<(Digest, Option<AuditFaultKind>), StoreError> {
    let hash = row.digest(9)?;
    let is_first = row.opt_int(3)?.is_none();
    let previous_subject = row.opt_text(10)?;
    let previous_n = row.opt_int(11)?.unwrap_or_default();
    let entry = AuditRecord {
        subject: subject.to_owned(),
        at: row.instant(4)?,
        actor: row.text(5)?,
        event: row.text(6)?,
        content_sha256: row.opt_digest(7)?,
        resolution_sha256: row.opt_digest(8)?,
        prev_hash: row.opt_digest(12)?,
    };
    let fault = if !is_first && previous_subject.is_none() {
        Some(AuditFaultKind::MissingEntry)
    } else if previous_n != n - 1
        || previous_subject.is_some_and(|previous| previous != subject)
        || entry.hash() != hash
    {
        Some(AuditFaultKind::ChangedEntry)
    } else {
        None
    };
    Ok((hash, fault))
}
