use serde_json::json;

use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn only_listed_resolvers_may_resolve() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let judge = hub.agent("judge").await;
    let alice = hub.person("alice", "resolver").await;
    assert_eq!(alice.actor, "human:alice");
    hub.person("alice2", "resolver").await;
    let id = bot
        .accepted(&resolvers(
            ask("bot"),
            &["human:alic", "human:alice2", "agent:alice", "human:Alice"],
        ))
        .await;
    for caller in [&*alice, &hub.owner, &*judge, &*bot] {
        caller.answer(&id, "approve").await.refused("not_authorized");
    }
    assert_eq!(bot.pull(&id).await["status"], "open");
    let id = bot
        .accepted(&resolvers(ask("bot"), &["human:alice", "agent:judge"]))
        .await;
    hub.owner.answer(&id, "approve").await.refused("not_authorized");
    bot.answer(&id, "approve").await.refused("not_authorized");
    alice.answer(&id, "approve").await.expect(200);
    assert_eq!(bot.pull(&id).await["response"]["response"]["actor"], "human:alice");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_may_resolve_where_it_is_listed() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let judge = hub.agent("judge/eu").await;
    let ask_id = bot.accepted(&resolvers(ask("bot"), &["agent:judge/eu"])).await;
    let body = json!({"resolution": "answered", "value": "deny", "actor": "human:owner"});
    judge.resolve(&ask_id, body).await.expect(200);
    assert_eq!(
        bot.pull(&ask_id).await["response"]["response"]["actor"],
        "agent:judge/eu"
    );
    let task_id = bot.accepted(&resolvers(task("bot"), &["agent:judge/eu"])).await;
    judge
        .resolve(&task_id, json!({"resolution": "completed"}))
        .await
        .expect(200);
    assert_eq!(
        bot.pull(&task_id).await["response"]["response"]["actor"],
        "agent:judge/eu"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_list_only_the_submitter_may_resolve() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let other = hub.agent("other").await;
    for (mut envelope, part, resolution) in [
        (
            ask("bot"),
            "request",
            json!({"resolution": "answered", "value": "approve"}),
        ),
        (task("bot"), "action", json!({"resolution": "completed"})),
    ] {
        envelope[part].as_object_mut().unwrap().remove("allowed_resolvers");
        let id = bot.accepted(&envelope).await;
        hub.owner
            .resolve(&id, resolution.clone())
            .await
            .refused("not_authorized");
        other.resolve(&id, resolution.clone()).await.refused("not_authorized");
        bot.resolve(&id, resolution).await.expect(200);
        assert_eq!(bot.pull(&id).await["response"]["response"]["actor"], "agent:bot");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_says_whether_its_reader_can_answer() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let alice = hub.person("alice", "resolver").await;
    let id = bot.accepted(&resolvers(ask("bot"), &["human:alice"])).await;
    let path = format!("/v1/inbox/{id}");
    assert_eq!(alice.get(&path).await.expect(200)["can_answer"], true);
    assert_eq!(hub.owner.get(&path).await.expect(200)["can_answer"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unauthorized_caller_learns_nothing_about_the_outcome() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let alice = hub.person("alice", "resolver").await;
    let id = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    alice.answer(&id, "deny").await.refused("not_authorized");
}
