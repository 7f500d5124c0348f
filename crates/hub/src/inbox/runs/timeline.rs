//! What a run did, step by step, from the events it told. A run may have told thousands: some at the end are read, and
//! before them there may be more.

use countersign_protocol::runs::{Event, Usage};
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::run::{LatestEvents, StoredEvent};
use serde::Deserialize;

use crate::app::Hub;

const MOST_EVENTS: usize = 100;
/// Of one text; the whole of it can be fetched by the number of its event.
pub const MOST_SHOWN: usize = 8 * 1024;

#[derive(Debug, Default)]
pub struct Timeline {
    pub entries: Vec<Entry>,
    /// Before this number there is more.
    pub earlier: Option<u64>,
    /// The number of the latest event that is in here.
    pub newest: u64,
}

#[derive(Debug)]
pub enum Entry {
    /// A segment.
    Began {
        seq: u64,
        at: Timestamp,
    },
    Step(Step),
    /// Between steps, as the observer of a cycle speaks.
    Happened(Happened),
    Completed {
        seq: u64,
        at: Timestamp,
        result: Text,
        usage: Usage,
    },
    Failed {
        seq: u64,
        at: Timestamp,
        code: String,
        message: Text,
    },
}

#[derive(Debug)]
pub struct Step {
    /// Of its start, or of the first that is known of it.
    pub seq: u64,
    pub name: String,
    /// Unknown where it began before the first event that is here.
    pub began: Option<(Timestamp, Text)>,
    pub happened: Vec<Happened>,
    pub done: Option<Done>,
}

#[derive(Debug)]
pub struct Done {
    pub seq: u64,
    pub at: Timestamp,
    pub result: Text,
    pub usage: Usage,
    pub finish_reason: String,
}

#[derive(Debug)]
pub struct Happened {
    pub seq: u64,
    pub at: Timestamp,
    pub said: Said,
}

#[derive(Debug)]
pub enum Said {
    Output {
        agent_name: String,
        model: Option<String>,
        text: Text,
        usage: Usage,
    },
    Asked {
        agent_name: String,
        text: Option<Text>,
    },
    Steered(Text),
    Policy(Vec<String>),
}

/// The start of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub shown: String,
    /// Bytes that are not shown.
    pub left: usize,
    /// Of the event that has all of it.
    pub seq: u64,
}

impl Text {
    fn of(text: &str, seq: u64) -> Self {
        let end = if text.len() <= MOST_SHOWN {
            text.len()
        } else {
            text.floor_char_boundary(MOST_SHOWN)
        };
        Self {
            shown: text[..end].to_owned(),
            left: text.len() - end,
            seq,
        }
    }
}

/// The end of it, or what stands before a number.
pub async fn timeline(hub: &Hub, run_id: &str, before: Option<u64>) -> Result<Timeline, StoreError> {
    let limit = i64::try_from(MOST_EVENTS + 1).unwrap_or(i64::MAX);
    let events = hub
        .store
        .run(LatestEvents {
            run_id: run_id.to_owned(),
            before,
            limit,
        })
        .await?;
    read(events)
}

fn read(mut events: Vec<StoredEvent>) -> Result<Timeline, StoreError> {
    let has_more = events.len() > MOST_EVENTS;
    if has_more {
        // A step is shown from its start where that is possible; the one that is cut stands on the page before.
        let start = events
            .iter()
            .skip(1)
            .position(|event| is_start(&event.kind))
            .map_or(1, |place| place + 1);
        events.drain(..start);
    }
    let mut timeline = Timeline {
        earlier: events.first().filter(|_| has_more).map(|event| event.seq),
        newest: events.last().map_or(0, |event| event.seq),
        ..Timeline::default()
    };
    for event in events {
        timeline.take(&event)?;
    }
    Ok(timeline)
}

fn is_start(kind: &str) -> bool {
    matches!(kind, "step_started" | "strategy_started")
}

impl Timeline {
    fn take(&mut self, stored: &StoredEvent) -> Result<(), StoreError> {
        #[derive(Deserialize)]
        struct Told {
            ts: Timestamp,
        }
        let seq = stored.seq;
        let Told { ts: at } = serde_json::from_str(&stored.body)?;
        match serde_json::from_str(&stored.body)? {
            Event::StrategyStarted { .. } => self.entries.push(Entry::Began { seq, at }),
            Event::StepStarted { step_name, message } => {
                let began = Some((at, Text::of(&message, seq)));
                self.entries.push(Entry::Step(Step {
                    seq,
                    name: step_name,
                    began,
                    happened: Vec::new(),
                    done: None,
                }));
            }
            Event::StepCompleted { step_name, result } => {
                let text = Text::of(&result.text, seq);
                let usage = result.usage;
                self.complete(
                    step_name,
                    Done {
                        seq,
                        at,
                        result: text,
                        usage,
                        finish_reason: result.finish_reason,
                    },
                );
            }
            Event::StrategyCompleted { result, usage } => {
                self.entries.push(Entry::Completed {
                    seq,
                    at,
                    result: Text::of(&result, seq),
                    usage,
                });
            }
            Event::StrategyError { error } => {
                let message = Text::of(&error.message, seq);
                self.entries.push(Entry::Failed {
                    seq,
                    at,
                    code: error.code,
                    message,
                });
            }
            other => self.happened(seq, at, other),
        }
        Ok(())
    }

    fn happened(&mut self, seq: u64, at: Timestamp, event: Event) {
        let text = |text: &str| Text::of(text, seq);
        let said = match event {
            Event::AgentOutput {
                agent_name,
                model,
                text: output,
                usage,
            } => Said::Output {
                agent_name,
                model,
                text: text(&output),
                usage,
            },
            Event::RequestInput { agent_name, prompt, .. } => Said::Asked {
                agent_name,
                text: prompt.as_deref().map(text),
            },
            Event::RequestPermission {
                agent_name, resource, ..
            } => Said::Asked {
                agent_name,
                text: Some(text(&resource)),
            },
            Event::RequestQuestion {
                agent_name, question, ..
            } => Said::Asked {
                agent_name,
                text: Some(text(&question)),
            },
            Event::SteerQueued { text: steered } => Said::Steered(text(&steered)),
            Event::PolicyUpdated { policies, .. } => {
                Said::Policy(policies.into_iter().map(|policy| policy.name).collect())
            }
            // That it is done says nothing the output has not said.
            Event::AgentStreaming { .. }
            | Event::StrategyStarted { .. }
            | Event::StrategyCompleted { .. }
            | Event::StrategyError { .. }
            | Event::StepStarted { .. }
            | Event::StepCompleted { .. } => return,
        };
        let happened = Happened { seq, at, said };
        match self.under_way() {
            Some(step) => step.happened.push(happened),
            None => self.entries.push(Entry::Happened(happened)),
        }
    }

    fn complete(&mut self, name: String, done: Done) {
        match self.under_way().filter(|step| step.name == name) {
            Some(step) => step.done = Some(done),
            None => {
                let began = None;
                let happened = Vec::new();
                let seq = done.seq;
                self.entries.push(Entry::Step(Step {
                    seq,
                    name,
                    began,
                    happened,
                    done: Some(done),
                }));
            }
        }
    }

    /// The step that has begun and not ended.
    fn under_way(&mut self) -> Option<&mut Step> {
        match self.entries.last_mut() {
            Some(Entry::Step(step)) if step.done.is_none() => Some(step),
            Some(Entry::Step(_) | Entry::Began { .. } | Entry::Happened(_))
            | Some(Entry::Completed { .. } | Entry::Failed { .. })
            | None => None,
        }
    }
}

#[cfg(test)]
mod tests;
