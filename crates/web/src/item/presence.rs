//! Whether the agent of a message is still active.

use std::time::Duration;

use countersign_core::Message;
use countersign_hub::Hub;
use countersign_hub::messages::cue_waiters::CueState;
use countersign_protocol::time::Timestamp;

use crate::layout::formatting::{DisplayTime, display_time, waited};
use crate::layout::page::PageError;

/// An agent that has not called for longer than this counts as gone.
const GONE_TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentPresence {
    /// The agent has a long-poll open for this answer.
    Waiting,
    RecentlySeen {
        ago: String,
        at: DisplayTime,
    },
    Gone {
        since: DisplayTime,
    },
    NeverSeen,
    /// An open cue from a terminal, whose connection shows its state.
    Cue {
        state: CueState,
        since: Option<DisplayTime>,
    },
}

impl AgentPresence {
    pub async fn of(hub: &Hub, message: &Message, now: Timestamp) -> Result<Self, PageError> {
        let seen_at = hub
            .background
            .agent_last_seen
            .seen_at(&message.content.agent.id)
            .await?;
        let cue = hub.cue_waiters.presence_of(message);
        if let Some(state) = cue.state {
            return Ok(Self::Cue {
                state,
                since: cue.since.or(seen_at).map(display_time),
            });
        }
        Ok(Self::at(hub.messages.is_awaited(&message.id), seen_at, now))
    }

    fn at(waiting: bool, seen_at: Option<Timestamp>, now: Timestamp) -> Self {
        match seen_at {
            _ if waiting => Self::Waiting,
            None => Self::NeverSeen,
            Some(at) if now.since(at) > GONE_TIMEOUT => Self::Gone {
                since: display_time(at),
            },
            Some(at) => Self::RecentlySeen {
                ago: waited(at, now),
                at: display_time(at),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_780_000_000_000 + seconds * 1000)
    }

    #[test]
    fn an_agent_is_gone_after_ten_silent_minutes() {
        let here = AgentPresence::RecentlySeen {
            ago: "10 min".to_owned(),
            at: display_time(at(0)),
        };
        assert_eq!(AgentPresence::at(false, Some(at(0)), at(600)), here);
        assert_eq!(
            AgentPresence::at(false, Some(at(0)), at(601)),
            AgentPresence::Gone {
                since: display_time(at(0))
            }
        );
        assert_eq!(AgentPresence::at(false, None, at(0)), AgentPresence::NeverSeen);
    }

    #[test]
    fn waiting_agent_is_present_however_long_ago_it_called() {
        assert_eq!(AgentPresence::at(true, Some(at(0)), at(9999)), AgentPresence::Waiting);
    }
}
