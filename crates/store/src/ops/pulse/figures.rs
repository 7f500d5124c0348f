//! The figures of a period, from the facts of its messages and decisions.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use countersign_core::asker::run_agent;
use countersign_core::vocabulary::Tone;
use countersign_protocol::time::Timestamp;

use super::PulseFacts;

/// The upper ends of the times to decision, in seconds. The last one has no end.
pub const SPAN_ENDS: [u64; 8] = [10, 60, 5 * 60, 15 * 60, 3600, 4 * 3600, 24 * 3600, u64::MAX];

#[derive(Debug, Default)]
pub struct Figures {
    /// Decisions of people and agents.
    pub decided: usize,
    /// Decisions that gave no answer.
    pub skipped: usize,
    pub denied: usize,
    /// Declared defaults that became the answer.
    pub defaults: usize,
    /// Asks and tasks whose time ran out without a default.
    pub unanswered: usize,
    pub median: Option<Duration>,
    /// Nine of ten decisions took at most this long.
    pub p90: Option<Duration>,
    /// What ended in each step of the period.
    pub steps: Vec<ToneCounts>,
    /// Decisions by the time that they took, as in `SPAN_ENDS`.
    pub spans: [usize; SPAN_ENDS.len()],
    /// The busiest first.
    pub agents: Vec<(AgentGroup, AgentVolume)>,
}

/// Numbers of items by the tone of their ending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToneCounts([usize; 5]);

impl ToneCounts {
    pub fn count(&self, tone: Tone) -> usize {
        self.0[slot(tone)]
    }
}

fn slot(tone: Tone) -> usize {
    match tone {
        Tone::Good => 0,
        Tone::Plain => 1,
        Tone::Bad => 2,
        Tone::Late => 3,
        Tone::Quiet => 4,
    }
}

/// A row of the table: an agent by its id, or all agents of one name in runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentGroup {
    Agent(String),
    InRuns(String),
}

impl AgentGroup {
    fn of(agent_id: &str) -> Self {
        match run_agent(agent_id) {
            Some((name, _)) => Self::InRuns(name.to_owned()),
            None => Self::Agent(agent_id.to_owned()),
        }
    }

    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Agent(id) => Some(id),
            Self::InRuns(_) => None,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentVolume {
    /// Messages that came.
    pub received: usize,
    pub decided: usize,
    pub skipped: usize,
    pub denied: usize,
    pub defaults: usize,
    pub median: Option<Duration>,
}

impl Figures {
    /// `starts` are the first moments of the steps.
    pub fn of(facts: &PulseFacts, starts: &[Timestamp]) -> Self {
        let mut figures = Self {
            steps: vec![ToneCounts::default(); starts.len()],
            ..Self::default()
        };
        let mut all = Durations::default();
        let mut by_agent: BTreeMap<AgentGroup, (AgentVolume, Durations)> = BTreeMap::new();
        for (agent_id, count) in &facts.received {
            by_agent.entry(AgentGroup::of(agent_id)).or_default().0.received += count;
        }
        for fact in &facts.decisions {
            let (agent, durations) = by_agent.entry(AgentGroup::of(&fact.agent_id)).or_default();
            if let Some(step) = figures.steps.get_mut(step_of(starts, fact.resolved_at)) {
                step.0[slot(fact.ending.tone)] += 1;
            }
            if fact.is_decided {
                let took = fact.resolved_at.since(fact.received_at);
                let is_denied = usize::from(fact.ending.is_no());
                let is_skipped = usize::from(fact.is_skipped);
                figures.decided += 1;
                figures.skipped += is_skipped;
                figures.denied += is_denied;
                figures.spans[span_of(took)] += 1;
                all.0.push(took);
                agent.decided += 1;
                agent.skipped += is_skipped;
                agent.denied += is_denied;
                durations.0.push(took);
            } else if fact.is_default {
                figures.defaults += 1;
                agent.defaults += 1;
            } else if fact.ending.tone == Tone::Late {
                figures.unanswered += 1;
            }
        }
        figures.agents = by_agent
            .into_iter()
            .map(|(group, (agent, durations))| {
                let median = durations.sorted().percentile(50);
                (group, AgentVolume { median, ..agent })
            })
            .collect();
        figures
            .agents
            .sort_by_key(|(_, agent)| Reverse((agent.decided + agent.defaults, agent.received)));
        let all = all.sorted();
        figures.median = all.percentile(50);
        figures.p90 = all.percentile(90);
        figures
    }

    /// Decisions that gave an answer, the base of the share denied.
    pub fn answered(&self) -> usize {
        self.decided - self.skipped
    }

    pub fn denied_percent(&self) -> Option<usize> {
        percent(self.denied, self.answered())
    }
}

impl AgentVolume {
    pub fn denied_percent(&self) -> Option<usize> {
        percent(self.denied, self.decided - self.skipped)
    }
}

/// The number of the step that holds `at`.
fn step_of(starts: &[Timestamp], at: Timestamp) -> usize {
    starts.partition_point(|start| *start <= at).saturating_sub(1)
}

/// The share in percent, rounded to the nearest whole number; `None` for a part of nothing.
pub fn percent(part: usize, whole: usize) -> Option<usize> {
    (part * 200 + whole).checked_div(whole * 2)
}

fn span_of(took: Duration) -> usize {
    let is_within = |end: &u64| took.as_secs() < *end;
    SPAN_ENDS.iter().position(is_within).unwrap_or(SPAN_ENDS.len() - 1)
}

#[derive(Debug, Default)]
struct Durations(Vec<Duration>);

impl Durations {
    fn sorted(mut self) -> Self {
        self.0.sort_unstable();
        self
    }

    /// The nearest rank.
    fn percentile(&self, percent: usize) -> Option<Duration> {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0.get(rank.saturating_sub(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::DecisionFact;
    use super::*;
    use countersign_core::vocabulary::Ending;

    const NOW_MS: i64 = 1_772_463_845_000;
    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn fact(agent_id: &str, tone: Tone, took_secs: u64) -> DecisionFact {
        let resolved_at = Timestamp::from_millis(NOW_MS);
        DecisionFact {
            agent_id: agent_id.to_owned(),
            received_at: resolved_at.minus(Duration::from_secs(took_secs)),
            resolved_at,
            ending: Ending { label: "", tone },
            is_skipped: false,
            is_decided: !matches!(tone, Tone::Late | Tone::Quiet),
            is_default: false,
        }
    }

    fn figures(facts: &[DecisionFact], received: &[(&str, usize)]) -> Figures {
        let now = Timestamp::from_millis(NOW_MS);
        let starts: Vec<Timestamp> = (0..7).rev().map(|back| now.minus(DAY * back)).collect();
        let received = received
            .iter()
            .map(|(agent_id, count)| ((*agent_id).to_owned(), *count));
        let facts = PulseFacts {
            decisions: facts.to_vec(),
            received: received.collect(),
            ..PulseFacts::default()
        };
        Figures::of(&facts, &starts)
    }

    #[test]
    fn shares_and_times_are_those_of_decisions_alone() {
        let defaulted = DecisionFact {
            is_default: true,
            ..fact("coder", Tone::Late, 3600)
        };
        let facts = [
            fact("coder", Tone::Good, 5),
            fact("coder", Tone::Bad, 50),
            fact("deploybot", Tone::Bad, 100_000),
            fact("deploybot", Tone::Late, 7),
            fact("deploybot", Tone::Quiet, 7),
            defaulted,
        ];
        let figures = figures(&facts, &[]);
        assert_eq!(
            (figures.decided, figures.denied, figures.denied_percent()),
            (3, 2, Some(67))
        );
        assert_eq!((figures.defaults, figures.unanswered), (1, 1));
        assert_eq!(figures.median, Some(Duration::from_secs(50)));
        assert_eq!(figures.p90, Some(Duration::from_secs(100_000)));
        assert_eq!(figures.spans, [1, 1, 0, 0, 0, 0, 0, 1]);
        assert_eq!(figures.steps[6].0, [1, 0, 2, 2, 1], "all ended today");
        let agents: Vec<_> = figures.agents.iter().map(|(group, _)| group.clone()).collect();
        let expected = ["coder", "deploybot"].map(|id| AgentGroup::Agent(id.to_owned()));
        assert_eq!(agents, expected, "the busiest first");
        let coder = &figures.agents[0].1;
        assert_eq!((coder.defaults, coder.denied), (1, 1));
    }

    #[test]
    fn a_skip_is_a_decision_but_neither_a_yes_nor_a_no() {
        let skipped = DecisionFact {
            is_decided: true,
            is_skipped: true,
            ..fact("coder", Tone::Quiet, 40)
        };
        let figures = figures(&[fact("coder", Tone::Bad, 50), skipped], &[]);
        assert_eq!((figures.decided, figures.answered(), figures.skipped), (2, 1, 1));
        assert_eq!(figures.denied_percent(), Some(100));
        assert_eq!(figures.agents[0].1.denied_percent(), Some(100));
    }

    #[test]
    fn agents_of_runs_are_one_row_per_name() {
        let facts = [
            fact("user#run-1", Tone::Good, 10),
            fact("user#run-2", Tone::Bad, 30),
            fact("user", Tone::Good, 5),
        ];
        let received = [("user#run-1", 2), ("user#run-2", 1), ("quiet", 4)];
        let agents = figures(&facts, &received).agents;
        let rows: Vec<_> = agents
            .into_iter()
            .map(|(group, agent)| (group, agent.received, agent.decided, agent.denied))
            .collect();
        assert_eq!(
            rows,
            [
                (AgentGroup::InRuns("user".to_owned()), 3, 2, 1),
                (AgentGroup::Agent("user".to_owned()), 0, 1, 0),
                (AgentGroup::Agent("quiet".to_owned()), 4, 0, 0),
            ]
        );
    }

    #[test]
    fn nothing_has_no_share_and_no_median() {
        let figures = figures(&[], &[]);
        assert_eq!(
            (figures.denied_percent(), figures.median, figures.p90),
            (None, None, None)
        );
        assert_eq!(figures.steps.len(), 7);
    }

    #[test]
    fn a_step_holds_its_start_and_ends_before_the_next_one() {
        let starts = [0, 10, 20].map(Timestamp::from_millis);
        let steps = [0, 9, 10, 19, 20, 99].map(|at| step_of(&starts, Timestamp::from_millis(at)));
        assert_eq!(steps, [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn shares_are_rounded_and_nothing_has_no_share() {
        assert_eq!(
            [percent(0, 3), percent(1, 3), percent(2, 3)],
            [Some(0), Some(33), Some(67)]
        );
        assert_eq!([percent(3, 3), percent(0, 0)], [Some(100), None]);
    }
}
