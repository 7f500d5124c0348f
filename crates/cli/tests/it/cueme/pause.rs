use std::process::Stdio;

use serde_json::json;

use super::{Desk, answer, answered, envelope, item, items, waited_for};
use crate::harness::*;

const CONTINUE: &str = "The user says: continue.\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_says_its_own_words_or_the_usual_ones() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let usual = "Paused. Click Continue when you are ready.";
    for (words, input, title, prompt) in [
        (&[][..], String::new(), usual, usual),
        (&[""], String::new(), usual, usual),
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
        let call = [&["pause", "gavonel"], words].concat();
        let process = desk.start(&call, input);
        let id = waited_for(&hub, title).await;
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
async fn a_pause_ends_with_what_was_typed_or_declined() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let process = desk.start(&["pause", "gavonel", "Ready?"], "");
    answer(&hub, &waited_for(&hub, "Ready?").await, "look at the tests first").await;
    assert_eq!(process.finish().ok(), answered("look at the tests first"));
    let process = desk.start(&["pause", "gavonel", "Ready?"], "");
    let id = waited_for(&hub, "Ready?").await;
    hub.owner
        .resolve(&id, json!({"resolution": "declined", "comment": "stop here"}))
        .await
        .expect(200);
    assert_eq!(process.finish().ok(), "The user declined.\n\nReason: stop here\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_has_no_payload_and_reads_stdin_only_when_told() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub).env("CUEME_STDIN_SECONDS", "1");
    let payload = format!("{}<cueme_payload>\nnull\n</cueme_payload>\n", envelope("Ready?"));
    let said = desk.run(&["pause", "gavonel", "-"], payload).fails(2);
    assert!(
        said.starts_with("error: <cueme_payload> is not supported for pause"),
        "{said}"
    );
    assert_eq!(items(&hub).await.len(), 0);
    let (reader, _writer) = std::io::pipe().expect("a pipe");
    let mut command = desk.command(&["pause", "gavonel", "Ready?"]);
    command.stdin(Stdio::from(reader));
    let process = Process::start(command);
    answer(&hub, &waited_for(&hub, "Ready?").await, "approve").await;
    assert_eq!(process.finish().ok(), CONTINUE);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_words_as_a_cue_and_as_a_pause_are_two_requests() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let (_cue, first) = desk.waiting(&hub, "gavonel", "Ready?").await;
    let pause = desk.start(&["pause", "gavonel", "Ready?"], "");
    pause.stderr_with("one earlier request").await;
    let all = items(&hub).await;
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all.iter().any(|item| item["id"] == first.as_str()));
}
