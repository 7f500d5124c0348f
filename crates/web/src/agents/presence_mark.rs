//! The presence of an agent in a terminal as a short label.

use countersign_hub::Hub;
use countersign_hub::messages::cue_waiters::CueState;
use countersign_protocol::hap::CueKind;
use countersign_store::ops::agent::AgentOverview;
use countersign_store::ops::terminal::OpenCues;

use crate::language::t;
use crate::layout::page::PageError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresenceMark {
    /// `waiting`, `paused`, `gone` or `idle`.
    pub state: &'static str,
    /// `good`, `warn` or nothing.
    pub badge_class: &'static str,
    pub text: &'static str,
}

impl PresenceMark {
    /// The mark of one open cue.
    pub fn of(state: CueState) -> Self {
        match state {
            CueState::Waiting => Self {
                state: "waiting",
                badge_class: "good",
                text: t("waiting now"),
            },
            CueState::Paused => Self {
                state: "paused",
                badge_class: "good",
                text: t("paused, waiting"),
            },
            CueState::Gone => Self {
                state: "gone",
                badge_class: "warn",
                text: t("gone"),
            },
        }
    }

    /// The mark of an agent in a terminal: the best state among its open cues. Only such an agent holds a connection
    /// that shows its state.
    pub async fn of_agent(hub: &Hub, agent: &AgentOverview) -> Result<Option<Self>, PageError> {
        if agent.residence.is_none() {
            return Ok(None);
        }
        let idle = Self {
            state: "idle",
            badge_class: "",
            text: t("idle"),
        };
        if agent.open == 0 {
            return Ok(Some(idle));
        }
        let open = hub
            .store
            .run(OpenCues {
                agent_id: agent.agent_id.clone(),
            })
            .await?;
        // The kind given here is a fallback; a waiting connection knows its own kind.
        let states = open
            .iter()
            .filter_map(|id| hub.cue_waiters.presence(id, CueKind::Cue).state);
        let best = states.min_by_key(|state| match state {
            CueState::Waiting => 0,
            CueState::Paused => 1,
            CueState::Gone => 2,
        });
        Ok(Some(best.map_or(idle, Self::of)))
    }
}
