//! Figures of an agent for people: how much it asks, and how its questions are decided.

use std::time::Duration;

use countersign_hub::Hub;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::agent::{AgentFigures, FiguresOf};
use countersign_store::ops::pulse::percent;

use crate::language::{counted, say};
use crate::layout::formatting::span;
use crate::layout::page::PageError;

const WINDOW: Duration = Duration::from_secs(7 * 24 * 3600);

/// The figures of the last seven days as texts.
pub struct AgentFacts {
    pub volume: String,
    pub median: String,
    pub denied: String,
}

impl AgentFacts {
    pub async fn of(hub: &Hub, agent_id: &str, now: Timestamp) -> Result<Self, PageError> {
        let agent_id = agent_id.to_owned();
        let since = now.minus(WINDOW);
        let figures = hub.store.run(FiguresOf { agent_id, since }).await?;
        Ok(Self::from_figures(&figures))
    }

    fn from_figures(figures: &AgentFigures) -> Self {
        let none = || "–".to_owned();
        let answered = figures.decided - figures.skipped;
        Self {
            volume: match figures.received {
                count if figures.is_capped => say!("{count}+ messages", count = count),
                count => counted(count, "{count} message", "{count} messages"),
            },
            median: figures.median.map_or_else(none, span),
            denied: percent(figures.denied, answered).map_or_else(none, |share| {
                say!("{share} % of {whole}", share = share, whole = answered)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_without_decisions_has_dashes() {
        let facts = AgentFacts::from_figures(&AgentFigures::default());
        assert_eq!((facts.volume.as_str(), facts.median.as_str()), ("0 messages", "–"));
        assert_eq!(facts.denied, "–");
    }
}
