//! The agents and requests of the mailbox, in the form that the hub imports.

use countersign_protocol::hap::{CueKind, name};
use countersign_protocol::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::MailboxResolution;
use super::rows::{AgentRow, RequestRow};

const UNKNOWN: &str = "unknown";
const MAX_DIRECTORY_BYTES: usize = 4096;
const MAX_TERMINAL_CHARS: usize = 64;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MailboxAgent {
    pub agent_id: String,
    pub runtime: String,
    pub project_dir: String,
    pub terminal: String,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct MailboxRequest {
    pub request_id: String,
    pub agent_id: String,
    pub kind: CueKind,
    pub prompt: String,
    pub payload: Option<Map<String, Value>>,
    pub created_at: Timestamp,
    pub resolution: Option<MailboxResolution>,
}

impl From<AgentRow> for MailboxAgent {
    /// The original checked none of these fields; a value that the hub would refuse becomes `unknown` or empty.
    fn from(row: AgentRow) -> Self {
        let terminal = row.terminal.filter(|shell| {
            let fits = shell.chars().count() <= MAX_TERMINAL_CHARS && !shell.chars().any(char::is_control);
            fits && !shell.trim().is_empty()
        });
        Self {
            agent_id: row.agent_id,
            runtime: row
                .runtime
                .and_then(|runtime| name::runtime(&runtime))
                .unwrap_or_else(|| UNKNOWN.to_owned()),
            project_dir: row
                .project_dir
                .filter(|path| path.len() <= MAX_DIRECTORY_BYTES)
                .unwrap_or_default(),
            terminal: terminal.unwrap_or_else(|| UNKNOWN.to_owned()),
        }
    }
}

/// The time of the request: its first readable timestamp, and never in the future.
pub fn asked_at(row: &RequestRow, answered_at: Option<&str>, now: Timestamp) -> Timestamp {
    first_instant([row.created_at.as_deref(), row.updated_at.as_deref(), answered_at], now)
}

pub fn first_instant<const N: usize>(texts: [Option<&str>; N], now: Timestamp) -> Timestamp {
    let known = texts.into_iter().flatten().find_map(parse_instant);
    known.unwrap_or(now).clamp(Timestamp::from_millis(0), now)
}

/// Parses both formats: local time with its offset, from the command and the console, and UTC without one, from the MCP
/// server.
pub fn parse_instant(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    Timestamp::parse_rfc3339(text).or_else(|| Timestamp::parse_rfc3339(&format!("{text}Z")))
}

/// The kind, the payload, and the reason why a payload is left out. A pause is recognized by its payload, which the hub
/// builds itself.
pub fn payload(text: Option<&str>) -> (CueKind, Option<Map<String, Value>>, Option<&'static str>) {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    match text.map(serde_json::from_str::<Value>) {
        None | Some(Ok(Value::Null)) => (CueKind::Cue, None, None),
        Some(Ok(Value::Object(payload))) if is_pause(&payload) => (CueKind::Pause, None, None),
        Some(Ok(Value::Object(payload))) => (CueKind::Cue, Some(payload), None),
        Some(Ok(_)) | Some(Err(_)) => (
            CueKind::Cue,
            None,
            Some("its payload is no JSON object and was left out"),
        ),
    }
}

fn is_pause(payload: &Map<String, Value>) -> bool {
    let has = |key: &str, word: &str| payload.get(key).and_then(Value::as_str) == Some(word);
    has("type", "confirm") && has("variant", "pause")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_timestamp_formats_give_the_same_time() {
        let utc = Timestamp::parse_rfc3339("2026-03-01T08:00:00.250Z");
        assert!(utc.is_some());
        assert_eq!(parse_instant("2026-03-01T16:00:00.250+08:00"), utc);
        assert_eq!(parse_instant("2026-03-01 08:00:00.250000"), utc);
        assert_eq!(parse_instant("2026-03-01 08:00:00.250000+00:00"), utc);
        assert_eq!(parse_instant("yesterday"), None);
    }

    #[test]
    fn missing_and_impossible_times_are_corrected() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        assert_eq!(first_instant([None, Some("soon")], now), now);
        assert_eq!(first_instant([Some("2999-01-01 00:00:00")], now), now);
        assert_eq!(first_instant([Some("1066-10-14 00:00:00")], now).as_millis(), 0);
    }

    #[test]
    fn a_pause_is_distinguished_from_a_confirm() {
        let pause = r#"{"type":"confirm","variant":"pause","confirm_label":"Continue"}"#;
        assert_eq!(payload(Some(pause)), (CueKind::Pause, None, None));
        assert!(matches!(
            payload(Some(r#"{"type":"confirm"}"#)),
            (CueKind::Cue, Some(_), None)
        ));
        for nothing in [None, Some(""), Some(" null ")] {
            assert_eq!(payload(nothing), (CueKind::Cue, None, None));
        }
        for broken in ["[1]", "{", "\"text\""] {
            assert!(
                matches!(payload(Some(broken)), (CueKind::Cue, None, Some(_))),
                "{broken}"
            );
        }
    }

    #[test]
    fn an_agent_with_an_unknown_runtime_is_imported() {
        let agent = |runtime: &str, terminal: &str| {
            let row = AgentRow {
                agent_id: "bamolodo".to_owned(),
                runtime: Some(runtime.to_owned()),
                project_dir: None,
                terminal: Some(terminal.to_owned()),
            };
            let MailboxAgent { runtime, terminal, .. } = MailboxAgent::from(row);
            (runtime, terminal)
        };
        assert_eq!(
            agent("Claude-Code", "zsh"),
            ("claude_code".to_owned(), "zsh".to_owned())
        );
        assert_eq!(agent("日本", "\u{1b}[2J"), ("unknown".to_owned(), "unknown".to_owned()));
    }
}
