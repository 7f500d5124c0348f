//! The words people read for what they can do with an item, and for how it ended. Web, terminal and CLI take them from
//! here, so that one thing has one name on every surface. Routes, form fields and wire words are not affected.

use std::time::Duration;

use countersign_protocol::a2h::{APPROVE, DENY};

use crate::message::{Content, Message, Outcome, Payload, Resolution, State};
use crate::question::{Ask, Question};

/// An action of a person on an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Says yes to a confirm.
    Approve,
    /// Says no to a confirm.
    Deny,
    /// Completes a task.
    Done,
    /// Dismisses a task.
    CannotDo,
    /// Declines to answer.
    Skip,
    /// Hides an open item until a later time, for one person.
    Snooze,
    /// Puts a notice away.
    Archive,
    /// Sends any other answer.
    Send,
}

impl Action {
    /// The label of a button: `Can't do`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Approve => "Approve",
            Self::Deny => "Deny",
            Self::Done => "Done",
            Self::CannotDo => "Can't do",
            Self::Skip => "Skip",
            Self::Snooze => "Snooze",
            Self::Archive => "Archive",
            Self::Send => "Send",
        }
    }

    /// The word inside a sentence or beside a key: `can't do`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::Done => "done",
            Self::CannotDo => "can't do",
            Self::Skip => "skip",
            Self::Snooze => "snooze",
            Self::Archive => "archive",
            Self::Send => "send",
        }
    }

    /// What happened to the item afterwards: `Skipped`.
    pub const fn past(self) -> &'static str {
        match self {
            Self::Approve => "Approved",
            Self::Deny => "Denied",
            Self::Done => "Done",
            Self::CannotDo => "Not done",
            Self::Skip => "Skipped",
            Self::Snooze => "Snoozed",
            Self::Archive => "Archived",
            Self::Send => "Answered",
        }
    }
}

/// How an item ended. Its label is always shown beside its colour, because not all people see colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    pub label: &'static str,
    pub tone: Tone,
}

/// The colour of an ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Green: approved, done.
    Good,
    /// Red: denied.
    Bad,
    /// Amber: the time ran out.
    Late,
    /// Accent: an answer that is neither yes nor no.
    Plain,
    /// Grey: no answer was given.
    Quiet,
}

impl Tone {
    /// The name of the tone, for stylesheets.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Late => "late",
            Self::Plain => "plain",
            Self::Quiet => "quiet",
        }
    }
}

impl Ending {
    /// How a message ended; `None` while it has no resolution.
    pub fn of_message(message: &Message) -> Option<Self> {
        match &message.state {
            State::Resolved(resolution) => Some(Self::of_resolution(resolution, &message.content)),
            State::Open | State::Delivered => None,
        }
    }

    /// How a message ended. Own words of a person and sensitive answers are neither a yes nor a no.
    pub fn of_resolution(resolution: &Resolution, content: &Content) -> Self {
        let is_confirm = matches!(
            &content.payload,
            Payload::Ask(Ask {
                question: Question::Confirm { .. },
                ..
            })
        );
        let value = resolution.value.as_ref().and_then(serde_json::Value::as_str);
        let is_choice = is_confirm && !resolution.edited && !content.sensitive;
        Self::of(resolution.outcome, value.filter(|_| is_choice))
    }

    /// A no: a denied confirm, or a task that cannot be done. A skip, own words, a sensitive answer and the default of
    /// an expired ask are not.
    pub fn is_no(self) -> bool {
        self.tone == Tone::Bad
    }

    /// `confirm_value` is the answer's value if the question is a confirm. Only the protocol's own values say yes or no.
    pub fn of(outcome: Outcome, confirm_value: Option<&str>) -> Self {
        let by = |action: Action, tone| Self {
            label: action.past(),
            tone,
        };
        match (outcome, confirm_value) {
            (Outcome::Answered, Some(APPROVE)) => by(Action::Approve, Tone::Good),
            (Outcome::Answered, Some(DENY)) => by(Action::Deny, Tone::Bad),
            (Outcome::Answered, _) => by(Action::Send, Tone::Plain),
            (Outcome::Completed, _) => by(Action::Done, Tone::Good),
            (Outcome::Dismissed, _) => by(Action::CannotDo, Tone::Bad),
            (Outcome::Declined, _) => by(Action::Skip, Tone::Quiet),
            (Outcome::Expired, _) => Self {
                label: "Expired",
                tone: Tone::Late,
            },
            (Outcome::Cancelled, _) => Self {
                label: "Withdrawn",
                tone: Tone::Quiet,
            },
        }
    }
}

/// Formats a duration in its two largest units: `4 min 10 s`, `2 h 5 min`, `3 d 4 h`.
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let minutes = seconds / 60;
    let hours = seconds / 3600;
    let days = seconds / 86_400;
    let two = |large: u64, large_unit: &str, small: u64, small_unit: &str| match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    };
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => two(minutes, "min", seconds % 60, "s"),
        3600..86_400 => two(hours, "h", minutes % 60, "min"),
        _ => two(days, "d", hours % 24, "h"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_the_values_of_the_protocol_are_a_yes_or_a_no() {
        let label = |value| Ending::of(Outcome::Answered, value).label;
        assert_eq!(label(Some("approve")), "Approved");
        assert_eq!(label(Some("deny")), "Denied");
        for other in [Some("Approve"), Some("no"), None] {
            assert_eq!(label(other), "Answered", "{other:?}");
        }
    }

    #[test]
    fn an_expiry_is_never_shown_as_a_yes_even_if_its_default_is_one() {
        let ending = Ending::of(Outcome::Expired, Some("approve"));
        assert_eq!((ending.label, ending.tone), ("Expired", Tone::Late));
    }

    #[test]
    fn a_no_is_a_denied_confirm_or_a_task_that_cannot_be_done() {
        let confirm = json!({"ask": {"question": {"kind": "confirm", "options": [], "allow_edit": true}}});
        let text = json!({"ask": {"question": {"kind": "text"}}});
        let task = json!({"task": {"instructions": "Turn the key."}});
        let is_no = |matter: &Value, sensitive: bool, resolution: Value| {
            let content = json!({"agent": {"id": "coder", "run_id": "run-1", "runtime": "cli"}, "title": "May I?", "priority": "normal",
                "sensitive": sensitive, "matter": matter, "resolvers": []});
            let mut full = json!({"id": "res_00000000000000000000000000", "defaulted": false, "edited": false,
                "actor": "human:ann", "resolved_at": "2026-06-04T16:00:00.000Z"});
            full.as_object_mut()
                .unwrap()
                .extend(resolution.as_object().unwrap().clone());
            let content = serde_json::from_value(content).unwrap();
            Ending::of_resolution(&serde_json::from_value(full).unwrap(), &content).is_no()
        };
        let answered = |value: &str| json!({"outcome": "answered", "value": value});
        assert!(is_no(&confirm, false, answered("deny")));
        assert!(is_no(&task, false, json!({"outcome": "dismissed"})));
        for (matter, sensitive, resolution) in [
            (&confirm, false, answered("approve")),
            (&confirm, true, answered("deny")),
            (
                &confirm,
                false,
                json!({"outcome": "answered", "value": "deny", "edited": true}),
            ),
            (&confirm, false, json!({"outcome": "declined"})),
            (
                &confirm,
                false,
                json!({"outcome": "expired", "value": "deny", "defaulted": true}),
            ),
            (&confirm, false, json!({"outcome": "cancelled"})),
            (&text, false, answered("deny")),
            (&task, false, json!({"outcome": "completed"})),
        ] {
            assert!(
                !is_no(matter, sensitive, resolution.clone()),
                "{matter} {sensitive} {resolution}"
            );
        }
    }

    #[test]
    fn durations_have_at_most_two_units() {
        let text = |seconds| span(Duration::from_secs(seconds));
        assert_eq!([text(0), text(59), text(60)], ["0 s", "59 s", "1 min"]);
        assert_eq!(
            [text(250), text(7500), text(90_000)],
            ["4 min 10 s", "2 h 5 min", "1 d 1 h"]
        );
    }
}
