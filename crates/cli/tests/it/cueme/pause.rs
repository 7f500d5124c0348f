use std::process::Stdio;

use serde_json::json;

use super::{AgentShell, answer, answered, envelope, item, items, wait_for_request};
use crate::harness::*;

const CONTINUE: &str = "The user says: continue.\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_shows_its_own_text_or_the_default() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let default = "Paused. Click Continue when you are ready.";
    for (args, input, title, prompt) in [
        (&[][..], String::new(), default, default),
        (&[""], String::new(), default, default),
        (
            &["Back at nine", "ignored"],
            String::new(),
            "Back at nine",
            "Back at nine",
        ),
        (&["<cueme_prompt>"], String::new(), "<cueme_prompt>", "<cueme_prompt>"),
        (
            &["-"],
            envelope("  # Lunch\nback soon "),
            "Lunch",
            "  # Lunch\nback soon ",
        ),
    ] {
        let call = [&["pause", "gavonel"], args].concat();
        let process = shell.start(&call, input);
        let id = wait_for_request(&hub, title).await;
        assert_eq!(hub.owner.get(&format!("/v1/inbox/{id}/prompt")).await.text(), prompt);
        let options = item(&hub, &id).await["question"]["options"].clone();
        assert_eq!(
            (options.as_array().map(Vec::len), &options[0]["label"]),
            (Some(1), &json!("Continue"))
        );
        answer(&hub, &id, "approve").await;
        assert_eq!(process.finish().ok(), CONTINUE, "{call:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_prints_a_typed_answer_or_a_decline() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let process = shell.start(&["pause", "gavonel", "Ready?"], "");
    answer(&hub, &wait_for_request(&hub, "Ready?").await, "look at the tests first").await;
    assert_eq!(process.finish().ok(), answered("look at the tests first"));
    let process = shell.start(&["pause", "gavonel", "Ready?"], "");
    let id = wait_for_request(&hub, "Ready?").await;
    hub.owner
        .resolve(&id, json!({"resolution": "declined", "comment": "stop here"}))
        .await
        .expect(200);
    assert_eq!(process.finish().ok(), "The user declined.\n\nReason: stop here\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_has_no_payload_and_reads_stdin_only_with_a_dash() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub).env("CUEME_STDIN_SECONDS", "1");
    let payload = format!("{}<cueme_payload>\nnull\n</cueme_payload>\n", envelope("Ready?"));
    let stderr = shell.run(&["pause", "gavonel", "-"], payload).fails(2);
    assert!(
        stderr.starts_with("error: <cueme_payload> is not supported for pause"),
        "{stderr}"
    );
    assert_eq!(items(&hub).await.len(), 0);
    let (reader, _writer) = std::io::pipe().expect("a pipe");
    let mut command = shell.command(&["pause", "gavonel", "Ready?"]);
    command.stdin(Stdio::from(reader));
    let process = Process::start(command);
    answer(&hub, &wait_for_request(&hub, "Ready?").await, "approve").await;
    assert_eq!(process.finish().ok(), CONTINUE);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_text_as_cue_and_as_pause_are_two_requests() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let (_cue, first) = shell.waiting(&hub, "gavonel", "Ready?").await;
    let pause = shell.start(&["pause", "gavonel", "Ready?"], "");
    pause.stderr_with("one earlier request").await;
    let all = items(&hub).await;
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all.iter().any(|item| item["id"] == first.as_str()));
}
