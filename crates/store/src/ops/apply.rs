//! load → decide → write: the only way a message changes.

use countersign_core::Digest;
use countersign_core::audit::Entry;
use countersign_core::decide;
use countersign_core::message::{Message, Resolution};
use countersign_protocol::time::Timestamp;

use super::{audit, rows, submit};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};
use crate::model::{Application, Applied, Proposal};

pub struct Apply(pub Proposal);

/// A guarded write that finds another revision than it read is repeated; on an engine with concurrent writers this bounds it.
const TRIES: usize = 16;

impl Op for Apply {
    type Out = Application;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Application, StoreError> {
        for _ in 0..TRIES {
            let loaded = match load(x, &self.0).await? {
                Loaded::Nothing => return Ok(Application::NotFound),
                Loaded::Purged => return Ok(Application::Gone),
                Loaded::Message(loaded) => loaded,
            };
            let Proposal { command, resolution_id, .. } = self.0.clone();
            let resolution = match decide(&loaded.message, command, resolution_id, now) {
                Ok(resolution) => resolution,
                Err(rejection) => return Ok(Application::Rejected(rejection)),
            };
            if write(x, &loaded, &resolution).await? {
                let push_host = loaded.message.callback.map(|callback| callback.host);
                return Ok(Application::Resolved(Applied { resolution, push_host }));
            }
        }
        Err(StoreError::Unavailable("a message kept changing while it was being decided".to_owned()))
    }
}

struct LoadedMessage {
    message: Message,
    content_sha256: Digest,
    audit_hash: Digest,
}

enum Loaded {
    Nothing,
    Purged,
    Message(Box<LoadedMessage>),
}

async fn load<X: Exec>(x: &mut X, proposal: &Proposal) -> Result<Loaded, StoreError> {
    const SELECT: &str = "SELECT m.id, m.received_at, m.expires_at, m.status, m.rev, m.source, m.callback, \
         m.resolution, t.content, m.audit_hash, m.purged_at \
         FROM message m LEFT JOIN message_text t ON t.seq = m.seq WHERE m.id = ?1";
    let Some(mut row) = x.row(SELECT, &[proposal.message_id.as_str().into()]).await? else {
        return Ok(Loaded::Nothing);
    };
    if row.opt_int(10)?.is_some() {
        return Ok(Loaded::Purged);
    }
    let content_sha256 = match row.0.get(8) {
        Some(crate::exec::Value::Text(content)) => Digest::of(content.as_bytes()),
        _ => return Err(StoreError::Corrupt("a message without content".to_owned())),
    };
    let audit_hash = row.digest(9)?;
    let message = rows::message(&mut row)?;
    Ok(Loaded::Message(Box::new(LoadedMessage { message, content_sha256, audit_hash })))
}

/// The new row, its audit entry and the delivery obligation, or nothing at all.
async fn write<X: Exec>(x: &mut X, loaded: &LoadedMessage, resolution: &Resolution) -> Result<bool, StoreError> {
    const UPDATE: &str = "UPDATE message SET status = ?1, rev = rev + 1, resolved_at = ?2, resolution = ?3, \
         audit_hash = ?4 WHERE id = ?5 AND rev = ?6";
    let message = &loaded.message;
    let text = serde_json::to_string(resolution)?;
    let entry = Entry {
        subject: message.id.to_string(),
        at: resolution.resolved_at,
        actor: resolution.actor.to_string(),
        event: resolution.outcome.to_string(),
        content_sha256: Some(loaded.content_sha256),
        resolution_sha256: Some(Digest::of(text.as_bytes())),
        prev_hash: Some(loaded.audit_hash),
    };
    let hash = entry.hash();
    let params = [
        resolution.outcome.as_str().into(),
        resolution.resolved_at.into(),
        (&text).into(),
        (&hash).into(),
        message.id.as_str().into(),
        message.rev.into(),
    ];
    if x.exec(UPDATE, &params).await? == 0 {
        return Ok(false);
    }
    audit::append(x, message.rev + 1, &entry, &hash).await?;
    submit::release_place(x, &message.content.agent.id).await?;
    oblige(x, message, resolution.resolved_at).await?;
    Ok(true)
}

async fn oblige<X: Exec>(x: &mut X, message: &Message, now: Timestamp) -> Result<(), StoreError> {
    const INSERT: &str = "INSERT INTO delivery (message_id, agent_id, host, track, attempts, created_at, due_at) \
         VALUES (?1, ?2, ?3, 'pending', 0, ?4, ?4)";
    let Some(callback) = &message.callback else { return Ok(()) };
    let params = [message.id.as_str().into(), (&message.content.agent.id).into(), (&callback.host).into(), now.into()];
    x.exec(INSERT, &params).await.map(drop)
}
