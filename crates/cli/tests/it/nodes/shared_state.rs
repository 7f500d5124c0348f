//! State shared by all hubs: idempotency keys, limits, credentials, search.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;

use super::inbox::{open_stream, until_ended_by_notification};
use super::{Cluster, node_of, until_waiters};
use crate::harness::*;
use crate::web::{WebClient, sign_in};

#[tokio::test(flavor = "multi_thread")]
async fn an_idempotency_key_is_used_once_across_hubs() {
    let cluster = Cluster::start(3).await;
    let agent = cluster.agent("bot").await;
    let apis: Vec<Api> = cluster.hubs.iter().map(|hub| agent.at(hub)).collect();
    for _ in 0..5 {
        let envelope = ask("bot");
        let replies = join_all((0..12).map(|number| apis[number % 3].submit(&envelope))).await;
        let ids: Vec<_> = replies.iter().map(|reply| reply.expect(202)["id"].clone()).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        let mut other = envelope.clone();
        other["title"] = json!("Something else?");
        apis[2].submit(&other).await.refused("idempotency_conflict");
    }
    assert_eq!(cluster.database.number("SELECT count(*) FROM message").await, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rate_limit_holds_across_hubs() {
    let setup = || Setup::default().config("[limits]\nrequests_per_minute = 30\n");
    let cluster = Cluster::with_setup(3, setup).await;
    let agent = cluster.agent("bot").await;
    let other = cluster.agent("other").await;
    let apis: Vec<Api> = cluster.hubs.iter().map(|hub| agent.at(hub)).collect();
    let notifies: Vec<_> = (0..60).map(|_| notify("bot")).collect();
    let replies = join_all(
        notifies
            .iter()
            .enumerate()
            .map(|(number, notify)| apis[number % 3].submit(notify)),
    )
    .await;
    let accepted = replies.iter().filter(|reply| reply.status == 202).count();
    // The limit refills one request every two seconds, and the test itself may take a few.
    assert!((30..45).contains(&accepted), "{accepted}");
    let refused = replies.iter().find(|reply| reply.status != 202).expect("one too many");
    refused.refused("rate_limited");
    assert!(
        refused
            .header("retry-after")
            .parse::<u64>()
            .is_ok_and(|seconds| (1..=61).contains(&seconds))
    );
    other.at(&cluster.hubs[1]).accepted(&notify("other")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn password_guesses_are_limited_across_hubs() {
    let cluster = Cluster::start(2).await;
    let guessers: Vec<WebClient> = cluster.hubs.iter().map(WebClient::anonymous).collect();
    let mut refused = 0;
    for number in 0..24 {
        let page = sign_in(&guessers[number % 2], "/signin", "owner", "a guess that is wrong").await;
        refused += usize::from(page.status == 429);
    }
    assert!(refused >= 12, "{refused} of 24 guesses were refused; ten are allowed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_revoked_at_one_hub_is_revoked_at_all() {
    let cluster = Cluster::start(3).await;
    let alice = cluster.hubs[0].person("alice", "resolver").await;
    let there = |hub: &Hub| hub.anonymous().bearer(&alice.token);
    let mut streams = Vec::new();
    for hub in &cluster.hubs {
        let older = open_stream(hub.owner.request(Method::GET, "/v1/inbox/events")).await;
        let stream = open_stream(there(hub).request(Method::GET, "/v1/inbox/events")).await;
        streams.push((older, stream));
    }
    cluster.hubs[0]
        .owner
        .post("/v1/admin/people/remove", &json!({"name": "alice"}))
        .await
        .expect(200);
    for (hub, (older, stream)) in cluster.hubs.iter().zip(&mut streams) {
        until_ended_by_notification(older, stream).await;
        assert_eq!(there(hub).get("/v1/inbox").await.status, 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_call_only_the_token_of_this_hub_its_own() {
    let cluster = Cluster::start(2).await;
    let owner = WebClient::signed_in(&cluster.hubs[0]).await;
    let page = owner.get("/inbox/settings").await.expect(200);
    for (list, whose) in [("#tokens", "Commands"), ("#terminal-tokens", "Terminals")] {
        let text = page.text_at(list);
        assert_eq!(
            text.matches(&format!("{whose} on the hub's own machine")).count(),
            1,
            "{text}"
        );
        let other = format!("{whose} on the machine of node {}", node_of(&cluster.hubs[1]));
        assert_eq!(text.matches(&other).count(), 1, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_long_poll_of_a_removed_agent_ends() {
    let cluster = Cluster::start(2).await;
    let agent = cluster.agent("bot").await;
    let id = agent.accepted(&ask("bot")).await;
    let there = agent.at(&cluster.hubs[1]);
    let waiting = tokio::spawn(async move { there.get(&format!("/v1/messages/{id}?wait=60")).await });
    until_waiters(&cluster.hubs[1], 1).await;
    cluster.hubs[0]
        .owner
        .post("/v1/admin/agents/remove", &json!({"id": "bot"}))
        .await
        .expect(200);
    within("the long-poll", waiting)
        .await
        .expect("no panic")
        .refused("unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_finds_messages_of_other_hubs() {
    let cluster = Cluster::start(2).await;
    let agent = cluster.agent("bot").await;
    for word in ["zephyr", "quartz", "basalt"] {
        let mut envelope = ask("bot");
        envelope["title"] = json!(format!("Is the {word} ready?"));
        let id = agent.accepted(&envelope).await;
        let found = cluster.hubs[1]
            .owner
            .get(&format!("/v1/search?q={word}"))
            .await
            .expect(200);
        assert!(found.to_string().contains(&id), "{found}");
    }
}
