//! What a run did, step by step, from the events it told. A run may have told thousands: some at the end are read, and
//! before them there may be more.

use countersign_protocol::runs::{Event, Usage};
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::run::{LatestEvents, StoredEvent};
use serde::Deserialize;

use crate::app::Hub;

const MAX_EVENTS: usize = 100;
/// Of one text; the whole of it can be fetched by the number of its event.
pub const MAX_TEXT_BYTES: usize = 8 * 1024;

#[derive(Debug, Default)]
pub struct Timeline {
    pub entries: Vec<TimelineEntry>,
    /// Before this number there is more.
    pub earlier: Option<u64>,
    /// The number of the latest event that is in here.
    pub newest: u64,
}

#[derive(Debug)]
pub enum TimelineEntry {
    /// A segment.
    Began {
        seq: u64,
        at: Timestamp,
    },
    Step(TimelineStep),
    /// Between steps, as the observer of a cycle speaks.
    Note(TimelineNote),
    Completed {
        seq: u64,
        at: Timestamp,
        result: TextExcerpt,
        usage: Usage,
    },
    Failed {
        seq: u64,
        at: Timestamp,
        code: String,
        message: TextExcerpt,
    },
}

#[derive(Debug)]
pub struct TimelineStep {
    /// Of its start, or of the first that is known of it.
    pub seq: u64,
    pub name: String,
    /// Unknown where it began before the first event that is here.
    pub began: Option<(Timestamp, TextExcerpt)>,
    pub notes: Vec<TimelineNote>,
    pub done: Option<StepDone>,
}

#[derive(Debug)]
pub struct StepDone {
    pub seq: u64,
    pub at: Timestamp,
    pub result: TextExcerpt,
    pub usage: Usage,
    pub finish_reason: String,
}

#[derive(Debug)]
pub struct TimelineNote {
    pub seq: u64,
    pub at: Timestamp,
    pub kind: TimelineNoteKind,
}

#[derive(Debug)]
pub enum TimelineNoteKind {
    Output {
        agent_name: String,
        model: Option<String>,
        text: TextExcerpt,
        usage: Usage,
    },
    Asked {
        agent_name: String,
        text: Option<TextExcerpt>,
    },
    Steered(TextExcerpt),
    Policy(Vec<String>),
}

/// The start of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextExcerpt {
    pub shown: String,
    /// Bytes that are not shown.
    pub omitted_bytes: usize,
    /// Of the event that has all of it.
    pub seq: u64,
}

impl TextExcerpt {
    fn of(text: &str, seq: u64) -> Self {
        let end = if text.len() <= MAX_TEXT_BYTES {
            text.len()
        } else {
            text.floor_char_boundary(MAX_TEXT_BYTES)
        };
        Self {
            shown: text[..end].to_owned(),
            omitted_bytes: text.len() - end,
            seq,
        }
    }
}

/// The end of it, or what stands before a number.
pub async fn timeline(hub: &Hub, run_id: &str, before: Option<u64>) -> Result<Timeline, StoreError> {
    let limit = i64::try_from(MAX_EVENTS + 1).unwrap_or(i64::MAX);
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
    let has_more = events.len() > MAX_EVENTS;
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
        timeline.add_event(&event)?;
    }
    Ok(timeline)
}

fn is_start(kind: &str) -> bool {
    matches!(kind, "step_started" | "strategy_started")
}

impl Timeline {
    fn add_event(&mut self, stored: &StoredEvent) -> Result<(), StoreError> {
        #[derive(Deserialize)]
        struct EventTime {
            ts: Timestamp,
        }
        let seq = stored.seq;
        let EventTime { ts: at } = serde_json::from_str(&stored.body)?;
        match serde_json::from_str(&stored.body)? {
            Event::StrategyStarted { .. } => self.entries.push(TimelineEntry::Began { seq, at }),
            Event::StepStarted { step_name, message } => {
                let began = Some((at, TextExcerpt::of(&message, seq)));
                self.entries.push(TimelineEntry::Step(TimelineStep {
                    seq,
                    name: step_name,
                    began,
                    notes: Vec::new(),
                    done: None,
                }));
            }
            Event::StepCompleted { step_name, result } => {
                let text = TextExcerpt::of(&result.text, seq);
                let usage = result.usage;
                self.complete(
                    step_name,
                    StepDone {
                        seq,
                        at,
                        result: text,
                        usage,
                        finish_reason: result.finish_reason,
                    },
                );
            }
            Event::StrategyCompleted { result, usage } => {
                self.entries.push(TimelineEntry::Completed {
                    seq,
                    at,
                    result: TextExcerpt::of(&result, seq),
                    usage,
                });
            }
            Event::StrategyError { error } => {
                let message = TextExcerpt::of(&error.message, seq);
                self.entries.push(TimelineEntry::Failed {
                    seq,
                    at,
                    code: error.code,
                    message,
                });
            }
            other => self.add_note(seq, at, other),
        }
        Ok(())
    }

    fn add_note(&mut self, seq: u64, at: Timestamp, event: Event) {
        let text = |text: &str| TextExcerpt::of(text, seq);
        let kind = match event {
            Event::AgentOutput {
                agent_name,
                model,
                text: output,
                usage,
            } => TimelineNoteKind::Output {
                agent_name,
                model,
                text: text(&output),
                usage,
            },
            Event::RequestInput { agent_name, prompt, .. } => TimelineNoteKind::Asked {
                agent_name,
                text: prompt.as_deref().map(text),
            },
            Event::RequestPermission {
                agent_name, resource, ..
            } => TimelineNoteKind::Asked {
                agent_name,
                text: Some(text(&resource)),
            },
            Event::RequestQuestion {
                agent_name, question, ..
            } => TimelineNoteKind::Asked {
                agent_name,
                text: Some(text(&question)),
            },
            Event::SteerQueued { text: steered } => TimelineNoteKind::Steered(text(&steered)),
            Event::PolicyUpdated { policies, .. } => {
                TimelineNoteKind::Policy(policies.into_iter().map(|policy| policy.name).collect())
            }
            // That it is done says nothing the output has not said.
            Event::AgentStreaming { .. }
            | Event::StrategyStarted { .. }
            | Event::StrategyCompleted { .. }
            | Event::StrategyError { .. }
            | Event::StepStarted { .. }
            | Event::StepCompleted { .. } => return,
        };
        let note = TimelineNote { seq, at, kind };
        match self.open_step() {
            Some(step) => step.notes.push(note),
            None => self.entries.push(TimelineEntry::Note(note)),
        }
    }

    fn complete(&mut self, name: String, done: StepDone) {
        match self.open_step().filter(|step| step.name == name) {
            Some(step) => step.done = Some(done),
            None => {
                let began = None;
                let notes = Vec::new();
                let seq = done.seq;
                self.entries.push(TimelineEntry::Step(TimelineStep {
                    seq,
                    name,
                    began,
                    notes,
                    done: Some(done),
                }));
            }
        }
    }

    /// The step that has begun and not ended.
    fn open_step(&mut self) -> Option<&mut TimelineStep> {
        match self.entries.last_mut() {
            Some(TimelineEntry::Step(step)) if step.done.is_none() => Some(step),
            Some(TimelineEntry::Step(_) | TimelineEntry::Began { .. } | TimelineEntry::Note(_))
            | Some(TimelineEntry::Completed { .. } | TimelineEntry::Failed { .. })
            | None => None,
        }
    }
}

#[cfg(test)]
mod tests;
