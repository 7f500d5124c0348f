//! What a run did, as it stands on its page.

use countersign_hub::inbox::runs::{Done, Entry, Happened, Said, Step, Text, Timeline};
use countersign_protocol::runs::Usage;
use countersign_protocol::time::Timestamp;

use crate::frame::format::{Instant, instant, size, span};
use crate::text::{Safe, markdown};

pub struct Line {
    /// Of the event it begins with.
    pub seq: u64,
    /// Differs whenever the line does.
    pub rev: String,
    pub kind: Kind,
}

impl Line {
    pub fn class(&self) -> &'static str {
        match &self.kind {
            Kind::Step(step) => match step.ending {
                Ending::Done { .. } => "step done",
                Ending::Now { .. } => "step at-work",
                Ending::Cut => "step cut",
            },
            Kind::Note(_) => "between",
            Kind::Began { .. } | Kind::Completed { .. } | Kind::Failed { .. } => "turn",
        }
    }
}

pub enum Kind {
    /// The first segment of what is shown, or a later one.
    Began {
        at: Instant,
        is_first: bool,
    },
    Step(Box<StepLine>),
    Note(Note),
    Completed {
        at: Instant,
        result: Told,
        tokens: String,
    },
    Failed {
        at: Instant,
        is_stopped: bool,
        code: String,
        message: String,
    },
}

pub struct StepLine {
    pub name: String,
    pub began: Option<Instant>,
    /// Where it is more than what the step before came to.
    pub given: Option<Plain>,
    pub notes: Vec<Note>,
    pub ending: Ending,
}

pub enum Ending {
    Done {
        took: Option<String>,
        tokens: String,
        finish_reason: Option<String>,
        result: Told,
    },
    /// It is at work, or waits for somebody.
    Now { is_waiting: bool },
    /// The run ended before it did.
    Cut,
}

pub struct Note {
    pub at: Instant,
    pub said: NoteSaid,
}

pub enum NoteSaid {
    Output {
        agent_name: String,
        model: Option<String>,
        tokens: String,
        text: Told,
    },
    Asked {
        agent_name: String,
        text: Option<Plain>,
    },
    Steered(Plain),
    Policy(Vec<String>),
}

/// A text of an agent, rendered.
pub struct Told {
    pub html: Option<Safe>,
    pub rest: Option<Rest>,
}

/// A text as it was written.
pub struct Plain {
    pub text: String,
    pub rest: Option<Rest>,
}

/// What does not stand on the page.
pub struct Rest {
    pub seq: u64,
    pub size: String,
}

/// How the run stands, as far as it matters to its steps.
#[derive(Debug, Clone, Copy)]
pub struct Standing {
    pub is_over: bool,
    pub is_waiting: bool,
    /// What is shown goes back to its start.
    pub is_whole: bool,
}

pub fn lines(timeline: Timeline, standing: Standing) -> Vec<Line> {
    let mut before: Option<Text> = None;
    let last = timeline.entries.len();
    let mut lines = Vec::new();
    for (nth, entry) in timeline.entries.into_iter().enumerate() {
        let is_first = standing.is_whole && lines.iter().all(|line: &Line| !matches!(line.kind, Kind::Began { .. }));
        lines.push(match entry {
            Entry::Began { seq, at } => line(
                seq,
                "",
                Kind::Began {
                    at: instant(at),
                    is_first,
                },
            ),
            Entry::Step(step) => {
                let result = step.done.as_ref().map(|done| done.result.clone());
                let is_now = nth + 1 == last && !standing.is_over;
                let line = step_line(step, before.as_ref(), is_now.then_some(standing.is_waiting));
                before = result;
                line
            }
            Entry::Happened(happened) => line(happened.seq, "", Kind::Note(note(happened))),
            Entry::Completed { seq, at, result, usage } => {
                let is_said = before.as_ref().is_some_and(|before| is_same(before, &result));
                let result = if is_said {
                    Told { html: None, rest: None }
                } else {
                    told(&result)
                };
                line(
                    seq,
                    "",
                    Kind::Completed {
                        at: instant(at),
                        result,
                        tokens: tokens(usage),
                    },
                )
            }
            Entry::Failed { seq, at, code, message } => {
                let is_stopped = code == "CANCELLED";
                line(
                    seq,
                    "",
                    Kind::Failed {
                        at: instant(at),
                        is_stopped,
                        code,
                        message: message.shown,
                    },
                )
            }
        });
    }
    lines
}

fn line(seq: u64, rev: impl Into<String>, kind: Kind) -> Line {
    Line {
        seq,
        rev: rev.into(),
        kind,
    }
}

/// `waiting` is given for the step that goes on.
fn step_line(step: Step, before: Option<&Text>, waiting: Option<bool>) -> Line {
    let Step {
        seq,
        name,
        began,
        happened,
        done,
    } = step;
    let began_at = began.as_ref().map(|(at, _)| *at);
    let is_news = |text: &Text| !text.shown.is_empty() && !before.is_some_and(|before| is_same(before, text));
    let given = began.map(|(_, text)| text).filter(is_news).map(plain);
    let result = done.as_ref().map(|done| done.result.shown.clone());
    // The one agent of a step says what the step comes to.
    let is_told = |happened: &Happened| match &happened.said {
        Said::Output { agent_name, text, .. } => *agent_name == name && result.as_deref() == Some(&text.shown),
        Said::Asked { text, .. } => text
            .as_ref()
            .is_none_or(|text| before.is_some_and(|before| is_same(before, text))),
        Said::Steered(_) | Said::Policy(_) => false,
    };
    let count = happened.len();
    let notes = happened
        .into_iter()
        .filter(|happened| !is_told(happened))
        .map(note)
        .collect();
    let ending = match (done, waiting) {
        (Some(done), _) => ending(done, began_at),
        (None, Some(is_waiting)) => Ending::Now { is_waiting },
        (None, None) => Ending::Cut,
    };
    let word = match &ending {
        Ending::Done { .. } => "done",
        Ending::Now { is_waiting: true } => "waiting",
        Ending::Now { is_waiting: false } => "now",
        Ending::Cut => "cut",
    };
    let rev = format!("{word} {count}");
    line(
        seq,
        rev,
        Kind::Step(Box::new(StepLine {
            name,
            began: began_at.map(instant),
            given,
            notes,
            ending,
        })),
    )
}

fn ending(done: Done, began: Option<Timestamp>) -> Ending {
    Ending::Done {
        took: began.map(|began| span(done.at.since(began))),
        tokens: tokens(done.usage),
        finish_reason: Some(done.finish_reason).filter(|reason| !matches!(reason.as_str(), "" | "stop")),
        result: told(&done.result),
    }
}

fn is_same(one: &Text, other: &Text) -> bool {
    (&one.shown, one.left) == (&other.shown, other.left)
}

fn note(happened: Happened) -> Note {
    let said = match happened.said {
        Said::Output {
            agent_name,
            model,
            text,
            usage,
        } => NoteSaid::Output {
            agent_name,
            model,
            tokens: tokens(usage),
            text: told(&text),
        },
        Said::Asked { agent_name, text } => NoteSaid::Asked {
            agent_name,
            text: text.map(plain),
        },
        Said::Steered(text) => NoteSaid::Steered(plain(text)),
        Said::Policy(names) => NoteSaid::Policy(names),
    };
    Note {
        at: instant(happened.at),
        said,
    }
}

fn told(text: &Text) -> Told {
    let html = Some(text.shown.as_str())
        .filter(|shown| !shown.is_empty())
        .map(markdown);
    Told { html, rest: rest(text) }
}

fn plain(text: Text) -> Plain {
    let rest = rest(&text);
    Plain { text: text.shown, rest }
}

fn rest(text: &Text) -> Option<Rest> {
    let bytes = (text.shown.len() + text.left) as u64;
    (text.left > 0).then(|| Rest {
        seq: text.seq,
        size: size(bytes),
    })
}

/// Nothing where no model was at work.
pub fn tokens(usage: Usage) -> String {
    let Usage {
        prompt_tokens,
        completion_tokens,
    } = usage;
    if (prompt_tokens, completion_tokens) == (0, 0) {
        return String::new();
    }
    format!("{prompt_tokens} tokens in, {completion_tokens} out")
}
