//! The state machine of a message. Every change, from any door, surface or timer, is decided here and nowhere else.

use countersign_protocol::a2h::CheckItem;
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use serde_json::Value;

use crate::access::{self, Actor};
use crate::answer;
use crate::limits;
use crate::message::{FileNote, Message, Outcome, Payload, Resolution, RunSource, Source, State, Task};
use crate::question::{Ask, Question};
use crate::rejection::Rejection;

#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Resolve {
        actor: Actor,
        verdict: Verdict,
        comment: Option<String>,
    },
    /// Sent by the submitting agent; the caller has checked that.
    Cancel,
    /// Sent by the submitting agent, which asks a new question instead.
    Supersede { by: MessageId },
    /// Sent by the expiry timer. Refused before the expiry.
    Expire,
}

impl Command {
    /// The files that come with an answer.
    pub fn files(&self) -> &[FileNote] {
        match self {
            Self::Resolve { verdict, .. } => verdict.files(),
            Self::Cancel | Self::Supersede { .. } | Self::Expire => &[],
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    Answered(Value),
    AnsweredWith {
        value: Value,
        files: Vec<FileNote>,
    },
    /// Text typed before the options were shown; it counts as free text even if it equals an option.
    Wrote(String),
    Declined,
    Completed(Option<Vec<CheckItem>>),
    Dismissed(Option<Vec<CheckItem>>),
}

impl Verdict {
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Answered(_) | Self::AnsweredWith { .. } | Self::Wrote(_) => Outcome::Answered,
            Self::Declined => Outcome::Declined,
            Self::Completed(_) => Outcome::Completed,
            Self::Dismissed(_) => Outcome::Dismissed,
        }
    }

    fn files(&self) -> &[FileNote] {
        match self {
            Self::AnsweredWith { files, .. } => files,
            Self::Answered(_) | Self::Wrote(_) | Self::Declined | Self::Completed(_) | Self::Dismissed(_) => &[],
        }
    }
}

/// Returns the resolution of an open message. A command after the expiry does not fail: it expires the message, and the
/// caller sees the real outcome.
pub fn decide(
    message: &Message,
    command: Command,
    resolution_id: ResolutionId,
    now: Timestamp,
) -> Result<Resolution, Rejection> {
    let draft = ResolutionDraft { id: resolution_id, now };
    let decided = match command {
        Command::Resolve {
            actor,
            verdict,
            comment,
        } => resolve(message, actor, verdict, comment, &draft)?,
        Command::Cancel => cancel(message, &draft)?,
        Command::Supersede { by } => Resolution {
            comment: Some(format!("superseded by {by}")),
            ..cancel(message, &draft)?
        },
        Command::Expire if is_overdue_at(message.expires_at, now) => expire(message, &draft),
        Command::Expire => return ensure_open(message).and(Err(Rejection::NotDue)),
    };
    ensure_open(message)?;
    Ok(if is_overdue_at(message.expires_at, now) {
        expire(message, &draft)
    } else {
        decided
    })
}

/// An answer exactly at `expires_at` is still in time.
pub fn is_overdue_at(expires_at: Option<Timestamp>, now: Timestamp) -> bool {
    expires_at.is_some_and(|expires_at| now > expires_at)
}

struct ResolutionDraft {
    id: ResolutionId,
    now: Timestamp,
}

impl ResolutionDraft {
    fn by(&self, actor: Actor, outcome: Outcome) -> Resolution {
        Resolution {
            id: self.id.clone(),
            outcome,
            defaulted: false,
            value: None,
            edited: false,
            actor,
            resolved_at: self.now,
            comment: None,
            checklist: None,
            files: Vec::new(),
        }
    }
}

fn ensure_open(message: &Message) -> Result<(), Rejection> {
    match &message.state {
        State::Open => Ok(()),
        State::Delivered => Err(Rejection::NotApplicable("a notify wants no answer")),
        State::Resolved(resolution) => Err(Rejection::already(&message.id, resolution)),
    }
}

/// The checks run in a fixed order: kind of message, permission, verb, value.
fn resolve(
    message: &Message,
    actor: Actor,
    verdict: Verdict,
    comment: Option<String>,
    draft: &ResolutionDraft,
) -> Result<Resolution, Rejection> {
    if matches!(message.content.payload, Payload::Notify) {
        return Err(Rejection::NotApplicable("a notify wants no answer"));
    }
    if !access::may_resolve(&message.content, &actor) {
        return Err(Rejection::NotAuthorized(actor.to_string()));
    }
    let resolution = draft.by(actor, verdict.outcome());
    let filled = match (&message.content.payload, verdict) {
        (Payload::Ask(ask), Verdict::Answered(value)) => answered(ask, value, Vec::new(), resolution)?,
        (Payload::Ask(ask), Verdict::AnsweredWith { value, files }) => answered(ask, value, files, resolution)?,
        (Payload::Ask(ask), Verdict::Wrote(text)) => wrote(ask, text, resolution)?,
        (Payload::Ask(ask), Verdict::Declined) => declined(ask, &message.source, resolution)?,
        (Payload::Task(task), Verdict::Completed(checklist) | Verdict::Dismissed(checklist)) => {
            finished(task, checklist, resolution)?
        }
        (Payload::Ask(_), Verdict::Completed(_) | Verdict::Dismissed(_)) => {
            return Err(Rejection::field("resolution", "an ask is answered or declined"));
        }
        (
            Payload::Task(_),
            Verdict::Answered(_) | Verdict::AnsweredWith { .. } | Verdict::Wrote(_) | Verdict::Declined,
        ) => {
            return Err(Rejection::field("resolution", "a task is completed or dismissed"));
        }
        (Payload::Notify, _) => return Err(Rejection::NotApplicable("a notify wants no answer")),
    };
    Ok(Resolution { comment, ..filled })
}

fn answered(ask: &Ask, value: Value, files: Vec<FileNote>, resolution: Resolution) -> Result<Resolution, Rejection> {
    if !ask.may_respond {
        return Err(Rejection::field(
            "resolution",
            "this ask cannot be answered (allow_respond is false); decline it",
        ));
    }
    if !files.is_empty() {
        limits::check_files(&files)?;
        if !ask.open_ended {
            let message = "this ask accepts no files; answer without them";
            return Err(Rejection::field("files", message));
        }
    }
    let fits = answer::check_ask(ask, &value, !files.is_empty())?;
    Ok(Resolution {
        value: Some(value),
        edited: fits.edited,
        files,
        ..resolution
    })
}

fn wrote(ask: &Ask, text: String, resolution: Resolution) -> Result<Resolution, Rejection> {
    let answered = answered(ask, Value::String(text), Vec::new(), resolution)?;
    let edited = answered.edited || !matches!(ask.question, Question::Text);
    Ok(Resolution { edited, ..answered })
}

fn declined(ask: &Ask, source: &Source, resolution: Resolution) -> Result<Resolution, Rejection> {
    if !ask.may_decline {
        if let Source::Runs(RunSource { run_id, .. }) = source {
            let message = format!("a run cannot be declined; answer, or stop it: `countersign runs stop {run_id}`");
            return Err(Rejection::field("resolution", message));
        }
        return Err(Rejection::field(
            "resolution",
            "this ask cannot be declined (allow_ignore is false); answer it",
        ));
    }
    Ok(resolution)
}

/// The checklist must have the task's own items in order; only `done` may change.
fn finished(task: &Task, checklist: Option<Vec<CheckItem>>, resolution: Resolution) -> Result<Resolution, Rejection> {
    if let Some(items) = &checklist {
        let same = items.len() == task.checklist.len()
            && items
                .iter()
                .zip(&task.checklist)
                .all(|(theirs, ours)| theirs.text == ours.text);
        if !same {
            return Err(Rejection::field(
                "checklist",
                "send the task's own items in their order, with done set",
            ));
        }
    }
    Ok(Resolution {
        checklist,
        ..resolution
    })
}

fn cancel(message: &Message, draft: &ResolutionDraft) -> Result<Resolution, Rejection> {
    match message.content.payload {
        Payload::Ask(_) => Ok(draft.by(Actor::agent(&message.content.agent.id), Outcome::Cancelled)),
        Payload::Task(_) => Err(Rejection::NotApplicable(
            "a task cannot be cancelled; it is completed or dismissed",
        )),
        Payload::Notify => Err(Rejection::NotApplicable("a notify cannot be cancelled")),
    }
}

/// Silence is not consent: only a default that the asker declared becomes the value.
fn expire(message: &Message, draft: &ResolutionDraft) -> Resolution {
    let default = match &message.content.payload {
        Payload::Ask(ask) => ask.default_on_expire.clone(),
        Payload::Task(_) | Payload::Notify => None,
    };
    match default {
        Some(value) => Resolution {
            defaulted: true,
            value: Some(value),
            ..draft.by(Actor::default_on_expire(), Outcome::Expired)
        },
        None => draft.by(Actor::expired(), Outcome::Expired),
    }
}
