//! Reports an outcome: as exit code, as JSON and as text.

use countersign_agent::{Answer, CheckItem, Outcome, Resolved, Ticket, text_schema};
use countersign_client::screen::{self, escape_lines};
use countersign_core::vocabulary::Ending;
use countersign_protocol::a2h::APPROVE;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::commands::Finished;

/// The exit codes that scripts branch on, listed in docs/cli.md.
pub mod code {
    pub const YES: u8 = 0;
    pub const FAILED: u8 = 1;
    pub const NO: u8 = 10;
    pub const DECLINED: u8 = 11;
    pub const EXPIRED: u8 = 12;
    pub const CANCELLED: u8 = 13;
    pub const OPEN: u8 = 14;
    pub const LOST: u8 = 15;
    pub const REFUSED: u8 = 20;
}

/// The part of the question that the exit code and the printed answer depend on.
#[derive(Debug, Clone, PartialEq)]
pub enum AskedQuestion {
    Confirm { yes: String },
    Text,
    Other,
}

impl AskedQuestion {
    /// Read from the sent envelope. A confirm without options has the protocol's defaults.
    pub fn in_envelope(envelope: &Value) -> Self {
        let request = &envelope["request"];
        if request["schema"].as_object() == Some(&text_schema()) {
            return Self::Text;
        }
        if request["mode"] != "confirm" {
            return Self::Other;
        }
        let yes = request
            .pointer("/options/0/value")
            .and_then(Value::as_str)
            .unwrap_or(APPROVE);
        Self::Confirm { yes: yes.to_owned() }
    }

    pub fn in_bytes(envelope: &[u8]) -> Option<Self> {
        serde_json::from_slice(envelope)
            .ok()
            .map(|envelope: Value| Self::in_envelope(&envelope))
    }
}

/// Only the first option of a confirm is a yes: an edited answer must not open a gate.
pub fn exit_code(outcome: &Outcome, asked: &AskedQuestion) -> u8 {
    match (outcome, asked) {
        (
            Outcome::Answered {
                value: Answer::Choice(value),
                ..
            },
            AskedQuestion::Confirm { yes },
        ) if value == yes => code::YES,
        (Outcome::Answered { .. }, AskedQuestion::Confirm { .. }) => code::NO,
        (Outcome::Answered { .. }, AskedQuestion::Text | AskedQuestion::Other) | (Outcome::Completed { .. }, _) => {
            code::YES
        }
        (Outcome::Declined | Outcome::Dismissed { .. }, _) => code::DECLINED,
        (Outcome::Expired { .. }, _) => code::EXPIRED,
        (Outcome::Cancelled, _) => code::CANCELLED,
    }
}

pub fn resolution(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Answered { .. } => "answered",
        Outcome::Declined => "declined",
        Outcome::Cancelled => "cancelled",
        Outcome::Expired { .. } => "expired",
        Outcome::Completed { .. } => "completed",
        Outcome::Dismissed { .. } => "dismissed",
    }
}

/// The word people read for an outcome: `skipped`. The answer is not in it.
pub fn ending(outcome: &Outcome) -> String {
    let word = resolution(outcome);
    let outcome = word.parse::<countersign_core::Outcome>();
    outcome.map_or(word.to_owned(), |outcome| {
        Ending::of(outcome, None).label.to_lowercase()
    })
}

fn answer(outcome: &Outcome) -> Option<&Answer> {
    match outcome {
        Outcome::Answered { value, .. } => Some(value),
        Outcome::Expired { default } => default.as_ref(),
        Outcome::Declined | Outcome::Cancelled | Outcome::Completed { .. } | Outcome::Dismissed { .. } => None,
    }
}

/// The answer alone, for standard output; empty if there is none.
pub fn answer_line(outcome: &Outcome, asked: &AskedQuestion) -> String {
    let answer = answer(outcome);
    if *asked == AskedQuestion::Text
        && let Some(text) = answer.and_then(Answer::text)
    {
        return escape_lines(text) + "\n";
    }
    match answer {
        Some(Answer::Choice(value)) => escape_lines(value) + "\n",
        Some(Answer::Form(fields)) => screen::json(&Value::Object(fields.clone())),
        None => String::new(),
    }
}

/// The decision and its actor, for standard error. The answer is left out because it may be sensitive.
pub fn outcome_line(resolved: &Resolved) -> String {
    let id = &resolved.message_id;
    let by = resolved.actor.as_ref();
    let by = by.map(|actor| format!(" by {}", screen::actor_label(actor)));
    let by = by.unwrap_or_default();
    let how = match &resolved.outcome {
        Outcome::Answered { edited: true, .. } => format!("answered in other words{by}"),
        Outcome::Expired { default: Some(_) } => "expired without an answer: the default counts".to_owned(),
        Outcome::Expired { default: None } => "expired without an answer".to_owned(),
        other => format!("{}{by}", ending(other)),
    };
    let comment = resolved
        .comment
        .as_ref()
        .map(|comment| format!(": {comment}"))
        .unwrap_or_default();
    format!("{id} {how}{comment}")
}

/// The result of a command whose input failed verification.
pub fn refused(code: &str, reason: &str, as_json: bool) -> Finished {
    screen::print_error(reason);
    let refusal = json!({"ok": false, "code": code, "reason": reason});
    Finished::with_code(
        if as_json { screen::json(&refusal) } else { String::new() },
        code::REFUSED,
    )
}

/// The JSON object for machines, the same for push and pull. Fields that do not apply are omitted.
#[derive(Debug, Serialize)]
pub struct OutcomeReport<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<&'a str>,
    status: &'static str,
    #[serde(flatten)]
    ended: Option<ReportedOutcome<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    act: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct ReportedOutcome<'a> {
    resolution: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<ReportedValue<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edited: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    defaulted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<&'a str>,
    resolution_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    checklist: Option<&'a [CheckItem]>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ReportedValue<'a> {
    Choice(&'a str),
    Form(&'a Map<String, Value>),
}

impl<'a> OutcomeReport<'a> {
    /// For a message without an outcome: `open`, or `delivered` for a notify.
    pub fn of_status(status: &'static str, ticket: &'a Ticket) -> Self {
        let key = Some(ticket.idempotency_key.as_str()).filter(|key| !key.is_empty());
        Self {
            id: ticket.message_id.as_deref(),
            idempotency_key: key,
            status,
            ended: None,
            state: None,
            act: None,
        }
    }

    pub fn of_outcome(resolved: &'a Resolved) -> Self {
        let outcome = &resolved.outcome;
        let ended = ReportedOutcome {
            resolution: resolution(outcome),
            value: answer(outcome).map(|answer| match answer {
                Answer::Choice(value) => ReportedValue::Choice(value),
                Answer::Form(fields) => ReportedValue::Form(fields),
            }),
            edited: if let Outcome::Answered { edited, .. } = outcome {
                Some(*edited)
            } else {
                None
            },
            defaulted: if let Outcome::Expired { default } = outcome {
                Some(default.is_some())
            } else {
                None
            },
            actor: resolved.actor.as_deref(),
            resolved_at: resolved.resolved_at.as_deref(),
            comment: resolved.comment.as_deref(),
            resolution_id: &resolved.resolution_id,
            checklist: match outcome {
                Outcome::Completed { checklist } | Outcome::Dismissed { checklist } => Some(checklist),
                Outcome::Answered { .. } | Outcome::Declined | Outcome::Cancelled | Outcome::Expired { .. } => None,
            },
        };
        Self {
            id: Some(&resolved.message_id),
            idempotency_key: resolved.idempotency_key.as_deref().filter(|key| !key.is_empty()),
            status: ended.resolution,
            ended: Some(ended),
            state: None,
            act: None,
        }
    }

    /// Adds the state that was sent along.
    pub fn with_state(mut self, resolved: &'a Resolved) -> Self {
        self.state = resolved.state.as_deref();
        self
    }

    /// Adds the result of the command that was run for the outcome.
    pub fn with_act(mut self, act: &'static str) -> Self {
        self.act = Some(act);
        self
    }

    /// One line of JSON for a terminal.
    pub fn line(&self) -> anyhow::Result<String> {
        Ok(screen::json(&serde_json::to_value(self)?))
    }

    /// JSON for a program, with the state's original spelling.
    pub fn text(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

#[cfg(test)]
pub mod sample {
    use super::*;

    pub fn resolved(outcome: Outcome) -> Resolved {
        Resolved {
            message_id: "msg_1".to_owned(),
            idempotency_key: None,
            resolution_id: "res_1".to_owned(),
            actor: Some("human:ann".to_owned()),
            resolved_at: Some("2026-06-04T15:48:30Z".to_owned()),
            comment: None,
            outcome,
            state: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sample::resolved;
    use super::*;

    fn answered(value: &str) -> Outcome {
        Outcome::Answered {
            value: Answer::Choice(value.to_owned()),
            edited: false,
        }
    }

    #[test]
    fn only_the_first_choice_of_a_confirm_is_a_yes() {
        let plain = AskedQuestion::in_envelope(&json!({"request": {"mode": "confirm"}}));
        let options = json!([{"value": "go", "label": "Go"}, {"value": "stop", "label": "Stop"}]);
        let own = AskedQuestion::in_envelope(&json!({"request": {"mode": "confirm", "options": options}}));
        let select = AskedQuestion::in_envelope(&json!({"request": {"mode": "select", "options": options}}));
        assert_eq!(exit_code(&answered("approve"), &plain), 0);
        assert_eq!(exit_code(&answered("deny"), &plain), 10);
        assert_eq!(exit_code(&answered("go"), &own), 0);
        for value in ["stop", "approve", "only on Monday"] {
            assert_eq!(exit_code(&answered(value), &own), 10, "{value}");
        }
        assert_eq!(exit_code(&answered("stop"), &select), 0);
    }

    #[test]
    fn every_end_has_its_own_code() {
        let default = Some(Answer::Choice("approve".to_owned()));
        let confirm = AskedQuestion::Confirm {
            yes: "approve".to_owned(),
        };
        for (outcome, code) in [
            (Outcome::Declined, 11),
            (Outcome::Dismissed { checklist: vec![] }, 11),
            (Outcome::Expired { default: None }, 12),
            (Outcome::Expired { default }, 12),
            (Outcome::Cancelled, 13),
            (Outcome::Completed { checklist: vec![] }, 0),
        ] {
            assert_eq!(exit_code(&outcome, &confirm), code, "{outcome:?}");
        }
    }

    #[test]
    fn the_report_has_only_fields_that_apply() {
        let line = |outcome, key: &str| {
            let resolved = Resolved {
                idempotency_key: Some(key.to_owned()),
                ..resolved(outcome)
            };
            let line = OutcomeReport::of_outcome(&resolved).line().unwrap();
            serde_json::from_str::<Value>(&line).unwrap()
        };
        let expected = json!({
            "id": "msg_1", "idempotency_key": "k", "status": "answered", "resolution": "answered", "value": "a\u{1b}",
            "edited": false, "actor": "human:ann", "resolved_at": "2026-06-04T15:48:30Z", "resolution_id": "res_1",
        });
        assert_eq!(line(answered("a\u{1b}"), "k"), expected);
        let expected = json!({
            "id": "msg_1", "status": "expired", "resolution": "expired", "defaulted": false, "actor": "human:ann",
            "resolved_at": "2026-06-04T15:48:30Z", "resolution_id": "res_1",
        });
        assert_eq!(line(Outcome::Expired { default: None }, ""), expected);
    }

    #[test]
    fn a_program_gets_the_state_with_its_original_spelling() {
        let mut resolved = resolved(Outcome::Declined);
        resolved.state = RawValue::from_string("{\n \"n\": 1.50}".to_owned()).ok();
        let report = OutcomeReport::of_outcome(&resolved).with_state(&resolved);
        assert!(report.text().unwrap().contains("{\n \"n\": 1.50}"));
        let line = report.line().unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&line).unwrap()["state"],
            json!({"n": 1.5})
        );
        assert_eq!(line.lines().count(), 1);
    }

    #[test]
    fn a_question_for_a_text_prints_the_text_alone() {
        let asked = |schema| AskedQuestion::in_envelope(&json!({"request": {"mode": "input", "schema": schema}}));
        let text = Outcome::Answered {
            value: Answer::Form(json!({"answer": "dry\nwit\u{1b}"}).as_object().unwrap().clone()),
            edited: false,
        };
        let free_text = asked(Value::Object(text_schema()));
        assert_eq!(free_text, AskedQuestion::Text);
        assert_eq!(answer_line(&text, &free_text), "dry\nwit\\u{1b}\n");
        let own_form = asked(json!({"properties": {"answer": {"type": "string"}}}));
        assert!(answer_line(&text, &own_form).starts_with('{'), "a form stays JSON");
    }

    #[test]
    fn answers_cannot_inject_terminal_escapes() {
        assert_eq!(
            answer_line(&answered("a\u{1b}[2J"), &AskedQuestion::Other),
            "a\\u{1b}[2J\n"
        );
        let form = json!({"name": "\u{202e}x"}).as_object().unwrap().clone();
        let filled = Outcome::Answered {
            value: Answer::Form(form),
            edited: false,
        };
        assert_eq!(answer_line(&filled, &AskedQuestion::Other), "{\"name\":\"\\u202ex\"}\n");
        assert_eq!(answer_line(&Outcome::Declined, &AskedQuestion::Text), "");
    }
}
