use serde_json::{Value, json};

use super::{TerminalAgent, id, item, presence, until_gone};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_is_gone_at_once_and_a_new_prompt_supersedes_its_cue() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let first = shell.ask_for_id("One?").await;
    let process = shell.waiting(&hub, &first).await;
    assert_eq!(presence(&hub, &first).await, "waiting");
    process.abort();
    until_gone(&hub, &first).await;
    let ack = shell.ask("Two?").await;
    assert_eq!(
        (&ack["superseded"], &ack["queued_behind"]),
        (&json!([first]), &json!(0))
    );
    let ended = shell.get_cue(&first).await;
    assert_eq!(
        (&ended["status"], &ended["actor"]),
        (&json!("cancelled"), &json!(format!("agent:{}", shell.agent_id)))
    );
    assert_eq!(ended["reply"]["comment"], json!(format!("superseded by {}", id(&ack))));
    assert_eq!(item(&hub, &id(&ack)).await["source"]["supersedes"], json!(first));
    assert_eq!(id(&shell.ask_again("Two?").await), id(&ack));
    assert_eq!(
        shell.ask("One?").await["attached"],
        false,
        "a superseded prompt becomes a new cue"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_process_waits_a_new_prompt_queues_behind_it() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let first = shell.ask_for_id("One?").await;
    let process = shell.waiting(&hub, &first).await;
    let second = shell.ask("Two?").await;
    assert_eq!(
        (&second["superseded"], &second["queued_behind"]),
        (&json!([]), &json!(1))
    );
    hub.owner.answer(&first, "one").await.expect(200);
    assert_eq!(process.await.expect("a reply").expect(200)["reply"]["text"], "one");
    assert_eq!(shell.get_cue(&id(&second)).await["status"], "open");
    assert_eq!(shell.ask_again("Two?").await["queued_behind"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_stream_reports_a_superseded_cue() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let first = shell.ask_for_id("One?").await;
    shell.waiting(&hub, &first).await.abort();
    until_gone(&hub, &first).await;
    let second = shell.ask_for_id("Two?").await;
    shell.waiting(&hub, &second).await.abort();
    until_gone(&hub, &second).await;
    let events = hub
        .owner
        .request(reqwest::Method::GET, "/v1/inbox/events")
        .send()
        .await
        .expect("a stream");
    let third = shell.ask("Three?").await;
    assert_eq!(third["superseded"], json!([second]));
    let mut events = events;
    let mut received = String::new();
    within("both events", async {
        while !(received.contains("event: opened") && received.contains("event: resolved")) {
            let chunk = events.chunk().await.expect("a stream").expect("the stream continues");
            received.push_str(&String::from_utf8_lossy(&chunk));
        }
    })
    .await;
    assert!(
        received.contains(&id(&third)) && received.contains(&second),
        "{received}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_stream_reports_presence_changes() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = shell.ask_for_id("One?").await;
    let process = shell.waiting(&hub, &id).await;
    let mut events = hub
        .owner
        .request(reqwest::Method::GET, "/v1/inbox/events")
        .send()
        .await
        .expect("a stream");
    process.abort();
    let mut received = String::new();
    within("the event", async {
        while !received.contains("event: tracked") {
            let chunk = events.chunk().await.expect("a stream").expect("the stream continues");
            received.push_str(&String::from_utf8_lossy(&chunk));
        }
    })
    .await;
    assert!(received.contains(&id), "{received}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_pause_shows_as_paused_and_a_resolved_one_shows_nothing() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let ack = shell
        .post(&json!({"agent_id": shell.agent_id, "kind": "pause"}))
        .await
        .expect(201);
    let process = shell.waiting(&hub, &id(&ack)).await;
    assert_eq!(presence(&hub, &id(&ack)).await, "paused");
    let listed = hub.owner.get("/v1/terminals").await.expect(200);
    assert_eq!(listed["terminals"][0]["presence"]["state"], "paused");
    let open = hub.owner.get("/v1/inbox").await.expect(200);
    assert_eq!(open["items"][0]["presence"]["state"], "paused");
    hub.owner.answer(&id(&ack), "approve").await.expect(200);
    process.await.expect("a reply").expect(200);
    assert_eq!(
        item(&hub, &id(&ack)).await["presence"],
        json!({"state": null, "since": null})
    );
    let bot = hub.agent("bot").await;
    let other = bot.accepted(&ask("bot")).await;
    assert_eq!(item(&hub, &other).await["presence"]["state"], Value::Null);
}
