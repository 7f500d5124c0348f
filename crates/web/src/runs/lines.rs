//! The timeline of a run as lines of its page.

use countersign_hub::inbox::runs::{
    StepDone, TextExcerpt, Timeline, TimelineEntry, TimelineNote, TimelineNoteKind, TimelineStep,
};
use countersign_protocol::runs::Usage;
use countersign_protocol::time::Timestamp;

use crate::language::say;
use crate::layout::formatting::{DisplayTime, display_time, size, span};
use crate::text::{SafeHtml, markdown};

pub struct TimelineLine {
    /// The `seq` of the first event of the line.
    pub seq: u64,
    /// Changes whenever the line changes.
    pub rev: String,
    pub kind: LineKind,
}

impl TimelineLine {
    pub fn class(&self) -> &'static str {
        match &self.kind {
            LineKind::Step(step) => match step.ending {
                StepEnding::Done { .. } => "step done",
                StepEnding::Now { .. } => "step at-work",
                StepEnding::Cut => "step cut",
            },
            LineKind::Note(_) => "between",
            LineKind::Began { .. } | LineKind::Completed { .. } | LineKind::Failed { .. } => "turn",
        }
    }
}

pub enum LineKind {
    /// A segment started.
    Began {
        at: DisplayTime,
        is_first: bool,
    },
    Step(Box<StepLine>),
    Note(NoteLine),
    Completed {
        at: DisplayTime,
        result: RenderedText,
        tokens: String,
    },
    Failed {
        at: DisplayTime,
        is_stopped: bool,
        code: String,
        message: String,
    },
}

pub struct StepLine {
    pub name: String,
    pub began: Option<DisplayTime>,
    /// The input, if it differs from the result of the step before.
    pub given: Option<PlainText>,
    pub notes: Vec<NoteLine>,
    pub ending: StepEnding,
}

pub enum StepEnding {
    Done {
        took: Option<String>,
        tokens: String,
        finish_reason: Option<String>,
        result: RenderedText,
    },
    /// The step is running, or waits for an answer.
    Now { is_waiting: bool },
    /// The run ended before the step did.
    Cut,
}

pub struct NoteLine {
    pub at: DisplayTime,
    pub content: NoteContent,
}

pub enum NoteContent {
    Output {
        agent_name: String,
        model: Option<String>,
        tokens: String,
        text: RenderedText,
    },
    Asked {
        agent_name: String,
        text: Option<PlainText>,
    },
    Steered(PlainText),
    Policy(Vec<String>),
}

/// Rendered Markdown of an agent.
pub struct RenderedText {
    pub html: Option<SafeHtml>,
    pub rest: Option<FullTextLink>,
}

/// Plain text, not rendered.
pub struct PlainText {
    pub text: String,
    pub rest: Option<FullTextLink>,
}

/// A link to the whole text, if the page shows only its start.
pub struct FullTextLink {
    pub seq: u64,
    pub size: String,
}

/// The state of the run, as far as it matters to its lines.
#[derive(Debug, Clone, Copy)]
pub struct RunProgress {
    pub is_over: bool,
    pub is_waiting: bool,
    /// The page reaches back to the start of the run.
    pub is_whole: bool,
}

pub fn lines(timeline: Timeline, progress: RunProgress) -> Vec<TimelineLine> {
    let mut before: Option<TextExcerpt> = None;
    let last = timeline.entries.len();
    let mut lines = Vec::new();
    for (nth, entry) in timeline.entries.into_iter().enumerate() {
        let is_first = progress.is_whole
            && lines
                .iter()
                .all(|line: &TimelineLine| !matches!(line.kind, LineKind::Began { .. }));
        lines.push(match entry {
            TimelineEntry::Began { seq, at } => line(
                seq,
                "",
                LineKind::Began {
                    at: display_time(at),
                    is_first,
                },
            ),
            TimelineEntry::Step(step) => {
                let result = step.done.as_ref().map(|done| done.result.clone());
                let is_now = nth + 1 == last && !progress.is_over;
                let line = step_line(step, before.as_ref(), is_now.then_some(progress.is_waiting));
                before = result;
                line
            }
            TimelineEntry::Note(entry) => line(entry.seq, "", LineKind::Note(note_line(entry))),
            TimelineEntry::Completed { seq, at, result, usage } => {
                let is_repeated = before.as_ref().is_some_and(|before| is_same(before, &result));
                let result = if is_repeated {
                    RenderedText { html: None, rest: None }
                } else {
                    rendered(&result)
                };
                line(
                    seq,
                    "",
                    LineKind::Completed {
                        at: display_time(at),
                        result,
                        tokens: tokens(usage),
                    },
                )
            }
            TimelineEntry::Failed { seq, at, code, message } => {
                let is_stopped = code == "CANCELLED";
                line(
                    seq,
                    "",
                    LineKind::Failed {
                        at: display_time(at),
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

fn line(seq: u64, rev: impl Into<String>, kind: LineKind) -> TimelineLine {
    TimelineLine {
        seq,
        rev: rev.into(),
        kind,
    }
}

/// `waiting` is set for the step that is still running.
fn step_line(step: TimelineStep, before: Option<&TextExcerpt>, waiting: Option<bool>) -> TimelineLine {
    let TimelineStep {
        seq,
        name,
        began,
        notes,
        done,
    } = step;
    let began_at = began.as_ref().map(|(at, _)| *at);
    let is_new = |text: &TextExcerpt| !text.shown.is_empty() && !before.is_some_and(|before| is_same(before, text));
    let given = began.map(|(_, text)| text).filter(is_new).map(plain);
    let result = done.as_ref().map(|done| done.result.shown.clone());
    // Output of the step's only agent equals the step's result, so it is not shown twice.
    let is_redundant = |note: &TimelineNote| match &note.kind {
        TimelineNoteKind::Output { agent_name, text, .. } => {
            *agent_name == name && result.as_deref() == Some(&text.shown)
        }
        TimelineNoteKind::Asked { text, .. } => text
            .as_ref()
            .is_none_or(|text| before.is_some_and(|before| is_same(before, text))),
        TimelineNoteKind::Steered(_) | TimelineNoteKind::Policy(_) => false,
    };
    let count = notes.len();
    let notes = notes
        .into_iter()
        .filter(|note| !is_redundant(note))
        .map(note_line)
        .collect();
    let ending = match (done, waiting) {
        (Some(done), _) => ending(done, began_at),
        (None, Some(is_waiting)) => StepEnding::Now { is_waiting },
        (None, None) => StepEnding::Cut,
    };
    let word = match &ending {
        StepEnding::Done { .. } => "done",
        StepEnding::Now { is_waiting: true } => "waiting",
        StepEnding::Now { is_waiting: false } => "now",
        StepEnding::Cut => "cut",
    };
    let rev = format!("{word} {count}");
    line(
        seq,
        rev,
        LineKind::Step(Box::new(StepLine {
            name,
            began: began_at.map(display_time),
            given,
            notes,
            ending,
        })),
    )
}

fn ending(done: StepDone, began: Option<Timestamp>) -> StepEnding {
    StepEnding::Done {
        took: began.map(|began| span(done.at.since(began))),
        tokens: tokens(done.usage),
        finish_reason: Some(done.finish_reason).filter(|reason| !matches!(reason.as_str(), "" | "stop")),
        result: rendered(&done.result),
    }
}

fn is_same(first: &TextExcerpt, second: &TextExcerpt) -> bool {
    (&first.shown, first.omitted_bytes) == (&second.shown, second.omitted_bytes)
}

fn note_line(note: TimelineNote) -> NoteLine {
    let content = match note.kind {
        TimelineNoteKind::Output {
            agent_name,
            model,
            text,
            usage,
        } => NoteContent::Output {
            agent_name,
            model,
            tokens: tokens(usage),
            text: rendered(&text),
        },
        TimelineNoteKind::Asked { agent_name, text } => NoteContent::Asked {
            agent_name,
            text: text.map(plain),
        },
        TimelineNoteKind::Steered(text) => NoteContent::Steered(plain(text)),
        TimelineNoteKind::Policy(names) => NoteContent::Policy(names),
    };
    NoteLine {
        at: display_time(note.at),
        content,
    }
}

fn rendered(text: &TextExcerpt) -> RenderedText {
    let html = Some(text.shown.as_str())
        .filter(|shown| !shown.is_empty())
        .map(markdown);
    RenderedText { html, rest: rest(text) }
}

fn plain(text: TextExcerpt) -> PlainText {
    let rest = rest(&text);
    PlainText { text: text.shown, rest }
}

fn rest(text: &TextExcerpt) -> Option<FullTextLink> {
    let bytes = (text.shown.len() + text.omitted_bytes) as u64;
    (text.omitted_bytes > 0).then(|| FullTextLink {
        seq: text.seq,
        size: size(bytes),
    })
}

/// Returns an empty text if no model was used.
pub fn tokens(usage: Usage) -> String {
    let Usage {
        prompt_tokens,
        completion_tokens,
    } = usage;
    if (prompt_tokens, completion_tokens) == (0, 0) {
        return String::new();
    }
    say!(
        "{input} tokens in, {output} out",
        input = prompt_tokens,
        output = completion_tokens
    )
}
