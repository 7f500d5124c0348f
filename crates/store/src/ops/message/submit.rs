//! Submits a new message, once per (agent, idempotency key).

use countersign_core::Digest;
use countersign_core::audit::AuditRecord;
use countersign_core::message::{Status, inbox_rank};
use countersign_protocol::a2h::Kind;
use countersign_protocol::time::Timestamp;

use super::audit;
use crate::error::StoreError;
use crate::exec::{AccessMode, BatchStatement, Exec, Op, Param, Row, batch};
use crate::model::{DuplicateOf, Incoming, NewMessage, Submission, json_text};
use crate::ops::rows;

impl Incoming<'_> {
    /// The row and its first audit record, alike for every door.
    pub fn into_row(self) -> Result<NewMessage, StoreError> {
        let content = self.content.map(json_text).transpose()?;
        // The text that people decide on; every later audit record hashes the same one.
        let decided_on = content.as_deref().unwrap_or(&self.wire);
        Ok(NewMessage {
            audit: AuditRecord {
                subject: self.id.to_string(),
                at: self.recorded_at,
                actor: format!("agent:{}", self.agent_id),
                event: self.event.to_owned(),
                content_sha256: Some(Digest::of(decided_on.as_bytes())),
                resolution_sha256: None,
                prev_hash: None,
            },
            id: self.id,
            agent_id: self.agent_id,
            kind: self.kind,
            rank: inbox_rank(self.priority),
            received_at: self.received_at,
            expires_at: self.expires_at,
            idempotency_key: self.idempotency_key,
            source: json_text(self.source)?,
            callback: self.callback.map(json_text).transpose()?,
            content,
            wire: self.wire,
        })
    }
}

pub struct Submit {
    pub message: NewMessage,
    pub max_open: i64,
}

impl Op for Submit {
    type Out = Submission;
    const MODE: AccessMode = AccessMode::Write;
    const IS_TIMED: bool = false;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Submission, StoreError> {
        let message = &self.message;
        if let Some(key) = &message.idempotency_key
            && let Some(earlier) = find(x, &message.agent_id, key).await?
        {
            return Ok(Submission::Duplicate(earlier));
        }
        if message.kind != Kind::Notify && !reserve_slot(x, &message.agent_id, self.max_open).await? {
            // The same key may have taken the last slot while this submit waited for the agent's row.
            return Ok(match &message.idempotency_key {
                Some(key) => find(x, &message.agent_id, key)
                    .await?
                    .map_or(Submission::TooManyOpen, Submission::Duplicate),
                None => Submission::TooManyOpen,
            });
        }
        create(x, message, &message.source).await?;
        Ok(Submission::Created)
    }
}

pub(in crate::ops) async fn reserve_slot<X: Exec>(
    x: &mut X,
    agent_id: &str,
    max_open: i64,
) -> Result<bool, StoreError> {
    const TAKE: &str = "UPDATE agent SET open = open + 1 WHERE id = ?1 AND open < ?2";
    Ok(x.exec(TAKE, &[agent_id.into(), max_open.into()]).await? == 1)
}

/// Inserts the message, its text and its audit entry, after its slot was reserved. Returns its `seq`.
pub(in crate::ops) async fn create<X: Exec>(x: &mut X, message: &NewMessage, source: &str) -> Result<i64, StoreError> {
    const INSERT: &str = "INSERT INTO message (id, agent_id, status, rev, rank, received_at, expires_at, resolved_at, \
         idempotency_key, audit_seq, audit_hash, source, callback) \
         VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    const INSERT_TEXT: &str = "INSERT INTO message_text (seq, content, wire) VALUES (?1, ?2, ?3)";
    const TABLE: &str = "message";
    let hash = message.audit.hash();
    let is_notify = message.kind == Kind::Notify;
    let status = if is_notify { Status::Delivered } else { Status::Open };
    let params: [Param<'_>; 12] = [
        message.id.as_str().into(),
        (&message.agent_id).into(),
        status.as_str().into(),
        message.rank.into(),
        message.received_at.into(),
        message.expires_at.into(),
        is_notify.then_some(message.received_at).into(),
        message.idempotency_key.as_ref().into(),
        Param::InsertedSeq(audit::TABLE),
        (&hash).into(),
        source.into(),
        message.callback.as_ref().into(),
    ];
    let text = [
        Param::InsertedSeq(TABLE),
        message.content.as_ref().into(),
        (&message.wire).into(),
    ];
    let append = audit::append_params(1, None, &message.audit, &hash);
    let steps = [
        BatchStatement::insert(audit::TABLE, audit::APPEND, &append),
        BatchStatement::insert(TABLE, INSERT, &params),
        BatchStatement::change(INSERT_TEXT, &text),
    ];
    let [_, seq, _] = batch(x, &steps).await?;
    Ok(seq)
}

pub(in crate::ops) async fn find<X: Exec>(
    x: &mut X,
    agent_id: &str,
    key: &str,
) -> Result<Option<DuplicateOf>, StoreError> {
    const FIND: &str = "SELECT m.id, m.status, t.wire FROM message m LEFT JOIN message_text t ON t.seq = m.seq \
         WHERE m.agent_id = ?1 AND m.idempotency_key = ?2";
    let found = x.row(FIND, &[agent_id.into(), key.into()]).await?;
    found.map(duplicate).transpose()
}

fn duplicate(mut row: Row) -> Result<DuplicateOf, StoreError> {
    let id = row.text(0)?;
    let mut read = || {
        Ok(DuplicateOf {
            id: rows::parse_message_id(&id)?,
            status: rows::status(&row.text(1)?)?,
            wire: row.text(2)?,
        })
    };
    read().map_err(|error: StoreError| error.in_message(&id))
}

/// Looks up an idempotency key without writing: a request that fails validation may be a replay of a valid one.
pub struct FindDuplicate {
    pub agent_id: String,
    pub key: String,
}

impl Op for FindDuplicate {
    type Out = Option<DuplicateOf>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<DuplicateOf>, StoreError> {
        find(x, &self.agent_id, &self.key).await
    }
}
