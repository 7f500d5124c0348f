//! load → decide → write: the only code path that changes a message.

use countersign_core::audit::AuditRecord;
use countersign_core::message::{Door, FileNote, Message, Resolution, State};
use countersign_core::vocabulary::Ending;
use countersign_core::{Digest, Rejection, decide};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::audit;
use super::quota::{self, ReleasedSlots};
use crate::error::StoreError;
use crate::exec::{AccessMode, BatchStatement, Exec, Op, Param, Row};
use crate::model::{AgentView, ApplyOutcome, ResolveRequest, ResolvedMessage};
use crate::ops::{rows, terminal};

pub struct Apply(pub ResolveRequest);

impl Op for Apply {
    type Out = ApplyOutcome;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<ApplyOutcome, StoreError> {
        apply(x, &self.0, now).await
    }
}

/// All three steps, in the caller's transaction.
pub(in crate::ops) async fn apply<X: Exec>(
    x: &mut X,
    request: &ResolveRequest,
    now: Timestamp,
) -> Result<ApplyOutcome, StoreError> {
    match load_and_decide(x, request, now).await? {
        LoadedDecision::Refused(refusal) => Ok(refusal),
        LoadedDecision::Accepted(loaded, resolution) => write_decided(x, *loaded, resolution, &request.files).await,
    }
}

/// Writes a resolution that was just decided.
pub(in crate::ops) async fn write_decided<X: Exec>(
    x: &mut X,
    loaded: LoadedMessage,
    resolution: Resolution,
    files: &[Vec<u8>],
) -> Result<ApplyOutcome, StoreError> {
    write(x, &loaded, &resolution, files, resolution.resolved_at).await?;
    Ok(ApplyOutcome::Resolved(Box::new(loaded.into_resolved(resolution))))
}

pub(in crate::ops) enum LoadedDecision {
    Refused(ApplyOutcome),
    Accepted(Box<LoadedMessage>, Resolution),
}

/// Loads and decides; nothing is written yet.
pub(in crate::ops) async fn load_and_decide<X: Exec>(
    x: &mut X,
    request: &ResolveRequest,
    now: Timestamp,
) -> Result<LoadedDecision, StoreError> {
    let loaded = match load(x, &request.message_id).await? {
        Loaded::Nothing => return Ok(LoadedDecision::Refused(ApplyOutcome::NotFound)),
        Loaded::Purged => return Ok(LoadedDecision::Refused(ApplyOutcome::Purged)),
        Loaded::Message(loaded) => loaded,
    };
    let command = request.command.clone();
    let decided = check_files(command.files(), &request.files)
        .and_then(|()| decide(&loaded.message, command, request.resolution_id.clone(), now));
    Ok(match decided {
        Ok(resolution) => LoadedDecision::Accepted(loaded, resolution),
        Err(rejection) => LoadedDecision::Refused(ApplyOutcome::Rejected(rejection)),
    })
}

/// Writes one of many resolutions in a transaction; its quota slot is released together with the others.
pub(in crate::ops) async fn write_one_of_many<X: Exec>(
    x: &mut X,
    loaded: LoadedMessage,
    resolution: Resolution,
    slots: &mut ReleasedSlots,
) -> Result<ResolvedMessage, StoreError> {
    write_resolution(x, &loaded, &resolution, resolution.resolved_at, None).await?;
    slots.add(&loaded.message);
    Ok(loaded.into_resolved(resolution))
}

/// Checks that the file bodies match the notes in number and size.
pub(in crate::ops) fn check_files(file_notes: &[FileNote], bodies: &[Vec<u8>]) -> Result<(), Rejection> {
    let sizes = bodies.iter().map(|body| body.len() as u64);
    if file_notes.iter().map(|note| note.size).eq(sizes) {
        return Ok(());
    }
    let message = "send the bytes of exactly the files that are named";
    Err(Rejection::field("files", message))
}

pub(in crate::ops) struct LoadedMessage {
    pub(super) seq: i64,
    pub(super) message: Message,
    content_sha256: Digest,
    audit_seq: i64,
    /// Only set while the message is open; no other message changes.
    audit_hash: Option<Digest>,
    wire: String,
}

impl LoadedMessage {
    fn into_resolved(self, resolution: Resolution) -> ResolvedMessage {
        let Message {
            id,
            received_at,
            expires_at,
            content,
            source,
            callback,
            rev,
            state: _,
            hold: _,
        } = self.message;
        let is_no = Ending::of_resolution(&resolution, &content).is_no();
        let view = AgentView {
            id,
            agent_id: content.agent.id,
            rev: rev + 1,
            received_at,
            expires_at,
            state: State::Resolved(resolution.clone()),
            source,
            wire: self.wire,
        };
        ResolvedMessage {
            resolution,
            is_no,
            view,
            push_host: callback.map(|callback| callback.host),
        }
    }
}

pub(in crate::ops) enum Loaded {
    Nothing,
    Purged,
    Message(Box<LoadedMessage>),
}

const SELECT: &str = rows::select_messages!(", m.audit_seq, m.audit_hash, m.purged_at", "WHERE m.id = ?1");
const AUDIT_SEQ: usize = rows::MESSAGE;
const AUDIT_HASH: usize = rows::MESSAGE + 1;
const PURGED_AT: usize = rows::MESSAGE + 2;

pub(in crate::ops) async fn load<X: Exec>(x: &mut X, id: &MessageId) -> Result<Loaded, StoreError> {
    let Some(mut row) = x.row(SELECT, &[id.as_str().into()]).await? else {
        return Ok(Loaded::Nothing);
    };
    decode(&mut row).map_err(|error| error.in_message(id.as_str()))
}

fn decode(row: &mut Row) -> Result<Loaded, StoreError> {
    if row.opt_int(PURGED_AT)?.is_some() {
        return Ok(Loaded::Purged);
    }
    let content_sha256 = rows::content_digest(row)?;
    let (message, wire) = rows::message_and_wire(row)?;
    Ok(Loaded::Message(Box::new(LoadedMessage {
        seq: row.int(rows::SEQ)?,
        message,
        content_sha256,
        audit_seq: row.int(AUDIT_SEQ)?,
        audit_hash: row.opt_digest(AUDIT_HASH)?,
        wire,
    })))
}

/// Writes the resolution with its files, the audit entry at `at`, the message row and the delivery, and releases the
/// slot.
pub(in crate::ops) async fn write<X: Exec>(
    x: &mut X,
    loaded: &LoadedMessage,
    resolution: &Resolution,
    files: &[Vec<u8>],
    at: Timestamp,
) -> Result<(), StoreError> {
    let agent_id = &loaded.message.content.agent.id;
    let release = [agent_id.into(), 1.into()];
    // After the message row: the lock order is message, then agent.
    let release = BatchStatement::change(quota::RELEASE, &release);
    let released = write_resolution(x, loaded, resolution, at, Some(release)).await?;
    // The resolution of a late answer is an expiry, which has no files.
    if !resolution.files.is_empty() {
        terminal::store_files(x, loaded.seq, files).await?;
    }
    if loaded.message.source.door() == Door::Hap {
        terminal::release(x, agent_id, 1).await?;
    }
    // Zero: the agent no longer exists.
    if released == 0 {
        quota::release_orphans(x, 1).await?;
    }
    Ok(())
}

const INSERT: &str = "INSERT INTO resolution (body) VALUES (?1)";
const UPDATE: &str = "UPDATE message SET status = ?1, rev = rev + 1, resolved_at = ?2, resolution_seq = ?3, \
     audit_seq = ?4, audit_hash = NULL, held_by = NULL, held_until = NULL WHERE seq = ?5 AND rev = ?6 \
     AND held_until IS NOT DISTINCT FROM ?7";
/// A delivery that is there already belongs to a rival, which has changed the revision too.
const ENQUEUE: &str = "INSERT INTO delivery (message_id, agent_id, host, track, attempts, created_at, due_at) \
     VALUES (?1, ?2, ?3, 'pending', 0, ?4, ?4) ON CONFLICT (message_id) DO NOTHING";

/// Writes everything but the files, with the statement `then` right behind the message row. The update is guarded by the
/// revision and the hold that were read; if one has changed, the whole transaction is rolled back. Returns the number of
/// rows that `then` changed.
async fn write_resolution<X: Exec>(
    x: &mut X,
    loaded: &LoadedMessage,
    resolution: &Resolution,
    at: Timestamp,
    then: Option<BatchStatement<'_>>,
) -> Result<i64, StoreError> {
    const TABLE: &str = "resolution";
    let message = &loaded.message;
    let text = serde_json::to_string(resolution)?;
    let entry = AuditRecord {
        subject: message.id.to_string(),
        at,
        actor: resolution.actor.to_string(),
        event: resolution.outcome.to_string(),
        content_sha256: Some(loaded.content_sha256),
        resolution_sha256: Some(Digest::of(text.as_bytes())),
        prev_hash: loaded.audit_hash,
    };
    let hash = entry.hash();
    let update = [
        resolution.outcome.as_str().into(),
        resolution.resolved_at.into(),
        Param::InsertedSeq(TABLE),
        Param::InsertedSeq(audit::TABLE),
        loaded.seq.into(),
        message.rev.into(),
        message.hold.as_ref().map(|hold| hold.until).into(),
    ];
    let body = [(&text).into()];
    let append = audit::append_params(message.rev + 1, Some(loaded.audit_seq), &entry, &hash);
    let delivery = message.callback.as_ref().map(|callback| {
        let agent_id = &message.content.agent.id;
        let (id, host) = (message.id.as_str(), &callback.host);
        [id.into(), agent_id.into(), host.into(), resolution.resolved_at.into()]
    });
    let enqueue = delivery.as_ref().map(|params| BatchStatement::change(ENQUEUE, params));
    let written = [
        BatchStatement::insert(TABLE, INSERT, &body),
        BatchStatement::insert(audit::TABLE, audit::APPEND, &append),
        BatchStatement::change(UPDATE, &update),
    ];
    let steps: Vec<_> = written.into_iter().chain(then).chain(enqueue).collect();
    let done = x.batch(&steps).await?;
    if done.get(2).is_none_or(|updated| *updated == 0) {
        return Err(StoreError::Conflict);
    }
    Ok(done.get(3).copied().unwrap_or(0))
}
