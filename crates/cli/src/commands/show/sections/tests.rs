use serde_json::json;

use super::*;

fn page(extra: &Value) -> String {
    let mut item = json!({
        "id": "msg_1", "type": "ask", "status": "open", "title": "Deploy?", "priority": "normal",
        "agent": {"id": "bot", "run_id": "r", "runtime": "cli"}, "created_at": "2026-06-04T15:00:00.000Z",
        "resolvers": ["human:ann"], "can_answer": true,
    });
    item.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    render(
        &serde_json::from_value(item).unwrap(),
        "2026-06-04T15:00:00Z".parse().unwrap(),
    )
}

#[test]
fn nothing_an_agent_writes_reaches_the_terminal_raw() {
    let evil = "\u{1b}[2J\u{202e}\u{200b}\r";
    let page = page(&json!({
        "title": evil, "body": evil, "tags": [evil], "agent": {"id": evil, "run_id": evil, "runtime": evil,
        "project": evil, "labels": {evil: evil}}, "context": [{"kind": "text", "text": evil},
        {"kind": "data", "data": {evil: evil}}, {"kind": "file", "file": {"uri": evil, "name": evil}}],
        "question": {"kind": "form", "schema": {"properties": {evil: {"enum": [evil], "description": evil}}}},
        "action": {"instructions": evil, "checklist": [{"text": evil}], "verification": evil},
        "default_on_expire": {evil: evil}, "expires_at": "2026-06-04T16:00:00.000Z",
    }));
    let raw = |letter: char| letter != '\n' && (letter.is_control() || matches!(letter, '\u{202e}' | '\u{200b}'));
    assert!(!page.contains(raw), "{page:?}");
}

#[test]
fn commands_to_type_hold_nothing_the_agent_wrote() {
    let options = json!([{"value": "$(reboot)", "label": "a"}, {"value": "b", "label": "b"}]);
    let page = page(&json!({"question": {"kind": "select", "options": options, "allow_edit": true}}));
    let commands: Vec<&str> = page
        .lines()
        .filter(|line| line.contains("countersign answer"))
        .collect();
    let expected = ["NUMBER", "--text TEXT", "--skip"];
    assert_eq!(
        commands,
        expected.map(|answer| format!("  countersign answer msg_1 {answer}"))
    );
}

#[test]
fn every_kind_of_question_says_how_it_is_answered() {
    let commands = |question: Value| {
        let page = page(&json!({ "question": question }));
        let answers = page
            .lines()
            .filter_map(|line| line.strip_prefix("  countersign answer msg_1 "));
        answers.map(str::to_owned).collect::<Vec<_>>()
    };
    let options = json!([{"value": "a", "label": "a"}]);
    let many = json!({"kind": "select", "options": options, "allow_edit": true, "many": true});
    assert_eq!(commands(many), ["NUMBER...", "--skip"]);
    let confirm = |values: &[&str]| {
        let options: Vec<Value> = values
            .iter()
            .map(|value| json!({"value": value, "label": "x"}))
            .collect();
        commands(json!({"kind": "confirm", "options": options}))
    };
    assert_eq!(confirm(&["approve", "deny"]), ["yes", "no", "--skip"]);
    assert_eq!(confirm(&["approve"]), ["yes", "--skip"], "a pause can only go on");
    assert_eq!(confirm(&["approve", "later"]), ["yes", "NUMBER", "--skip"]);
    assert_eq!(confirm(&["ship", "hold"]), ["NUMBER", "--skip"]);
    let text = commands(json!({"kind": "text"}));
    assert_eq!(text, ["--text TEXT", "-    (a text on standard input)", "--skip"]);
}

#[test]
fn a_resolved_message_shows_its_outcome_and_no_commands() {
    let resolution = json!({
        "resolution_id": "res_1", "resolution": "expired", "value": "hold", "edited": false, "defaulted": true,
        "actor": "system:default_on_expire", "resolved_at": "2026-06-04T14:59:00.000Z",
    });
    let page = page(&json!({"status": "expired", "resolution": resolution}));
    assert!(
        page.contains("expired, answered hold by system:default_on_expire, the default its asker declared"),
        "{page}"
    );
    assert!(page.contains("(1m ago)") && !page.contains("How to answer"), "{page}");
}

#[test]
fn a_cue_shows_its_terminal_and_takes_text_and_files() {
    let evil = "\u{1b}[2J";
    let source = json!({"door": "hap", "project_dir": evil, "terminal": "zsh", "runtime": evil, "supersedes": evil});
    let presence = json!({"state": "gone", "since": "2026-06-04T14:58:00.000Z"});
    let question = json!({"kind": "form", "schema": {"properties": {"a": {"type": "string"}}}});
    let cue = json!({"source": source, "presence": presence, "open_ended": true, "question": question});
    let page = page(&cue);
    assert!(!page.contains('\u{1b}'), "{page:?}");
    for text in [
        "Agent      bot\n",
        "(zsh, ",
        "gone from its terminal for 2m",
        "msg_1 --text TEXT",
        "msg_1 --file",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[test]
fn a_question_of_a_run_names_agent_run_and_strategy() {
    let page = page(&countersign_client::item::test_data::asked(&json!({"kind": "text"})));
    assert!(
        page.contains("Agent      editor, run r1\nStrategy   Topic writer\n") && !page.contains('#'),
        "{page}"
    );
    let commands: Vec<&str> = page.lines().filter(|line| line.starts_with("  countersign ")).collect();
    let expected = [
        "  countersign answer msg_1 --text TEXT    (may be empty)",
        "  countersign answer msg_1 -    (a text on standard input)",
        "  countersign runs follow r1    (the whole run)",
    ];
    assert_eq!(commands, expected);
}

#[test]
fn a_superseded_cue_says_so_and_files_are_listed() {
    let resolved = |resolution: Value| {
        let mut all = json!({"resolution_id": "res_1", "actor": "x", "resolved_at": "2026-06-04T14:59:00.000Z"});
        all.as_object_mut()
            .unwrap()
            .extend(resolution.as_object().unwrap().clone());
        page(&json!({"status": "over", "source": {"door": "hap"}, "resolution": all}))
    };
    let ended = resolved(json!({"resolution": "cancelled", "comment": "superseded by msg_2"}));
    assert!(
        ended.contains("Outcome\n  superseded by msg_2\n") && !ended.contains("Comment"),
        "{ended}"
    );
    let file = json!({"name": "a.txt", "media_type": "text/plain", "size": 3});
    let answered = resolved(json!({"resolution": "answered", "value": "", "files": [file]}));
    assert!(answered.contains("answered with a file by x"), "{answered}");
    assert!(
        answered.contains("Files sent\n  a.txt (3 bytes, text/plain)"),
        "{answered}"
    );
}

#[test]
fn a_checklist_is_shown_once_as_it_was_sent_back() {
    let action = json!({"instructions": "do", "checklist": [{"text": "one"}, {"text": "two"}]});
    let shown = |resolution: &str, checklist: Value| {
        let resolution = json!({
            "resolution_id": "res_1", "resolution": resolution, "actor": "human:ann", "checklist": checklist,
            "resolved_at": "2026-06-04T14:59:00.000Z",
        });
        let task = json!({"type": "task", "status": "completed", "action": action, "resolution": resolution});
        let page = page(&task);
        let lines = page
            .lines()
            .filter(|line| line.starts_with("Checklist") || line.contains('['));
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    let ticked = json!([{"text": "one", "done": true}, {"text": "two"}]);
    for resolution in ["completed", "dismissed"] {
        assert_eq!(
            shown(resolution, ticked.clone()),
            ["Checklist sent back", "1. [x] one", "2. [ ] two"]
        );
    }
    assert_eq!(
        shown("cancelled", Value::Null),
        ["Checklist", "1. [ ] one", "2. [ ] two"]
    );
}

#[test]
fn a_sensitive_default_is_not_shown() {
    let schema = json!({"properties": {"pin": {"type": "string", "x-a2h-sensitive": true}}});
    let form = json!({"kind": "form", "schema": schema});
    let page = page(&json!({"question": form, "default_on_expire": {"pin": "4711"}}));
    assert!(!page.contains("4711"), "{page}");
}
