use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{TerminalAgent, item};
use crate::harness::*;

fn file(name: &str, bytes: &[u8]) -> Value {
    json!({"name": name, "media_type": "application/x-own", "data": STANDARD.encode(bytes)})
}

#[tokio::test(flavor = "multi_thread")]
async fn files_come_with_the_answer_under_their_own_names() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = shell.ask_for_id("Any notes?").await;
    let large: Vec<u8> = (0..3_000_000_u32).map(|nth| (nth % 251) as u8).collect();
    let files = json!([
        file("nötes \"1\".txt", b"hello\n"),
        file("large.bin", &large),
        file("empty", b"")
    ]);
    let body = json!({"resolution": "answered", "value": "see there", "files": files});
    hub.owner.resolve(&id, body).await.expect(200);
    let cue = shell.outcome(&id).await;
    assert_eq!(cue["reply"]["text"], "see there");
    let notes = cue["reply"]["files"].as_array().expect("files");
    let names: Vec<&str> = notes.iter().filter_map(|note| note["name"].as_str()).collect();
    assert_eq!(names, ["nötes \"1\".txt", "large.bin", "empty"]);
    assert_eq!(notes[1]["size"], 3_000_000);
    assert_eq!(item(&hub, &id).await["resolution"]["files"], cue["reply"]["files"]);
    for (nth, bytes) in [&b"hello\n"[..], &large, b""].iter().enumerate() {
        for (api, door) in [(&shell.api, "hap/cues"), (&hub.owner, "inbox")] {
            let reply = api.get(&format!("/v1/{door}/{id}/files/{nth}")).await;
            assert!(
                reply.status == 200 && reply.body == *bytes,
                "{door} {nth}: {}",
                reply.status
            );
            assert_eq!(reply.header("content-type"), "application/octet-stream");
            assert_eq!(reply.header("x-content-type-options"), "nosniff");
            assert!(
                reply
                    .header("content-disposition")
                    .starts_with("attachment; filename*=")
            );
        }
    }
    shell
        .api
        .get(&format!("/v1/hap/cues/{id}/files/3"))
        .await
        .refused("not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_alone_are_an_answer() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = shell.ask_for_id("The log?").await;
    hub.owner
        .resolve(&id, json!({"resolution": "answered", "files": [file("a.log", b"x")]}))
        .await
        .expect(200);
    let cue = shell.outcome(&id).await;
    assert_eq!((&cue["reply"]["text"], &cue["value"]), (&json!(""), &json!("")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_file_is_refused_and_the_cue_stays_open() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = shell.ask_for_id("Any notes?").await;
    let answer = |files: Value| {
        hub.owner
            .resolve(&id, json!({"resolution": "answered", "value": "x", "files": files}))
    };
    for name in ["../etc", "a/b", "a\\b", "..", "", "a\nb", &"x".repeat(201)] {
        answer(json!([file(name, b"x")]))
            .await
            .refused_field("invalid_field", "files[0].name");
    }
    answer(json!([file("a", b""), file("a", b"")]))
        .await
        .refused_field("invalid_field", "files[1].name");
    answer(json!(vec![file("a", b""); 11]))
        .await
        .refused_field("invalid_field", "files");
    answer(json!([file("a", &vec![0; 8 * 1024 * 1024 + 1])]))
        .await
        .refused_field("invalid_field", "files[0]");
    answer(json!([{"name": "a", "data": "%%%"}]))
        .await
        .refused_field("invalid_field", "files[0].data");
    answer(json!({"name": "a"}))
        .await
        .refused_field("validation_error", "files");
    assert_eq!(shell.get_cue(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn large_answers_are_only_for_allowed_resolvers_of_terminals() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let alice = hub.person("alice", "resolver").await;
    let id = shell.ask_for_id("Any notes?").await;
    let large = json!({"resolution": "answered", "value": "x", "files": [file("a", &vec![0; 2_000_000])]});
    alice
        .resolve(&id, large.clone())
        .await
        .refused_field("invalid_field", "envelope");
    let bot = hub.agent("bot").await;
    let asked = bot.accepted(&ask("bot")).await;
    hub.owner
        .resolve(&asked, large.clone())
        .await
        .refused_field("invalid_field", "envelope");
    let small = json!({"resolution": "answered", "value": "approve", "files": [file("a", b"x")]});
    hub.owner
        .resolve(&asked, small)
        .await
        .refused_field("invalid_field", "files");
    hub.owner.resolve(&id, large).await.expect(200);
}
