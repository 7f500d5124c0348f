//! A cue on its way to the store.

use countersign_core::Digest;
use countersign_core::audit::Entry;
use countersign_core::hap::{self, Cue, Terminal};
use countersign_core::message::inbox_rank;
use countersign_protocol::a2h::Kind;
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use countersign_store::model::{NewMessage, json_text};
use countersign_store::ops::terminal::{Bounds, NewCue, TerminalOf, TooMany};
use uuid::Uuid;

use super::given::Place;
use crate::app::Hub;
use crate::problem::Problem;

/// Of the terminals of one person.
const MOST_OPEN: i64 = 1000;
/// In ninety days, of the terminals of one person.
const MOST_JOINED: i64 = 10_000;
const RETRY_AFTER_SECONDS: u64 = 30;

pub fn bounds(hub: &Hub) -> Bounds {
    let open_of_agent = hub.config.inbox_depth.map_or(i64::MAX, i64::from);
    Bounds {
        open_of_agent,
        open_of_person: MOST_OPEN,
        joined: MOST_JOINED,
    }
}

pub fn too_many(what: TooMany) -> Problem {
    let message = match what {
        TooMany::OpenOfAgent => "too many open cues of this agent; wait until some are answered".to_owned(),
        TooMany::OpenOfPerson => {
            format!("{MOST_OPEN} cues of your agents are open; answer or decline some of them first")
        }
        TooMany::Joined => format!(
            "{MOST_JOINED} agents of yours joined in the last 90 days; go on under the name of one of them, or let an \
             owner remove some with `countersign agent remove NAME`"
        ),
    };
    Problem::RateLimited {
        retry_after_seconds: RETRY_AFTER_SECONDS,
        message,
    }
}

/// A cue as it came, and what stays of it word for word.
pub struct Asked {
    pub now: Timestamp,
    pub wire: String,
    /// Where it was asked elsewhere before.
    pub elsewhere: Option<Elsewhere>,
}

pub struct Elsewhere {
    /// As it says itself.
    pub at: Timestamp,
    /// Under which it is known.
    pub key: String,
}

/// Stands in the source of what was asked elsewhere: when it came here.
pub const IMPORTED: &str = "imported_at";

/// The agent with everything that is known of it.
pub async fn whole(hub: &Hub, person: &str, agent_id: String, place: Place) -> Result<Terminal, Problem> {
    if place.is_whole() {
        return Ok(place.of(agent_id, None));
    }
    let joined = hub
        .store
        .run(TerminalOf {
            agent_id: agent_id.clone(),
        })
        .await?;
    let own = joined.filter(|joined| joined.person == person);
    Ok(place.of(agent_id, own.map(|joined| joined.terminal)))
}

pub fn new_cue(cue: &Cue, terminal: Terminal, person: String, asked: Asked) -> Result<NewCue, Problem> {
    let id = MessageId::from_uuid(Uuid::now_v7());
    let content = hap::content(cue, &terminal, &person);
    // What people decide on; every entry of the trail names the same text.
    let shown = json_text(&content)?;
    let mut source = hap::source(cue, &terminal);
    if asked.elsewhere.is_some() {
        source.ids.insert(IMPORTED.to_owned(), asked.now.to_string());
    }
    let event = if asked.elsewhere.is_some() {
        "imported"
    } else {
        "submitted"
    };
    let (at, key) = asked
        .elsewhere
        .map_or((asked.now, None), |elsewhere| (elsewhere.at, Some(elsewhere.key)));
    let message = NewMessage {
        agent_id: terminal.agent_id.clone(),
        kind: Kind::Ask,
        rank: inbox_rank(content.priority),
        received_at: at,
        expires_at: None,
        idempotency_key: key,
        source: json_text(&source)?,
        callback: None,
        audit: Entry {
            subject: id.to_string(),
            // Never what a terminal says.
            at: asked.now,
            actor: format!("agent:{}", terminal.agent_id),
            event: event.to_owned(),
            content_sha256: Some(Digest::of(shown.as_bytes())),
            resolution_sha256: None,
            prev_hash: None,
        },
        content: Some(shown),
        wire: asked.wire,
        id,
    };
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

pub fn not_yours() -> Problem {
    Problem::invalid(
        "agent_id",
        "this name is somebody else's; `cueme join` gives you one of your own",
    )
}
