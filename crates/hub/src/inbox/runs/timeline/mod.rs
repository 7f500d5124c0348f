//! The timeline of a run, step by step, built from its stored events. A run may have thousands of events, so one page
//! reads the latest ones and says whether there are earlier ones.

use countersign_protocol::runs::{Event, Usage};
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::ops::run::{LatestEvents, StoredEvent};
use serde::Deserialize;

use crate::Hub;

const MAX_EVENTS: usize = 100;
/// Limit of one text on the page; the whole text can be fetched by the `seq` of its event.
pub const MAX_TEXT_BYTES: usize = 8 * 1024;

#[derive(Debug, Default)]
pub struct Timeline {
    pub entries: Vec<TimelineEntry>,
    /// There are more events before this `seq`.
    pub earlier: Option<u64>,
    /// The `seq` of the latest event on this page.
    pub newest: u64,
}

#[derive(Debug)]
pub enum TimelineEntry {
    /// A segment started.
    Began {
        seq: u64,
        at: Timestamp,
    },
    Step(TimelineStep),
    /// An event between steps, such as output of a cycle's observer.
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
    /// The `seq` of its start, or of its first event on this page.
    pub seq: u64,
    pub name: String,
    /// The start of the step and its input; `None` if it started before the first event on this page.
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
    /// Number of bytes that were cut off.
    pub omitted_bytes: usize,
    /// The `seq` of the event that has the whole text.
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

/// Returns the latest page of the timeline, or the page before a `seq`.
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
        // The page starts at the start of a step if possible; the step that would be cut is on the page before.
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
                ..
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
            // The end of streaming adds nothing to the output event.
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

    /// The step that has started and not ended.
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
