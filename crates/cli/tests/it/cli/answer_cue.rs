//! Cues of terminal agents, answered by commands: free text, files and type-ahead.

use serde_json::json;

use crate::hap::TerminalAgent;
use crate::harness::*;
use crate::tui::cues::{asked, many};

async fn file(shell: &TerminalAgent, id: &str, index: usize) -> Vec<u8> {
    let reply = shell.api.get(&format!("/v1/hap/cues/{id}/files/{index}")).await;
    assert_eq!(reply.status, 200);
    reply.body
}

#[tokio::test(flavor = "multi_thread")]
async fn any_question_of_a_terminal_takes_free_text() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let form = json!({"type": "form", "fields": [{"label": "Why"}]});
    for (nth, payload) in [json!(null), many(), json!({"type": "confirm"}), form]
        .into_iter()
        .enumerate()
    {
        let id = asked(&shell, &format!("Question {nth}?"), payload).await;
        let (args, input) = if nth % 2 == 0 {
            ("ask ann", "")
        } else {
            ("-", "ask ann\n")
        };
        hub.cli_with_input(&["answer", &id, "--text", args], input).ok();
        assert_eq!(shell.outcome(&id).await["reply"]["text"], "ask ann", "{nth}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_agents_take_free_text_only_where_allowed() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let one = bot.accepted(&select("bot")).await;
    let form = bot.accepted(&input("bot")).await;
    let output = hub.cli(&["answer", &one, "--text", "purple"]).fails(1);
    assert!(
        output.contains("takes no other text: answer with") && output.contains("green"),
        "{output}"
    );
    let output = hub.cli(&["answer", &form, "--text", "purple"]).fails(1);
    assert!(output.contains("--field"), "{output}");
    let output = hub.cli(&["answer", &one, "green", "--file", "/etc/hostname"]).fails(1);
    assert!(output.contains("takes no files"), "{output}");
    assert_eq!(bot.pull(&one).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirm_takes_the_numbers_and_labels_it_shows() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let confirm = json!({"type": "confirm", "confirm_label": "Run it", "cancel_label": "Not yet"});
    for (typed, text) in [
        ("1", "Run it"),
        ("2", "Not yet"),
        ("Run it", "Run it"),
        ("no", "Not yet"),
    ] {
        let id = asked(&shell, &format!("Run it {typed}?"), confirm.clone()).await;
        assert!(
            hub.cli(&["show", &id])
                .ok()
                .contains("  1. approve (Run it)\n  2. deny (Not yet)\n")
        );
        let output = hub.cli(&["answer", &id, "3"]).fails(1);
        assert!(
            output.contains("is not one of the options: approve (Run it), deny (Not yet)"),
            "{output}"
        );
        hub.cli(&["answer", &id, typed]).ok();
        assert_eq!(shell.outcome(&id).await["reply"]["text"], text);
    }
    let pause = json!({"agent_id": shell.agent_id, "kind": "pause"});
    let id = crate::hap::id(&shell.post(&pause).await.expect(201));
    let shown = hub.cli(&["show", &id]).ok();
    assert!(shown.contains(&format!("countersign answer {id} yes\n")), "{shown}");
    assert!(
        !shown.contains(&format!("countersign answer {id} no\n")),
        "it would be refused: {shown}"
    );
    hub.cli(&["answer", &id, "1"]).ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blank_text_is_refused() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = asked(&shell, "Why?", json!(null)).await;
    for blank in ["", "   "] {
        let output = hub.cli(&["answer", &id, "--text", blank]).fails(1);
        assert!(output.contains("--text is blank"), "{output}");
    }
    hub.owner.answer(&id, " \n").await.refused("invalid_field");
    assert_eq!(shell.get_cue(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answered_form_is_echoed_without_secrets() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let zones = json!({"label": "Zones", "options": ["eu", "us"], "allow_multiple": true});
    let id = asked(
        &shell,
        "Where?",
        json!({"type": "form", "fields": [zones, {"label": "Why"}]}),
    )
    .await;
    let output = hub
        .cli(&["answer", &id, "--field", "Zones=us", "--field", "Zones=eu"])
        .fails(1);
    assert!(
        output.contains("is given twice: put several into one, with commas between"),
        "{output}"
    );
    let output = hub
        .cli(&["answer", &id, "--field", "Zones=us,eu", "--field", "Why=load\nand rain"])
        .ok();
    assert!(
        output.ends_with(")\n  | Zones: us, eu\n  | Why: load\n  |   and rain\n"),
        "{output}"
    );
    assert_eq!(
        shell.outcome(&id).await["reply"]["text"],
        "Zones: us, eu\nWhy: load\n  and rain"
    );
    let bot = hub.agent("bot").await;
    let mut form = input("bot");
    form["request"]["schema"] = json!({"properties": {"pin": {"type": "string", "x-a2h-sensitive": true}}});
    let id = bot.accepted(&form).await;
    let output = hub.cli(&["answer", &id, "--field", "pin=hunter2"]).ok();
    assert!(
        output.contains("  | pin: (hidden)\n") && !output.contains("hunter2"),
        "{output}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn files_go_with_an_answer_or_are_the_answer() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let notes = hub.scratch().write("notes.md", "# hello\n").display().to_string();
    let large = hub
        .scratch()
        .write("large.bin", &"x\0".repeat(1_500_000))
        .display()
        .to_string();
    let id = asked(&shell, "Any notes?", many()).await;
    let output = hub
        .cli(&["answer", &id, "Blue", "Red", "--file", &notes, "--file", &large])
        .ok();
    assert!(output.contains("answered Blue, Red with 2 files by owner"), "{output}");
    let reply = shell.outcome(&id).await["reply"].clone();
    assert_eq!(reply["text"], "Blue\nRed");
    assert_eq!(
        (&reply["files"][0]["name"], &reply["files"][0]["media_type"]),
        (&json!("notes.md"), &json!("text/markdown"))
    );
    assert_eq!(reply["files"][1]["media_type"], "application/octet-stream");
    assert_eq!(file(&shell, &id, 0).await, b"# hello\n");
    assert_eq!(file(&shell, &id, 1).await.len(), 3_000_000);
    let shown = hub.cli(&["show", &id]).ok();
    assert!(
        shown.contains("notes.md (8 bytes, text/markdown)") && shown.contains("large.bin (3.0 MB"),
        "{shown}"
    );

    let id = asked(&shell, "The log?", json!(null)).await;
    hub.cli(&["answer", &id, "--file", &notes]).ok();
    assert_eq!(shell.outcome(&id).await["reply"]["text"], "");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_files_are_refused_before_anything_is_sent() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = asked(&shell, "The log?", json!(null)).await;
    let small = hub.scratch().write("a.txt", "a").display().to_string();
    let huge = hub
        .scratch()
        .write("huge.bin", &"x".repeat(8 * 1024 * 1024 + 1))
        .display()
        .to_string();
    let long = hub.scratch().write(&"x".repeat(201), "a").display().to_string();
    let eleven: Vec<&str> = (0..11).flat_map(|_| ["--file", small.as_str()]).collect();
    for (files, expected) in [
        (&["--file", &huge][..], "huge.bin: keep a file within"),
        (&["--file", &small, "--file", &small], "a.txt: two files have this name"),
        (&["--file", &long], "xx: give a plain name of 1 to 200 bytes"),
        (&["--file", "/nonexistent/b.txt"], "/nonexistent/b.txt: cannot be read"),
        (&["--file", "/"], "give a file with a name"),
        (&eleven, "an answer takes at most 10 files, not 11"),
    ] {
        let output = hub.cli(&[&["answer", &id], files].concat()).fails(1);
        assert!(output.contains(expected) && !output.contains("files["), "{output}");
    }
    hub.cli(&["answer", &id, "--decline", "--file", &small]).fails(2);
    assert_eq!(
        hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200)["status"],
        "open"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cue_shows_its_directory_and_its_waiting_agent() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = asked(&shell, "Ship \u{1b}[2J it?", json!({"type": "confirm"})).await;
    let process = shell.waiting(&hub, &id).await;
    let shown = hub.cli(&["show", &id]).ok();
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let how = format!("countersign answer {id} --file PATH");
    for expected in [
        "/home/ann/shop (zsh, claude_code)",
        "the agent has been waiting in its terminal",
        &how,
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let listed = hub.cli(&["terminals"]).ok();
    let line = listed.lines().nth(1).expect("a terminal");
    for expected in [
        shell.agent_id.as_str(),
        "waiting",
        "claude_code",
        "zsh",
        "/home/ann/shop",
    ] {
        assert!(line.contains(expected), "{expected}: {listed}");
    }
    assert_eq!(
        hub.cli(&["terminals", "--json"]).json()[0]["agent_id"],
        shell.agent_id.as_str()
    );
    process.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn type_ahead_is_added_listed_and_dropped() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    assert!(hub.cli(&["ahead", &shell.agent_id]).ok().contains("No text waits"));
    let output = hub.cli(&["ahead", &shell.agent_id, "run the tests"]).ok();
    assert!(output.contains("gets it when it asks next"), "{output}");
    let typed = hub
        .cli_with_input(&["ahead", &shell.agent_id, "-", "--json"], "then\nship\n")
        .json();
    let number = typed["id"].as_i64().expect("a number").to_string();
    let listed = hub.cli(&["ahead", &shell.agent_id]).ok();
    assert!(
        listed.contains("run the tests") && listed.contains("then\\nship"),
        "{listed}"
    );
    hub.cli(&["ahead", &shell.agent_id, "--drop", &number]).ok();
    hub.cli(&["ahead", &shell.agent_id, "--drop", &number]).fails(1);
    let waiting = hub.cli(&["ahead", &shell.agent_id, "--json"]).json();
    assert_eq!(waiting.as_array().map(Vec::len), Some(1), "{waiting}");
    let id = asked(&shell, "What now?", json!(null)).await;
    assert_eq!(shell.outcome(&id).await["reply"]["text"], "run the tests");
    let open = asked(&shell, "And then?", json!(null)).await;
    let process = shell.waiting(&hub, &open).await;
    let output = hub.cli(&["ahead", &shell.agent_id, "not for this one"]).ok();
    assert!(
        output.contains(&format!("It waits for an answer to {open} right now")),
        "{output}"
    );
    process.abort();
    hub.cli(&["ahead", "no-such-agent", "hello"]).fails(1);
    hub.cli(&["ahead", &shell.agent_id, " "]).fails(1);
}
