//! The outcome for programs: one line of JSON, and the same exit codes as `countersign wait`.

use std::process::ExitCode;

use countersign_protocol::hap::CueKind;
use serde_json::{Map, Value, json};

use super::earlier_answers::EarlierAnswer;
use super::files::SavedFile;
use super::print_outcome::AskedCue;
use super::terminal::out;
use super::wait::WaitOutcome;
use super::wire::{CueStatus, CueView};

/// Exit codes, as listed in docs/cli.md.
mod codes {
    pub const YES: u8 = 0;
    pub const NO: u8 = 10;
    pub const DECLINED: u8 = 11;
    pub const EXPIRED: u8 = 12;
    pub const CANCELLED: u8 = 13;
    pub const OPEN: u8 = 14;
}

pub fn exit_code(outcome: &WaitOutcome) -> ExitCode {
    ExitCode::from(code_of(outcome))
}

fn code_of(outcome: &WaitOutcome) -> u8 {
    match outcome {
        WaitOutcome::StillOpen { .. } => codes::OPEN,
        WaitOutcome::Settled(cue) => match cue.status {
            // A confirm counts as a yes only with its first choice.
            CueStatus::Answered if cue.confirmed == Some(false) => codes::NO,
            CueStatus::Answered => codes::YES,
            CueStatus::Declined => codes::DECLINED,
            CueStatus::Expired => codes::EXPIRED,
            CueStatus::Cancelled => codes::CANCELLED,
            CueStatus::Open => codes::OPEN,
        },
    }
}

/// The outcome as one line of JSON; fields that do not apply are left out.
pub fn line(asked: &AskedCue, outcome: &WaitOutcome, saved: &[SavedFile], earlier: &[EarlierAnswer]) -> String {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), asked.id.into());
    fields.insert("agent_id".to_owned(), asked.agent_id.into());
    match outcome {
        WaitOutcome::StillOpen { .. } => {
            fields.insert("status".to_owned(), json!(CueStatus::Open));
            fields.insert(
                "resume".to_owned(),
                format!("cueme resume {}", out::shell_quoted(asked.agent_id)).into(),
            );
        }
        WaitOutcome::Settled(cue) => insert_outcome(&mut fields, asked.kind, cue, saved),
    }
    if !earlier.is_empty() {
        fields.insert("earlier".to_owned(), earlier.iter().map(earlier_object).collect());
    }
    format!("{}\n", Value::Object(fields))
}

fn earlier_object(earlier: &EarlierAnswer) -> Value {
    let cue = &earlier.cue;
    let mut fields = Map::new();
    fields.insert("id".to_owned(), cue.id.as_str().into());
    fields.insert("title".to_owned(), json!(cue.title));
    insert_outcome(&mut fields, None, cue, &earlier.saved);
    Value::Object(fields)
}

fn insert_outcome(fields: &mut Map<String, Value>, asked: Option<CueKind>, cue: &CueView, saved: &[SavedFile]) {
    let mut insert = |name: &str, value: Value| {
        if !value.is_null() {
            fields.insert(name.to_owned(), value);
        }
    };
    insert("status", json!(cue.status));
    insert("kind", json!(cue.kind.or(asked)));
    if cue.status == CueStatus::Answered {
        insert("text", cue.reply.text.trim().into());
        insert("value", cue.value.clone());
        insert("files", saved.iter().map(SavedFile::as_json).collect());
    }
    match cue.superseded_by() {
        Some(by) => insert("superseded_by", by.into()),
        None => insert("comment", cue.comment().into()),
    }
    insert("actor", cue.actor.clone().into());
    insert("resolved_at", cue.resolved_at.clone().into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::sample::{ASKED, STILL_OPEN, earlier, settled};

    #[test]
    fn every_outcome_has_its_exit_code() {
        for (status, number) in [("answered", 0), ("declined", 11), ("expired", 12), ("cancelled", 13)] {
            assert_eq!(code_of(&settled(status, json!({}))), number, "{status}");
        }
        assert_eq!(code_of(&STILL_OPEN), 14);
    }

    #[test]
    fn only_the_first_choice_of_a_confirm_is_a_yes() {
        let number = |more: Value| code_of(&settled("answered", more));
        assert_eq!(number(json!({"value": "approve", "confirmed": true})), 0);
        assert_eq!(number(json!({"value": "yes, but later", "confirmed": false})), 10);
        assert_eq!(number(json!({"value": "deny", "confirmed": null})), 0);
    }

    #[test]
    fn the_line_has_only_the_fields_that_apply() {
        let outcome = settled(
            "answered",
            json!({"value": ["a"], "reply": {"text": "a"}, "actor": "human:ann"}),
        );
        let expected = r#"{"id":"msg_1","agent_id":"gavonel","status":"answered","kind":"cue","text":"a","value":["a"],"files":[],"actor":"human:ann"}"#;
        assert_eq!(line(&ASKED, &outcome, &[], &[]), format!("{expected}\n"));
        let by = settled("cancelled", json!({"reply": {"comment": "superseded by msg_2"}}));
        assert!(line(&ASKED, &by, &[], &[]).contains(r#""superseded_by":"msg_2""#));
        let open = line(&ASKED, &STILL_OPEN, &[], &[]);
        assert!(
            open.contains(r#""status":"open","resume":"cueme resume gavonel"}"#),
            "{open}"
        );
    }

    #[test]
    fn earlier_answers_are_listed_beside_the_outcome() {
        let declined = earlier("declined", "Drop it?", json!({"reply": {"comment": "never"}}));
        let fields: Value = serde_json::from_str(&line(&ASKED, &STILL_OPEN, &[], &[declined])).expect("JSON");
        let expected = json!([
            {"id": "msg_0", "title": "Drop it?", "status": "declined", "kind": "cue", "comment": "never"},
        ]);
        assert_eq!((&fields["status"], &fields["earlier"]), (&json!("open"), &expected));
    }
}
