//! A cue on its way to the store.

use countersign_core::Digest;
use countersign_core::audit::Entry;
use countersign_core::hap::{self, Cue, Terminal};
use countersign_core::message::inbox_rank;
use countersign_protocol::a2h::Kind;
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use countersign_store::model::{NewMessage, json_text};
use countersign_store::ops::terminal::{NewCue, TerminalOf};
use uuid::Uuid;

use super::given::Place;
use crate::app::Hub;
use crate::problem::Problem;

/// When it was asked, and what stays of it word for word.
pub struct Asked {
    pub at: Timestamp,
    pub wire: String,
    /// Under which it is known, where it was asked elsewhere before.
    pub key: Option<String>,
    /// How the trail begins.
    pub event: &'static str,
}

/// The agent with everything that is known of it.
pub async fn whole(hub: &Hub, person: &str, agent_id: String, place: Place) -> Result<Terminal, Problem> {
    if place.is_whole() {
        return Ok(place.of(agent_id, None));
    }
    let joined = hub.store.run(TerminalOf { agent_id: agent_id.clone() }).await?;
    let own = joined.filter(|joined| joined.person == person);
    Ok(place.of(agent_id, own.map(|joined| joined.terminal)))
}

pub fn new_cue(cue: &Cue, terminal: Terminal, person: String, asked: Asked) -> Result<NewCue, Problem> {
    let id = MessageId::from_uuid(Uuid::now_v7());
    let content = hap::content(cue, &terminal, &person);
    // What people decide on; every entry of the trail names the same text.
    let shown = json_text(&content)?;
    let message = NewMessage {
        agent_id: terminal.agent_id.clone(),
        kind: Kind::Ask,
        rank: inbox_rank(content.priority),
        received_at: asked.at,
        expires_at: None,
        idempotency_key: asked.key,
        source: json_text(&hap::source(cue, &terminal))?,
        callback: None,
        audit: Entry {
            subject: id.to_string(),
            at: asked.at,
            actor: format!("agent:{}", terminal.agent_id),
            event: asked.event.to_owned(),
            content_sha256: Some(Digest::of(shown.as_bytes())),
            resolution_sha256: None,
            prev_hash: None,
        },
        content: Some(shown),
        wire: asked.wire,
        id,
    };
    let (envelope, resolution_id) = (hap::digest(cue), new_resolution_id());
    Ok(NewCue { message, terminal, person, envelope, gone: Vec::new(), resolution_id })
}

pub fn new_resolution_id() -> ResolutionId {
    ResolutionId::from_uuid(Uuid::new_v4())
}

pub fn not_yours() -> Problem {
    Problem::invalid("agent_id", "this name is somebody else's; `cueme join` gives you one of your own")
}
