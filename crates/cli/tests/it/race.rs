//! Concurrent resolutions of one message: a single outcome, reported to every caller.

use std::collections::BTreeSet;

use serde_json::json;
use tokio::task::JoinSet;

use crate::harness::*;

const REQUESTS: usize = 64;
/// Milliseconds until the expiry: enough to submit every ask first, even on a busy machine.
const EXPIRY_MS: i64 = 5000;

/// Sends all requests at the same moment, and returns each reply with its `cancels` flag.
async fn send_all_at_once(requests: Vec<(bool, reqwest::RequestBuilder)>) -> Vec<(bool, Reply)> {
    let start = std::sync::Arc::new(tokio::sync::Barrier::new(requests.len()));
    let mut tasks = JoinSet::new();
    for (cancels, request) in requests {
        let start = start.clone();
        tasks.spawn(async move {
            start.wait().await;
            (cancels, Api::send(request).await)
        });
    }
    within("all replies", tasks.join_all()).await
}

fn competing_requests(id: &str, bot: &Api, people: &[&Api]) -> Vec<(bool, reqwest::RequestBuilder)> {
    let request = |nth: usize| {
        if nth % 3 == 2 {
            return (true, bot.post_request(&format!("/v1/messages/{id}/cancel"), ""));
        }
        let body = match nth % 4 {
            0 => json!({"resolution": "answered", "value": "approve"}),
            1 => json!({"resolution": "answered", "value": "deny", "comment": format!("voice {nth}")}),
            _ => json!({"resolution": "declined"}),
        };
        let person = people[nth % people.len()];
        (
            false,
            person.post_request(&format!("/v1/messages/{id}/resolve"), body.to_string()),
        )
    };
    (0..REQUESTS).map(request).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_64_resolvers_and_cancellers_one_wins_and_the_rest_get_the_outcome() {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    let alice = hub.person("alice", "resolver").await;
    let people = [&hub.owner, &*alice];
    for round in 0..12 {
        let path = format!("/{round}");
        let envelope = resolvers(
            push_to(ask("bot"), &receiver.url(&path)),
            &["human:owner", "human:alice"],
        );
        let id = bot.accepted(&envelope).await;
        let replies = send_all_at_once(competing_requests(&id, &bot, &people)).await;
        let outcome = bot.pull(&id).await;
        let status = outcome["status"].as_str().unwrap();
        let mut winners = BTreeSet::new();
        for (cancels, reply) in &replies {
            match (cancels, reply.status) {
                (true, 200) => assert_eq!(status, "cancelled", "{}", reply.text()),
                (false, 200) => assert!(winners.insert(reply.json()["resolution_id"].as_str().unwrap().to_owned())),
                _ => reply.refused_as_terminal(&id, status),
            }
        }
        let resolution_id = outcome["response"]["resolution_id"].as_str().unwrap().to_owned();
        let resolved = replies
            .iter()
            .filter(|(cancels, reply)| !cancels && reply.status == 200)
            .count();
        assert_eq!(
            resolved,
            usize::from(status != "cancelled"),
            "round {round}: one winner"
        );
        assert!(
            winners.iter().all(|winner| *winner == resolution_id),
            "{winners:?} and {resolution_id}"
        );
        let pushed: BTreeSet<String> = receiver.at(&path, 1).await.iter().map(Push::resolution_id).collect();
        assert_eq!(pushed, BTreeSet::from([resolution_id]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_racing_the_expiry_agree_on_one_outcome() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let now = jiff::Timestamp::now().as_millisecond();
    let expiring_in = async |millis: i64| {
        let mut envelope = ask("bot");
        envelope["expires_at"] = json!(jiff::Timestamp::from_millisecond(now + millis).unwrap().to_string());
        envelope["request"]["default_on_expire"] = json!("deny");
        bot.accepted(&envelope).await
    };
    // Each witness expires a bit earlier and triggers a batch of answers, before, at and after the expiry.
    let mut batches = JoinSet::new();
    for early in [400, 200, 100, 50, 0] {
        let witness = expiring_in(EXPIRY_MS - early).await;
        let mut ids = vec![];
        for _ in 0..8 {
            ids.push(expiring_in(EXPIRY_MS).await);
        }
        let bot = Api::clone(&bot);
        let owner = hub.owner.clone();
        batches.spawn(async move {
            bot.outcome(&witness).await;
            for id in ids {
                let reply = owner.answer(&id, "approve").await;
                let outcome = bot.outcome(&id).await;
                if reply.status == 200 {
                    assert_eq!(reply.json()["resolution_id"], outcome["response"]["resolution_id"]);
                    assert_eq!(outcome["response"]["response"]["value"], "approve");
                } else {
                    reply.refused_as_terminal(&id, "expired");
                    assert_eq!(outcome["response"]["response"]["value"], "deny");
                }
            }
        });
    }
    within("all batches", batches.join_all()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_completions_of_a_task_one_wins() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&task("bot")).await;
    let body =
        |nth: usize| json!({"resolution": if nth.is_multiple_of(2) { "completed" } else { "dismissed" }}).to_string();
    let path = format!("/v1/messages/{id}/resolve");
    let requests = (0..REQUESTS)
        .map(|nth| (false, hub.owner.post_request(&path, body(nth))))
        .collect();
    let replies = send_all_at_once(requests).await;
    let outcome = bot.pull(&id).await;
    assert_eq!(replies.iter().filter(|(_, reply)| reply.status == 200).count(), 1);
    for (_, reply) in replies.iter().filter(|(_, reply)| reply.status != 200) {
        reply.refused_as_terminal(&id, outcome["status"].as_str().unwrap());
    }
}
