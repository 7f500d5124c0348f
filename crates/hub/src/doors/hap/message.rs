//! Builds the store message of a cue.

use countersign_core::hap::{self, Cue, Terminal};
use countersign_core::message::Source;
use countersign_protocol::a2h::Kind;
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use countersign_store::model::Incoming;
use countersign_store::ops::terminal::{ExceededQuota, NewCue, TerminalOf, TerminalQuota};
use uuid::Uuid;

use super::request::TerminalInfo;
use crate::Hub;
use crate::problem::Problem;

/// Open cues of all terminals of one person.
const MAX_OPEN_CUES: i64 = 1000;
/// Agents that may join within 90 days for one person.
const MAX_JOINED_AGENTS: i64 = 10_000;
const RETRY_AFTER_SECONDS: u64 = 30;

pub fn terminal_quota(hub: &Hub) -> TerminalQuota {
    let open_of_agent = hub.config.inbox_depth.map_or(i64::MAX, i64::from);
    TerminalQuota {
        open_of_agent,
        open_of_person: MAX_OPEN_CUES,
        joined: MAX_JOINED_AGENTS,
    }
}

pub fn quota_exceeded(quota: ExceededQuota) -> Problem {
    let message = match quota {
        ExceededQuota::OpenOfAgent => "too many open cues of this agent; wait until some are answered".to_owned(),
        ExceededQuota::OpenOfPerson => {
            format!("{MAX_OPEN_CUES} cues of your agents are open; answer or decline some of them first")
        }
        ExceededQuota::Joined => format!(
            "{MAX_JOINED_AGENTS} of your agents joined in the last 90 days; reuse the name of one of them, or let an \
             owner remove some with `countersign agent remove NAME`"
        ),
    };
    Problem::RateLimited {
        retry_after_seconds: RETRY_AFTER_SECONDS,
        message,
    }
}

/// When and from where a cue came, with its text as received.
pub struct CueOrigin {
    pub now: Timestamp,
    pub wire: String,
    /// Set for an imported cue.
    pub imported_from: Option<ImportSource>,
}

pub struct ImportSource {
    /// The original time, as the importing client claims it.
    pub at: Timestamp,
    /// The original id, which is the idempotency key of the import.
    pub key: String,
}

/// The terminal of an agent; fields missing from the request come from its join.
pub async fn complete_terminal(
    hub: &Hub,
    person: &str,
    agent_id: String,
    info: TerminalInfo,
) -> Result<Terminal, Problem> {
    if info.is_complete() {
        return Ok(info.into_terminal(agent_id, None));
    }
    let joined = hub
        .store
        .run(TerminalOf {
            agent_id: agent_id.clone(),
        })
        .await?;
    let own = joined.filter(|joined| joined.person == person);
    Ok(info.into_terminal(agent_id, own.map(|joined| joined.terminal)))
}

pub fn new_cue(cue: &Cue, terminal: Terminal, person: String, origin: CueOrigin) -> Result<NewCue, Problem> {
    let id = MessageId::from_uuid(Uuid::now_v7());
    let content = hap::content(cue, &terminal, &person);
    let mut source = hap::source(cue, &terminal);
    if origin.imported_from.is_some() {
        source.imported_at = Some(origin.now.to_string());
    }
    let event = if origin.imported_from.is_some() {
        "imported"
    } else {
        "submitted"
    };
    let (at, key) = origin.imported_from.map_or((origin.now, None), |imported_from| {
        (imported_from.at, Some(imported_from.key))
    });
    let message = Incoming {
        id,
        agent_id: terminal.agent_id.clone(),
        kind: Kind::Ask,
        priority: content.priority,
        received_at: at,
        // Our own clock, never the time that a terminal claims.
        recorded_at: origin.now,
        event,
        expires_at: None,
        idempotency_key: key,
        source: &Source::Hap(source),
        callback: None,
        content: Some(&content),
        wire: origin.wire,
    }
    .into_row()?;
    let envelope = hap::digest(cue);
    let resolution_id = new_resolution_id();
    Ok(NewCue {
        message,
        terminal,
        person,
        envelope,
        gone: Vec::new(),
        resolution_id,
    })
}

pub fn new_resolution_id() -> ResolutionId {
    ResolutionId::from_uuid(Uuid::new_v4())
}

pub fn not_your_name() -> Problem {
    Problem::invalid(
        "agent_id",
        "this name belongs to another person; `cueme join` gives you one of your own",
    )
}
