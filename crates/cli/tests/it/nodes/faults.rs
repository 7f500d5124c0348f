//! Three hubs under load with every fault: killed, cut off from the database, slow, stalled, and frozen beyond the
//! lease. No answer is lost or duplicated, and every client that waits at a working hub gets its answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{Cluster, RETRY_DELAY, wait_for_answer};
use crate::harness::*;

/// Posts to one hub after the other until one succeeds. A hanging call times out.
async fn post_to_any(apis: &[Api], first: usize, path: &str, body: &str, good: &[u16]) -> Reply {
    let attempts = async {
        for attempt in first.. {
            let request = apis[attempt % apis.len()].post_request(path, body);
            match tokio::time::timeout(Duration::from_secs(2), Api::try_send(request)).await {
                Ok(Ok(reply)) if good.contains(&reply.status) => return reply,
                Ok(Ok(_) | Err(_)) | Err(_) => tokio::time::sleep(RETRY_DELAY).await,
            }
        }
        unreachable!("the loop is endless")
    };
    within("a working hub", attempts).await
}

/// Submits with one idempotency key, so retries create a single ask.
async fn submit_to_any(apis: &[Api], first: usize, envelope: &Value) -> String {
    let ack = post_to_any(apis, first, "/v1/messages", &envelope.to_string(), &[202])
        .await
        .json();
    ack["id"].as_str().expect("an id").to_owned()
}

/// Answers the ask; 409 means that an earlier call succeeded but its reply was lost.
async fn answer_at_any(owners: &[Api], first: usize, id: &str) {
    let body = json!({"resolution": "answered", "value": "approve"}).to_string();
    post_to_any(owners, first, &format!("/v1/messages/{id}/resolve"), &body, &[200, 409]).await;
}

/// Long-polls at one hub and returns the outcome. `None` if that hub is taken down meanwhile.
async fn wait_at(api: Api, id: String, mut works: watch::Receiver<bool>) -> Option<Value> {
    tokio::select! {
        outcome = wait_for_answer(api, id) => Some(outcome),
        _ = works.wait_for(|works| !works) => None,
    }
}

struct Load {
    agents: Vec<Api>,
    owners: Vec<Api>,
    callback: String,
    /// Whether each hub currently works.
    works: Vec<watch::Sender<bool>>,
    stop: AtomicBool,
    count: AtomicUsize,
}

impl Load {
    /// Loops: submits at one hub, waits at all working hubs, answers at another.
    async fn run(self: Arc<Self>, worker: usize) -> Vec<(String, usize, Value)> {
        let mut done = Vec::new();
        while !self.stop.load(Ordering::SeqCst) {
            let number = self.count.fetch_add(1, Ordering::SeqCst);
            let id = submit_to_any(&self.agents, number, &push_to(ask("bot"), &self.callback)).await;
            let waiting = self.agents.iter().zip(&self.works);
            let waiting: Vec<_> = waiting
                .map(|(api, works)| tokio::spawn(wait_at(api.clone(), id.clone(), works.subscribe())))
                .collect();
            answer_at_any(&self.owners, number + worker, &id).await;
            for (hub, result) in join_all(waiting).await.into_iter().enumerate() {
                if let Some(outcome) = result.expect("no panic") {
                    done.push((id.clone(), hub, outcome));
                }
            }
        }
        done
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_is_lost_or_duplicated_and_every_waiter_is_answered() {
    let mut cluster = Cluster::with_setup(3, Setup::pushing).await;
    let receiver = Receiver::start().await;
    let bot = cluster.agent("bot").await;
    cluster.hubs[0].approve(&bot, &receiver.host()).await;
    let load = Arc::new(Load {
        agents: cluster.hubs.iter().map(|hub| bot.at(hub)).collect(),
        owners: owners(&cluster).await,
        callback: receiver.url("/answers"),
        works: cluster.hubs.iter().map(|_| watch::Sender::new(true)).collect(),
        stop: AtomicBool::new(false),
        count: AtomicUsize::new(0),
    });
    let mut workers = JoinSet::new();
    for worker in 0..6 {
        workers.spawn(Arc::clone(&load).run(worker));
    }
    let asked = || load.count.load(Ordering::SeqCst);
    let more = async |count: usize| {
        let before = asked();
        eventually("the load continues", async || (asked() >= before + count).then_some(())).await;
    };
    let fails = |hub: usize| load.works[hub].send_replace(false);
    let works = async |hub: &Hub, number: usize| {
        eventually("the hub is ready", async || {
            (hub.anonymous().get("/ready").await.status == 200).then_some(())
        })
        .await;
        load.works[number].send_replace(true);
    };
    more(30).await;
    fails(2);
    cluster.hubs[2].kill();
    more(30).await;
    fails(1);
    cluster.wires[1].set_state(WireState::Cut);
    more(30).await;
    cluster.wires[1].set_state(WireState::Open);
    works(&cluster.hubs[1], 1).await;
    cluster.hubs[2].restart().await;
    works(&cluster.hubs[2], 2).await;
    cluster.wires[2].set_state(WireState::Slow(Duration::from_millis(20)));
    more(30).await;
    fails(2);
    cluster.wires[2].set_state(WireState::Stalled);
    eventually("its node is taken over", async || {
        (cluster.nodes().await == 2).then_some(())
    })
    .await;
    more(10).await;
    cluster.wires[2].set_state(WireState::Open);
    eventually("its node is back", async || (cluster.nodes().await == 3).then_some(())).await;
    works(&cluster.hubs[2], 2).await;
    fails(1);
    cluster.hubs[1].freeze();
    eventually("its node is taken over", async || {
        (cluster.nodes().await == 2).then_some(())
    })
    .await;
    more(30).await;
    cluster.hubs[1].thaw();
    eventually("its node is back", async || (cluster.nodes().await == 3).then_some(())).await;
    works(&cluster.hubs[1], 1).await;
    more(30).await;
    load.stop.store(true, Ordering::SeqCst);
    let mut outcomes = HashMap::new();
    let mut answers = vec![0; 3];
    while let Some(done) = workers.join_next().await {
        for (id, hub, outcome) in done.expect("no panic") {
            answers[hub] += 1;
            assert_eq!(outcome["response"]["response"]["value"], "approve", "{outcome}");
            let resolution_id = outcome["response"]["resolution_id"].clone();
            let before = outcomes.insert(id, resolution_id.clone());
            assert!(
                before.is_none_or(|before| before == resolution_id),
                "the same at all hubs: {outcome}"
            );
        }
    }
    assert!(outcomes.len() >= 180, "{}", outcomes.len());
    assert!(
        answers[0] == outcomes.len() && answers.iter().all(|count| *count >= 90),
        "answers per hub: {answers:?}"
    );
    check_deliveries(&cluster, &receiver, &outcomes).await;
}

/// A person's token works at every hub; a token from hub.json ends with its hub.
async fn owners(cluster: &Cluster) -> Vec<Api> {
    let made = cluster.hubs[0]
        .owner
        .post("/v1/admin/people/token", &json!({"name": "owner"}))
        .await
        .expect(200);
    let token = made["token"].as_str().expect("a token");
    cluster.hubs.iter().map(|hub| hub.anonymous().bearer(token)).collect()
}

async fn check_deliveries(cluster: &Cluster, receiver: &Receiver, outcomes: &HashMap<String, Value>) {
    let pending = "SELECT count(*) FROM delivery WHERE track <> 'delivered'";
    eventually("every answer is delivered", async || {
        (cluster.database.number(pending).await == 0).then_some(())
    })
    .await;
    let mut pushed: HashMap<String, Vec<String>> = HashMap::new();
    for push in receiver.seen() {
        let id = push.json()["in_reply_to"].as_str().expect("in_reply_to").to_owned();
        pushed.entry(id).or_default().push(push.resolution_id());
    }
    for (id, resolution_id) in outcomes {
        let pushed = pushed.get(id).unwrap_or_else(|| panic!("{id} was not pushed"));
        assert!(
            pushed.iter().all(|pushed| json!(pushed) == *resolution_id),
            "{id}: pushed {pushed:?}, pulled {resolution_id}"
        );
    }
    let changed_twice = "SELECT count(*) FROM message WHERE status = 'answered' AND rev <> 2";
    assert_eq!(cluster.database.number(changed_twice).await, 0);
    let resolutions = "SELECT count(*) - (SELECT count(*) FROM message WHERE status <> 'open') FROM resolution";
    assert_eq!(
        cluster.database.number(resolutions).await,
        0,
        "one resolution per message"
    );
}
