//! An item's content as lines for any kind of terminal. All text is escaped here, and the agent's text is marked as
//! quoted, so that it cannot pass for this program's output.

mod answer;
mod markdown;
mod parts;

use countersign_client::item::{ClientItem, file_label};
use countersign_client::screen::{duration_label, escape, escape_lines};
use countersign_protocol::a2h::Choice;
use countersign_protocol::api::inbox::{ChecklistStep, Choices, ItemQuestion};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use markdown::markdown;
use serde_json::Value;

use super::delivery_progress::presence;
use super::inbox_entry::InboxEntry;
use super::local_time::hub_time_label;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tone {
    Title,
    Heading,
    Plain,
    Quiet,
    Warning,
    Added,
    Removed,
    Hunk,
    Code,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub tone: Tone,
    /// One line of any length.
    pub text: String,
    pub quoted: bool,
}

fn own_piece(tone: Tone, text: impl Into<String>) -> Piece {
    Piece {
        tone,
        text: text.into(),
        quoted: false,
    }
}

fn quoted(text: &str) -> Vec<Piece> {
    let line = |line: &str| Piece {
        tone: Tone::Plain,
        text: line.to_owned(),
        quoted: true,
    };
    escape_lines(text).lines().map(line).collect()
}

fn titled(title: &str, pieces: Vec<Piece>) -> Vec<Piece> {
    if pieces.is_empty() {
        return Vec::new();
    }
    [own_piece(Tone::Plain, ""), own_piece(Tone::Heading, title)]
        .into_iter()
        .chain(pieces)
        .collect()
}

/// The whole item with its outcome, without the answer editor.
pub fn content(entry: &InboxEntry, now: Timestamp, zone: &TimeZone) -> Vec<Piece> {
    let item = &entry.item;
    let mut pieces = head(entry, now, zone);
    pieces.extend(decided(entry));
    if let Some(body) = &item.body {
        pieces.push(own_piece(Tone::Plain, ""));
        pieces.extend(markdown(body));
    }
    for (index, part) in item.context.iter().enumerate() {
        pieces.extend(parts::part(index + 1, part));
    }
    if let Some(action) = &item.action {
        pieces.extend(titled("Instructions", markdown(&action.instructions)));
        pieces.extend(titled(
            "Verification",
            markdown(action.verification.as_deref().unwrap_or_default()),
        ));
    }
    if !entry.may_respond() {
        pieces.extend(offered(item));
    }
    if let Some(default @ (Value::Object(_) | Value::Array(_))) = &item.default_on_expire {
        pieces.extend(titled("Answer at expiry", quoted(&pretty(default))));
    }
    // The head of a terminal's cue already shows this.
    if !item.is_cue() {
        pieces.extend([own_piece(Tone::Plain, ""), own_piece(Tone::Quiet, escape(&run(item)))]);
    }
    pieces
}

fn head(entry: &InboxEntry, now: Timestamp, zone: &TimeZone) -> Vec<Piece> {
    let item = &entry.item;
    let asked = format!(
        "{}, {} ago",
        hub_time_label(&item.created_at, now, zone),
        duration_label(item.created_at.age(now))
    );
    let mut pieces = vec![
        own_piece(Tone::Title, escape(&item.title)),
        own_piece(Tone::Quiet, escape(&from(item))),
        own_piece(
            Tone::Quiet,
            escape(&format!("{}{}, asked {asked}", item.kind(), priority(item))),
        ),
    ];
    if !item.tags.is_empty() {
        pieces.push(own_piece(
            Tone::Quiet,
            escape(&format!("tags: {}", item.tags.join(", "))),
        ));
    }
    if entry.is_open() && !entry.is_notice() {
        pieces.extend(
            item.expiry_text(now)
                .map(|text| own_piece(Tone::Warning, escape(&text))),
        );
        pieces.extend(presence(entry, now).map(|text| own_piece(Tone::Quiet, text)));
        pieces.extend(until(entry, now, zone));
    }
    pieces.extend(
        item.supersedes()
            .map(|ids| own_piece(Tone::Quiet, escape(&format!("supersedes {ids}")))),
    );
    if item.sensitive {
        pieces.push(own_piece(
            Tone::Quiet,
            "sensitive: answers are typed hidden and not shown again",
        ));
    }
    pieces
}

fn from(item: &ClientItem) -> String {
    if let Some(terminal) = item.terminal_label() {
        return format!("from {} in {terminal}", item.asker_with_id());
    }
    if let Some(run) = item.run_label() {
        return format!("from {} in {run}", item.asker());
    }
    let project = item
        .agent
        .project
        .as_ref()
        .map(|project| format!(", project {project}"))
        .unwrap_or_default();
    format!("from {}{project}", item.asker_with_id())
}

/// Shown only if not normal: on a small screen every line above the text counts.
fn priority(item: &ClientItem) -> String {
    if item.priority == "normal" {
        String::new()
    } else {
        format!(", {} priority", item.priority)
    }
}

fn run(item: &ClientItem) -> String {
    let agent = &item.agent;
    let labels: String = agent
        .labels
        .iter()
        .map(|(name, value)| format!(", {name}={value}"))
        .collect();
    // The head already shows the run.
    if item.is_of_run() {
        return labels.trim_start_matches(", ").to_owned();
    }
    format!("run {} ({}){labels}", agent.run_id, agent.runtime)
}

fn until(entry: &InboxEntry, now: Timestamp, zone: &TimeZone) -> Option<Piece> {
    let until = entry.item.until.as_ref()?;
    Some(own_piece(
        Tone::Quiet,
        format!("snoozed until {}", hub_time_label(until, now, zone)),
    ))
}

/// The possible answers, for people who may not answer.
fn offered(item: &ClientItem) -> Vec<Piece> {
    match (&item.question, &item.action) {
        (Some(ItemQuestion::Confirm(choices) | ItemQuestion::Select(choices)), _) => {
            titled("Offered", options(choices))
        }
        (Some(ItemQuestion::Text), _) => titled("Asked for", vec![own_piece(Tone::Plain, "a text")]),
        (Some(ItemQuestion::Form { schema }), _) => titled("Asked for", fields(schema)),
        (Some(ItemQuestion::Unknown), _) => titled(
            "Asked for",
            vec![own_piece(Tone::Plain, "something this version does not know")],
        ),
        // The checklist that was sent back replaces the original one.
        (None, Some(_)) if sent_back(item).is_some() => Vec::new(),
        (None, Some(action)) => titled("Checklist", steps(action.checklist.as_deref().unwrap_or_default())),
        (None, None) => Vec::new(),
    }
}

fn options(choices: &Choices) -> Vec<Piece> {
    let line = |(index, option): (usize, &Choice)| {
        let about = option
            .description
            .as_deref()
            .map(|text| format!(": {}", escape(text)))
            .unwrap_or_default();
        own_piece(
            Tone::Plain,
            format!("{}. {}{about}", index + 1, option_label(&option.label, &option.value)),
        )
    };
    choices.options.iter().enumerate().map(line).collect()
}

/// The label, followed by the value if they differ.
pub fn option_label(label: &str, value: &str) -> String {
    if label.eq_ignore_ascii_case(value) {
        escape(label)
    } else {
        format!("{} ({})", escape(label), escape(value))
    }
}

fn fields(schema: &Value) -> Vec<Piece> {
    let fields = countersign_core::form::fields(schema).into_iter();
    fields
        .map(|field| {
            own_piece(
                Tone::Plain,
                escape(&field.label) + if field.required { " *" } else { "" },
            )
        })
        .collect()
}

pub fn steps(steps: &[ChecklistStep]) -> Vec<Piece> {
    let line = |step: &ChecklistStep| {
        own_piece(
            Tone::Plain,
            format!("[{}] {}", if step.done { 'x' } else { ' ' }, escape(&step.text)),
        )
    };
    steps.iter().map(line).collect()
}

fn sent_back(item: &ClientItem) -> Option<&[ChecklistStep]> {
    item.resolution.as_ref()?.checklist.as_deref()
}

/// The answer beyond its first line, the comment, files and checklist.
fn decided(entry: &InboxEntry) -> Vec<Piece> {
    let Some(resolution) = &entry.item.resolution else {
        return Vec::new();
    };
    let question = entry.item.question.as_ref();
    let value = resolution.value.as_ref().map(|value| answer::answer(question, value));
    let mut pieces = titled("Answer", value.unwrap_or_default());
    pieces.extend(titled("Comment", quoted(entry.item.comment().unwrap_or_default())));
    let files = resolution
        .files
        .iter()
        .map(|file| own_piece(Tone::Plain, escape(&file_label(file))));
    pieces.extend(titled("Files sent", files.collect()));
    pieces.extend(titled(
        "Checklist sent back",
        steps(sent_back(&entry.item).unwrap_or_default()),
    ));
    pieces
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::inbox_entry::tests::entry;

    fn lines(extra: &Value) -> Vec<Piece> {
        content(
            &entry("msg_1", extra),
            "2026-06-04T15:00:05Z".parse().unwrap(),
            &TimeZone::UTC,
        )
    }

    #[test]
    fn nothing_an_agent_writes_comes_through_raw() {
        let evil = "\u{1b}[2J\u{202e}\u{200b}\r\u{9b}31m";
        let pieces = lines(&json!({
            "title": evil, "body": format!("{evil}\n{evil}"), "tags": [evil], "priority": evil, "type": evil,
            "agent": {"id": evil, "run_id": evil, "runtime": evil, "project": evil, "labels": {evil: evil}},
            "context": [{"kind": "text", "text": format!("@@ {evil}\n+{evil}")}, {"kind": "data", "data": {evil: evil}},
                {"kind": "file", "file": {"uri": evil, "name": evil, "mime_type": evil}}],
            "question": {"kind": "select", "options": [{"value": evil, "label": evil, "description": evil}]},
            "action": {"instructions": evil, "checklist": [{"text": evil}], "verification": evil},
            "default_on_expire": {evil: evil}, "expires_at": "2026-06-04T16:00:00.000Z", "can_answer": false,
        }));
        let raw = |letter: char| letter.is_control() || matches!(letter, '\u{202e}' | '\u{200b}');
        assert!(pieces.iter().all(|piece| !piece.text.contains(raw)), "{pieces:?}");
    }

    #[test]
    fn a_cue_shows_its_terminal_presence_and_superseded_cues() {
        let source = |extra: Value| {
            let mut source =
                json!({"door": "hap", "project_dir": "/srv/\u{1b}shop", "terminal": "zsh", "runtime": "codex"});
            source
                .as_object_mut()
                .unwrap()
                .extend(extra.as_object().unwrap().clone());
            source
        };
        let presence = json!({"state": "paused", "since": "2026-06-04T15:00:00.000Z"});
        let texts = |extra: &Value| lines(extra).into_iter().map(|piece| piece.text).collect::<Vec<_>>();
        let open = texts(&json!({"source": source(json!({"supersedes": "msg_8 msg_9"})), "presence": presence}));
        for text in [
            "from bot in /srv/\\u{1b}shop (zsh, codex)",
            "the agent has been paused in its terminal for 5s",
            "supersedes msg_8, msg_9",
        ] {
            assert!(open.contains(&text.to_owned()), "{text}: {open:?}");
        }
        let file = json!({"name": "a\u{202e}.txt", "media_type": "text/plain", "size": 12, "sha256": ""});
        let resolution = json!({
            "resolution_id": "res_1", "resolution": "answered", "actor": "human:ann", "files": [file],
            "resolved_at": "2026-06-04T15:00:03.000Z", "value": "see there",
        });
        let decided = texts(&json!({"source": source(json!({})), "status": "answered", "resolution": resolution}));
        assert!(
            decided.contains(&"a\\u{202e}.txt (12 bytes, text/plain)".to_owned()),
            "{decided:?}"
        );
    }

    #[test]
    fn the_head_of_a_runs_question_names_agent_and_run() {
        let asked = countersign_client::item::test_data::asked(&json!({"kind": "text"}));
        let texts: Vec<String> = lines(&asked).into_iter().map(|piece| piece.text).collect();
        assert_eq!(texts[1], "from editor in run r1 of Topic writer");
        assert_eq!(texts.last().map(String::as_str), Some("cwd=/srv"));
    }

    fn ended_task(resolution: &str, checklist: &Value) -> Vec<String> {
        let resolution = json!({
            "resolution_id": "res_1", "resolution": resolution, "actor": "human:ann", "checklist": checklist,
            "resolved_at": "2026-06-04T15:00:03.000Z",
        });
        let action = json!({"instructions": "do", "checklist": [{"text": "one"}, {"text": "two"}]});
        let task = json!({
            "type": "task", "question": null, "action": action, "status": resolution["resolution"],
            "can_answer": false, "resolution": resolution,
        });
        let texts = lines(&task).into_iter().map(|piece| piece.text);
        texts
            .filter(|text| text.starts_with('[') || text.starts_with("Checklist"))
            .collect()
    }

    #[test]
    fn a_checklist_is_shown_once_as_it_was_sent_back() {
        let ticked = json!([{"text": "one", "done": true}, {"text": "two", "done": false}]);
        for resolution in ["completed", "dismissed"] {
            assert_eq!(
                ended_task(resolution, &ticked),
                ["Checklist sent back", "[x] one", "[ ] two"]
            );
        }
        assert_eq!(
            ended_task("cancelled", &Value::Null),
            ["Checklist", "[ ] one", "[ ] two"]
        );
    }

    #[test]
    fn the_agents_text_is_quoted_and_its_question_is_not() {
        let pieces =
            lines(&json!({"body": "one\ntwo", "expires_at": "2026-06-04T15:05:05.000Z", "default_on_expire": "deny"}));
        let texts: Vec<(&str, bool)> = pieces.iter().map(|piece| (piece.text.as_str(), piece.quoted)).collect();
        let expected = [
            ("Title of msg_1", false),
            ("from bot", false),
            ("confirm, asked 15:00:00, 5s ago", false),
            ("expires in 5m, then answers \"deny\"", false),
            ("", false),
            ("one", true),
            ("two", true),
            ("", false),
            ("run r (cli)", false),
        ];
        assert_eq!(texts, expected);
    }
}
