//! The outcome for programs: one line of JSON, and the exit codes of `countersign wait`.

use std::process::ExitCode;

use countersign_protocol::hap::CueKind;
use serde_json::{Map, Value, json};

use super::earlier::Earlier;
use super::files::Saved;
use super::finish::Asked;
use super::terminal::out;
use super::wait::Waited;
use super::wire::{Cued, Status};

/// docs/cli.md lists them.
mod number {
    pub const YES: u8 = 0;
    pub const NO: u8 = 10;
    pub const DECLINED: u8 = 11;
    pub const EXPIRED: u8 = 12;
    pub const CANCELLED: u8 = 13;
    pub const OPEN: u8 = 14;
}

pub fn code(waited: &Waited) -> ExitCode {
    ExitCode::from(number_of(waited))
}

fn number_of(waited: &Waited) -> u8 {
    match waited {
        Waited::StillOpen { .. } => number::OPEN,
        Waited::Settled(cued) => match cued.status {
            // In other words than its first choice a confirm opens no gate.
            Status::Answered if cued.confirmed == Some(false) => number::NO,
            Status::Answered => number::YES,
            Status::Declined => number::DECLINED,
            Status::Expired => number::EXPIRED,
            Status::Cancelled => number::CANCELLED,
            Status::Open => number::OPEN,
        },
    }
}

/// What does not apply is left out.
pub fn line(asked: &Asked, waited: &Waited, saved: &[Saved], earlier: &[Earlier]) -> String {
    let mut told = Map::new();
    told.insert("id".to_owned(), asked.id.into());
    told.insert("agent_id".to_owned(), asked.agent_id.into());
    match waited {
        Waited::StillOpen { .. } => {
            told.insert("status".to_owned(), json!(Status::Open));
            told.insert(
                "resume".to_owned(),
                format!("cueme resume {}", out::quoted(asked.agent_id)).into(),
            );
        }
        Waited::Settled(cued) => settled(&mut told, asked.kind, cued, saved),
    }
    if !earlier.is_empty() {
        told.insert("earlier".to_owned(), earlier.iter().map(asked_before).collect());
    }
    format!("{}\n", Value::Object(told))
}

fn asked_before(earlier: &Earlier) -> Value {
    let cued = &earlier.cued;
    let mut told = Map::new();
    told.insert("id".to_owned(), cued.id.as_str().into());
    told.insert("title".to_owned(), json!(cued.title));
    settled(&mut told, None, cued, &earlier.saved);
    Value::Object(told)
}

fn settled(told: &mut Map<String, Value>, asked: Option<CueKind>, cued: &Cued, saved: &[Saved]) {
    let mut tell = |name: &str, value: Value| {
        if !value.is_null() {
            told.insert(name.to_owned(), value);
        }
    };
    tell("status", json!(cued.status));
    tell("kind", json!(cued.kind.or(asked)));
    if cued.status == Status::Answered {
        tell("text", cued.reply.text.trim().into());
        tell("value", cued.value.clone());
        tell("files", saved.iter().map(Saved::as_json).collect());
    }
    match cued.superseded_by() {
        Some(by) => tell("superseded_by", by.into()),
        None => tell("comment", cued.comment().into()),
    }
    tell("actor", cued.actor.clone().into());
    tell("resolved_at", cued.resolved_at.clone().into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::sample::{ASKED, STILL_OPEN, earlier, settled};

    #[test]
    fn every_end_has_its_own_number() {
        for (status, number) in [("answered", 0), ("declined", 11), ("expired", 12), ("cancelled", 13)] {
            assert_eq!(number_of(&settled(status, json!({}))), number, "{status}");
        }
        assert_eq!(number_of(&STILL_OPEN), 14);
    }

    #[test]
    fn only_the_first_choice_of_a_confirm_is_a_yes() {
        let number = |more: Value| number_of(&settled("answered", more));
        assert_eq!(number(json!({"value": "approve", "confirmed": true})), 0);
        assert_eq!(number(json!({"value": "yes, but later", "confirmed": false})), 10);
        assert_eq!(number(json!({"value": "deny", "confirmed": null})), 0);
    }

    #[test]
    fn the_line_tells_what_applies_and_no_more() {
        let waited = settled(
            "answered",
            json!({"value": ["a"], "reply": {"text": "a"}, "actor": "human:ann"}),
        );
        let expected = r#"{"id":"msg_1","agent_id":"gavonel","status":"answered","kind":"cue","text":"a","value":["a"],"files":[],"actor":"human:ann"}"#;
        assert_eq!(line(&ASKED, &waited, &[], &[]), format!("{expected}\n"));
        let by = settled("cancelled", json!({"reply": {"comment": "superseded by msg_2"}}));
        assert!(line(&ASKED, &by, &[], &[]).contains(r#""superseded_by":"msg_2""#));
        let open = line(&ASKED, &STILL_OPEN, &[], &[]);
        assert!(
            open.contains(r#""status":"open","resume":"cueme resume gavonel"}"#),
            "{open}"
        );
    }

    #[test]
    fn what_was_kept_is_told_beside_the_outcome() {
        let declined = earlier("declined", "Drop it?", json!({"reply": {"comment": "never"}}));
        let told: Value = serde_json::from_str(&line(&ASKED, &STILL_OPEN, &[], &[declined])).expect("JSON");
        let expected = json!([
            {"id": "msg_0", "title": "Drop it?", "status": "declined", "kind": "cue", "comment": "never"},
        ]);
        assert_eq!((&told["status"], &told["earlier"]), (&json!("open"), &expected));
    }
}
