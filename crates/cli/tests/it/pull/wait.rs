use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;

use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_pull_returns_with_the_answer() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..8 {
        waiting.spawn(Api::send(
            bot.request(Method::GET, &format!("/v1/messages/{id}?wait=60")),
        ));
    }
    // This pull waits one second on the hub, and by then the waiters above have arrived.
    let open = bot.get(&format!("/v1/messages/{id}?wait=1")).await.expect(200);
    assert_eq!(open["status"], "open");
    let resolved = hub.owner.answer(&id, "approve").await.expect(200);
    assert_eq!(resolved["status"], "answered");
    for reply in within("all waiters", waiting.join_all()).await {
        let body = reply.expect(200);
        assert_eq!(body["status"], "answered");
        assert_eq!(body["response"]["resolution_id"], resolved["resolution_id"]);
        assert_eq!(body["response"]["response"]["value"], "approve");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_times_out_returns_open() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let started = Instant::now();
    let body = bot.get(&format!("/v1/messages/{id}?wait=1")).await.expect(200);
    assert!(
        started.elapsed() >= Duration::from_millis(900),
        "it waited: {:?}",
        started.elapsed()
    );
    assert_eq!(body["status"], "open");
    let body = bot.get(&format!("/v1/messages/{id}?wait=0")).await.expect(200);
    assert_eq!(body["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_on_a_resolved_message_returns_at_once() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    bot.cancel(&id).await.expect(200);
    for wait in ["60", "61", "3600"] {
        let body = bot.get(&format!("/v1/messages/{id}?wait={wait}")).await.expect(200);
        assert_eq!(
            body["status"], "cancelled",
            "a longer wait than the cap is shortened, not refused"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_with_the_expiry_and_not_before() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted_briefly(&ask("bot")).await;
    let body = bot.outcome(&id).await;
    assert_eq!(body["status"], "expired");
    let expires_at: jiff::Timestamp = body["expires_at"].as_str().unwrap().parse().unwrap();
    assert!(jiff::Timestamp::now() >= expires_at, "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn junk_in_the_query_is_refused() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    for wait in ["abc", "-1", "1.5x", "", "0x10"] {
        bot.get(&format!("/v1/messages/{id}?wait={wait}"))
            .await
            .refused_field("validation_error", "wait");
    }
    for since in ["yesterday", "12", ""] {
        bot.get(&format!("/v1/messages/{id}?since={since}"))
            .await
            .refused_field("validation_error", "since");
    }
    for query in [
        "limit=abc",
        "limit=0",
        "limit=-1",
        "limit=99999999999999999999",
        "cursor=x",
        "cursor=%ff",
        "cursor=1.x",
    ] {
        for path in ["/v1/messages", "/v1/inbox"] {
            hub.owner
                .get(&format!("{path}?{query}"))
                .await
                .refused("validation_error");
        }
    }
    bot.get("/v1/messages?status=settled")
        .await
        .refused_field("validation_error", "status");
    for query in ["wait=%ff", "since=%c3%28", "wait=1&wait=2"] {
        bot.get(&format!("/v1/messages/{id}?{query}"))
            .await
            .refused("validation_error");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_message_is_not_sent_twice() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let path = format!("/v1/messages/{id}");
    let first = bot.get(&path).await;
    let tag = first.header("etag").to_owned();
    assert!(
        tag.starts_with('"') || tag.starts_with("W/\""),
        "an entity tag: {tag:?}"
    );
    let with_tag = async || Api::send(bot.request(Method::GET, &path).header("if-none-match", &tag)).await;
    let same = with_tag().await;
    assert_eq!((same.status, same.body.len()), (304, 0));
    hub.owner.answer(&id, "approve").await.expect(200);
    let changed = with_tag().await;
    assert_eq!(changed.expect(200)["status"], "answered");
    assert_ne!(changed.header("etag"), tag);
}

#[tokio::test(flavor = "multi_thread")]
async fn since_returns_only_later_changes() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let since = |millis| format!("/v1/messages/{id}?since={}", from_now(millis));
    assert_eq!(bot.get(&since(10_000)).await.status, 304);
    assert_eq!(bot.get(&since(-60_000)).await.status, 200, "it was made after that");
    hub.owner.answer(&id, "approve").await.expect(200);
    assert_eq!(bot.get(&since(-60_000)).await.expect(200)["status"], "answered");
    assert_eq!(bot.get(&since(10_000)).await.status, 304);
}

#[tokio::test(flavor = "multi_thread")]
async fn since_with_wait_returns_when_something_changes() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let path = format!("/v1/messages/{id}?wait=60&since={}", from_now(0));
    let waiting = tokio::spawn(Api::send(bot.request(Method::GET, &path)));
    bot.pull(&id).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let body = within("the waiter", waiting).await.expect("no panic").expect(200);
    assert_eq!(body["status"], "answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_and_unknown_messages_look_the_same() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let other = hub.agent("other").await;
    let id = bot.accepted(&ask("bot")).await;
    let foreign = other.get(&format!("/v1/messages/{id}")).await;
    foreign.refused("not_found");
    let unknown = other.get("/v1/messages/msg_00000000000000000000000000").await;
    let without_id = |reply: &Reply, id: &str| {
        let text = reply.text().replace(reply.header("x-request-id"), "REQUEST");
        text.replace(id, "ID")
    };
    assert_eq!(
        without_id(&foreign, &id),
        without_id(&unknown, "msg_00000000000000000000000000"),
        "no difference to see"
    );
    for id in ["nonsense", "msg_", "%00", "..%2f..%2fetc", "%ff"] {
        other.get(&format!("/v1/messages/{id}")).await.refused("not_found");
        hub.owner
            .resolve(id, json!({"resolution": "declined"}))
            .await
            .refused("not_found");
    }
}
