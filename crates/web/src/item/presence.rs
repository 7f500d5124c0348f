//! Whether the agent is still there.

use std::time::Duration;

use countersign_core::Message;
use countersign_hub::Hub;
use countersign_hub::terminals::CueState;
use countersign_protocol::time::Timestamp;

use crate::frame::format::{Instant, instant, waited};
use crate::frame::page::Failure;

/// An agent that has been silent for longer may be gone.
const GONE: Duration = Duration::from_secs(600);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It holds a line open for this very answer.
    Waiting,
    Here {
        ago: String,
        at: Instant,
    },
    Gone {
        since: Instant,
    },
    NeverSeen,
    /// Of an open question from a terminal, where a held connection tells.
    Cue {
        state: CueState,
        since: Option<Instant>,
    },
}

impl Presence {
    pub async fn of(hub: &Hub, message: &Message, now: Timestamp) -> Result<Self, Failure> {
        let seen_at = hub.agent_seen_at(&message.content.agent.id).await?;
        let cue = hub.cue_presence(message);
        if let Some(state) = cue.state {
            return Ok(Self::Cue {
                state,
                since: cue.since.or(seen_at).map(instant),
            });
        }
        Ok(Self::at(hub.wake.is_waited_for(&message.id), seen_at, now))
    }

    fn at(waiting: bool, seen_at: Option<Timestamp>, now: Timestamp) -> Self {
        match seen_at {
            _ if waiting => Self::Waiting,
            None => Self::NeverSeen,
            Some(at) if now.since(at) > GONE => Self::Gone { since: instant(at) },
            Some(at) => Self::Here {
                ago: waited(at, now),
                at: instant(at),
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
        let here = Presence::Here {
            ago: "10 min".to_owned(),
            at: instant(at(0)),
        };
        assert_eq!(Presence::at(false, Some(at(0)), at(600)), here);
        assert_eq!(
            Presence::at(false, Some(at(0)), at(601)),
            Presence::Gone { since: instant(at(0)) }
        );
        assert_eq!(Presence::at(false, None, at(0)), Presence::NeverSeen);
    }

    #[test]
    fn whoever_waits_is_there_however_long_ago_it_called() {
        assert_eq!(Presence::at(true, Some(at(0)), at(9999)), Presence::Waiting);
    }
}
