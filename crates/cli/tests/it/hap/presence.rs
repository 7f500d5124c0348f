use serde_json::{Value, json};

use super::{Shell, id, item, presence, until_gone};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_is_gone_at_once_and_other_words_take_its_place() {
    let hub = Hub::start().await;
    let shell = Shell::join(&hub).await;
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
    let ended = shell.look(&first).await;
    assert_eq!(
        (&ended["status"], &ended["actor"]),
        (&json!("cancelled"), &json!(format!("agent:{}", shell.agent_id)))
    );
    assert_eq!(ended["reply"]["comment"], json!(format!("superseded by {}", id(&ack))));
    assert_eq!(item(&hub, &id(&ack)).await["source"]["supersedes"], json!(first));
    assert_eq!(id(&shell.again("Two?").await), id(&ack));
    assert_eq!(
        shell.ask("One?").await["attached"],
        false,
        "what was superseded is asked anew"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_process_still_waits_other_words_queue_behind_it() {
    let hub = Hub::start().await;
    let shell = Shell::join(&hub).await;
    let first = shell.ask_for_id("One?").await;
    let process = shell.waiting(&hub, &first).await;
    let second = shell.ask("Two?").await;
    assert_eq!(
        (&second["superseded"], &second["queued_behind"]),
        (&json!([]), &json!(1))
    );
    hub.owner.answer(&first, "one").await.expect(200);
    assert_eq!(process.await.expect("a reply").expect(200)["reply"]["text"], "one");
    assert_eq!(shell.look(&id(&second)).await["status"], "open");
    assert_eq!(shell.again("Two?").await["queued_behind"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_superseded_while_looking_on_hears_of_it() {
    let hub = Hub::start().await;
    let shell = Shell::join(&hub).await;
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
    let mut heard = String::new();
    within("both events", async {
        while !(heard.contains("event: opened") && heard.contains("event: resolved")) {
            let chunk = events.chunk().await.expect("a stream").expect("it goes on");
            heard.push_str(&String::from_utf8_lossy(&chunk));
        }
    })
    .await;
    assert!(heard.contains(&id(&third)) && heard.contains(&second), "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn coming_and_going_is_told_to_those_who_look_on() {
    let hub = Hub::start().await;
    let shell = Shell::join(&hub).await;
    let id = shell.ask_for_id("One?").await;
    let process = shell.waiting(&hub, &id).await;
    let mut events = hub
        .owner
        .request(reqwest::Method::GET, "/v1/inbox/events")
        .send()
        .await
        .expect("a stream");
    process.abort();
    let mut heard = String::new();
    within("the event", async {
        while !heard.contains("event: tracked") {
            let chunk = events.chunk().await.expect("a stream").expect("it goes on");
            heard.push_str(&String::from_utf8_lossy(&chunk));
        }
    })
    .await;
    assert!(heard.contains(&id), "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_that_is_held_shows_as_paused_and_nothing_resolved_shows_anything() {
    let hub = Hub::start().await;
    let shell = Shell::join(&hub).await;
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
