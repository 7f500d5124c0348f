//! The state machine of a message. Every change, from any door, surface or timer, is decided here and nowhere else.

use countersign_protocol::a2h::CheckItem;
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use serde_json::Value;

use crate::access::{self, Actor};
use crate::limits;
use crate::message::{FileNote, Message, Outcome, Payload, Resolution, RunSource, Source, State, Task};
use crate::question::{self, Ask, Question};
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

    /// Whether an agent sent it. An agent does not learn of a hold: its command waits for the end.
    pub fn is_by_agent(&self) -> bool {
        match self {
            Self::Resolve { actor, .. } => actor.agent_id().is_some(),
            Self::Cancel | Self::Supersede { .. } => true,
            Self::Expire => false,
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
    let expiry = Resolution {
        id: resolution_id,
        outcome: Outcome::Expired,
        defaulted: false,
        value: None,
        edited: false,
        actor: Actor::expired(),
        resolved_at: now,
        comment: None,
        checklist: None,
        files: Vec::new(),
    };
    let is_overdue = is_overdue_at(message.expires_at, now);
    let decided = match command {
        Command::Resolve {
            actor,
            verdict,
            comment,
        } => {
            let outcome = verdict.outcome();
            let draft = Resolution {
                actor,
                outcome,
                comment,
                ..expiry.clone()
            };
            resolve(message, verdict, draft)?
        }
        Command::Cancel => cancel(message, expiry.clone())?,
        Command::Supersede { by } => Resolution {
            comment: Some(format!("superseded by {by}")),
            ..cancel(message, expiry.clone())?
        },
        Command::Expire if is_overdue => expiry.clone(),
        Command::Expire => return ensure_open(message).and(Err(Rejection::NotDue)),
    };
    ensure_open(message)?;
    // Before the expiry: an answer on hold came in time.
    if let Some(hold) = &message.hold {
        return Err(hold.rejection());
    }
    Ok(if is_overdue { expire(message, expiry) } else { decided })
}

/// An answer exactly at `expires_at` is still in time.
pub fn is_overdue_at(expires_at: Option<Timestamp>, now: Timestamp) -> bool {
    expires_at.is_some_and(|expires_at| now > expires_at)
}

fn ensure_open(message: &Message) -> Result<(), Rejection> {
    match &message.state {
        State::Open => Ok(()),
        State::Delivered => Err(Rejection::NotApplicable("a notify wants no answer")),
        State::Resolved(resolution) => Err(Rejection::already(&message.id, resolution)),
    }
}

/// The checks run in a fixed order: kind of message, permission, verb, value.
fn resolve(message: &Message, verdict: Verdict, draft: Resolution) -> Result<Resolution, Rejection> {
    if matches!(message.content.payload, Payload::Notify) {
        return Err(Rejection::NotApplicable("a notify wants no answer"));
    }
    if !access::may_resolve(&message.content, &draft.actor) {
        return Err(Rejection::NotAuthorized(draft.actor.to_string()));
    }
    match (&message.content.payload, verdict) {
        (Payload::Ask(ask), Verdict::Answered(value)) => answered(ask, value, Vec::new(), draft),
        (Payload::Ask(ask), Verdict::AnsweredWith { value, files }) => answered(ask, value, files, draft),
        (Payload::Ask(ask), Verdict::Wrote(text)) => wrote(ask, text, draft),
        (Payload::Ask(ask), Verdict::Declined) => declined(ask, &message.source, draft),
        (Payload::Task(task), Verdict::Completed(checklist) | Verdict::Dismissed(checklist)) => {
            finished(task, checklist, draft)
        }
        (Payload::Ask(_), Verdict::Completed(_) | Verdict::Dismissed(_)) => {
            Err(Rejection::field("resolution", "an ask is answered or declined"))
        }
        (
            Payload::Task(_),
            Verdict::Answered(_) | Verdict::AnsweredWith { .. } | Verdict::Wrote(_) | Verdict::Declined,
        ) => Err(Rejection::field("resolution", "a task is completed or dismissed")),
        (Payload::Notify, _) => Err(Rejection::NotApplicable("a notify wants no answer")),
    }
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
    let fits = question::check_ask(ask, &value, !files.is_empty())?;
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

fn cancel(message: &Message, draft: Resolution) -> Result<Resolution, Rejection> {
    match message.content.payload {
        Payload::Ask(_) => Ok(Resolution {
            actor: Actor::agent(&message.content.agent.id),
            outcome: Outcome::Cancelled,
            ..draft
        }),
        Payload::Task(_) => Err(Rejection::NotApplicable(
            "a task cannot be cancelled; it is completed or dismissed",
        )),
        Payload::Notify => Err(Rejection::NotApplicable("a notify cannot be cancelled")),
    }
}

/// Silence is not consent: only a default that the asker declared becomes the value.
fn expire(message: &Message, expiry: Resolution) -> Resolution {
    match &message.content.payload {
        Payload::Ask(ask) if ask.default_on_expire.is_some() => Resolution {
            defaulted: true,
            value: ask.default_on_expire.clone(),
            actor: Actor::default_on_expire(),
            ..expiry
        },
        Payload::Ask(_) | Payload::Task(_) | Payload::Notify => expiry,
    }
}
