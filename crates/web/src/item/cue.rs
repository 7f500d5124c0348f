//! Details of a cue from a terminal: where its agent runs, and how it relates to other cues of the agent.

use countersign_core::message::Source;
use countersign_core::{Message, Outcome, State};
use countersign_hub::Hub;
use countersign_hub::messages::cue_waiters::CueState;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::terminal::{OpenCues, TerminalOf};

use crate::agents::AheadBox;
use crate::layout::formatting::{DisplayTime, display_time};
use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::encoded;

pub struct CueDetails {
    pub runtime: String,
    pub project_dir: String,
    pub terminal: String,
    /// When an imported cue arrived here; it was asked before this hub, elsewhere.
    pub imported: Option<DisplayTime>,
    /// The cues that this one supersedes.
    pub replaces: Vec<String>,
    pub superseded_by: Option<String>,
    /// Number of earlier cues of the agent that are still open.
    pub earlier: usize,
    pub earlier_href: String,
    /// No process waits for the answer now.
    pub is_gone: bool,
    /// Type-ahead box on a resolved cue, for the person the agent asks.
    pub ahead: Option<AheadBox>,
}

impl CueDetails {
    /// Returns `None` for a message that came through another door.
    pub async fn of(hub: &Hub, message: &Message, user: &SignedInUser) -> Result<Option<Self>, PageError> {
        let Source::Hap(source) = &message.source else {
            return Ok(None);
        };
        let agent_id = &message.content.agent.id;
        let imported_at = source.imported_at.as_deref().and_then(Timestamp::parse_rfc3339);
        let replaces = source.supersedes.as_deref().unwrap_or_default().split_whitespace();
        Ok(Some(Self {
            runtime: source.runtime.clone(),
            project_dir: source.project_dir.clone(),
            terminal: source.terminal.clone(),
            imported: imported_at.map(display_time),
            replaces: replaces.filter_map(id_of).collect(),
            superseded_by: superseded_by(message),
            earlier: earlier(hub, message).await?,
            earlier_href: format!("/inbox?agent={}", encoded(agent_id)),
            is_gone: hub.cue_waiters.presence_of(message).state == Some(CueState::Gone),
            ahead: ahead(hub, message, user).await?,
        }))
    }
}

fn id_of(text: &str) -> Option<String> {
    text.parse::<MessageId>().ok().map(|id| id.to_string())
}

fn superseded_by(message: &Message) -> Option<String> {
    match &message.state {
        State::Resolved(resolution) if resolution.outcome == Outcome::Cancelled => resolution
            .comment
            .as_deref()?
            .strip_prefix("superseded by ")
            .and_then(id_of),
        State::Resolved(_) | State::Open | State::Delivered => None,
    }
}

async fn earlier(hub: &Hub, message: &Message) -> Result<usize, PageError> {
    if message.state != State::Open {
        return Ok(0);
    }
    let open = hub
        .store
        .run(OpenCues {
            agent_id: message.content.agent.id.clone(),
        })
        .await?;
    Ok(open.iter().take_while(|id| **id != message.id).count())
}

async fn ahead(hub: &Hub, message: &Message, user: &SignedInUser) -> Result<Option<AheadBox>, PageError> {
    if message.state == State::Open {
        return Ok(None);
    }
    let agent_id = &message.content.agent.id;
    let Some(agent) = hub
        .store
        .run(TerminalOf {
            agent_id: agent_id.clone(),
        })
        .await?
    else {
        return Ok(None);
    };
    let found = AheadBox::of(hub, user, agent_id, &agent.person).await?;
    Ok(found.map(|found| AheadBox {
        back: format!("/inbox/items/{}", message.id),
        ..found
    }))
}
