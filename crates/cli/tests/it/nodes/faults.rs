//! Three hubs under load, failing in every way: killed, cut off from the database, slow, unheard, and standing still for longer
//! than the lease. No answer is lost, none becomes two, and everybody who waits at a hub that works is answered soon.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{Cluster, PAUSE, waited};
use crate::harness::*;

/// At one hub after the other until one does it. A call that hangs is given up.
async fn somewhere(apis: &[Api], first: usize, path: &str, body: &str, good: &[u16]) -> Reply {
    let trying = async {
        for turn in first.. {
            let request = apis[turn % apis.len()].post_request(path, body);
            match tokio::time::timeout(Duration::from_secs(2), Api::try_send(request)).await {
                Ok(Ok(reply)) if good.contains(&reply.status) => return reply,
                Ok(Ok(_) | Err(_)) | Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
        unreachable!("it never ends")
    };
    within("a hub that works", trying).await
}

/// The same key, so it is one ask however often it arrives.
async fn asked(apis: &[Api], first: usize, envelope: &Value) -> String {
    let ack = somewhere(apis, first, "/v1/messages", &envelope.to_string(), &[202]).await.json();
    ack["id"].as_str().expect("an id").to_owned()
}

/// By this call or by one before whose reply did not come.
async fn answered(owners: &[Api], first: usize, id: &str) -> Instant {
    let body = json!({"resolution": "answered", "value": "approve"}).to_string();
    somewhere(owners, first, &format!("/v1/messages/{id}/resolve"), &body, &[200, 409]).await;
    Instant::now()
}

struct Load {
    agents: Vec<Api>,
    owners: Vec<Api>,
    callback: String,
    stop: AtomicBool,
    count: AtomicUsize,
}

impl Load {
    /// One after the other: asked at one hub, awaited at the hub that never fails, answered at another.
    async fn run(self: Arc<Self>, worker: usize, steady: usize) -> Vec<(String, Duration, Value)> {
        let mut done = Vec::new();
        while !self.stop.load(Ordering::SeqCst) {
            let number = self.count.fetch_add(1, Ordering::SeqCst);
            let id = asked(&self.agents, number, &push_to(ask("bot"), &self.callback)).await;
            let waiting = tokio::spawn(waited(self.agents[steady].clone(), id.clone()));
            let at = answered(&self.owners, number + worker, &id).await;
            let (had, outcome) = waiting.await.expect("no panic");
            done.push((id, had.saturating_duration_since(at), outcome));
        }
        done
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_is_lost_none_is_two_and_everybody_is_answered_soon() {
    let mut cluster = Cluster::of(3, Setup::pushing).await;
    let (receiver, bot) = (Receiver::start().await, cluster.agent("bot").await);
    cluster.hubs[0].approve(&bot, &receiver.host()).await;
    let load = Arc::new(Load {
        agents: cluster.hubs.iter().map(|hub| bot.at(hub)).collect(),
        owners: owners(&cluster).await,
        callback: receiver.url("/answers"),
        stop: AtomicBool::new(false),
        count: AtomicUsize::new(0),
    });
    let mut workers = JoinSet::new();
    for worker in 0..6 {
        workers.spawn(Arc::clone(&load).run(worker, 0));
    }
    let asked = || load.count.load(Ordering::SeqCst);
    let more = async |count: usize| {
        let before = asked();
        eventually("the others go on", async || (asked() >= before + count).then_some(())).await;
    };
    more(30).await;
    cluster.hubs[2].kill();
    more(30).await;
    cluster.wires[1].be(State::Cut);
    more(30).await;
    cluster.wires[1].be(State::Open);
    cluster.hubs[2].restart().await;
    cluster.wires[2].be(State::Slow(Duration::from_millis(20)));
    more(30).await;
    cluster.wires[2].be(State::Held);
    eventually("it is taken over from", async || (cluster.nodes().await == 2).then_some(())).await;
    more(10).await;
    cluster.wires[2].be(State::Open);
    eventually("it is back", async || (cluster.nodes().await == 3).then_some(())).await;
    cluster.hubs[1].freeze();
    eventually("it is taken over from", async || (cluster.nodes().await == 2).then_some(())).await;
    more(30).await;
    cluster.hubs[1].thaw();
    more(30).await;
    load.stop.store(true, Ordering::SeqCst);
    let mut outcomes = HashMap::new();
    let mut slowest = Duration::ZERO;
    while let Some(done) = workers.join_next().await {
        for (id, delay, outcome) in done.expect("no panic") {
            slowest = slowest.max(delay);
            assert_eq!(outcome["response"]["response"]["value"], "approve", "{outcome}");
            outcomes.insert(id, outcome["response"]["resolution_id"].clone());
        }
    }
    assert!(outcomes.len() >= 180, "{}", outcomes.len());
    assert!(slowest < Duration::from_secs(2), "{slowest:?} from an answer to whoever waited for it");
    everything_is_delivered_as_it_was_told(&cluster, &receiver, &outcomes).await;
}

/// People's tokens are good at every hub; those of hub.json end with their hub.
async fn owners(cluster: &Cluster) -> Vec<Api> {
    let made = cluster.hubs[0].owner.post("/v1/admin/people/token", &json!({"name": "owner"})).await.expect(200);
    let token = made["token"].as_str().expect("a token");
    cluster.hubs.iter().map(|hub| hub.anonymous().bearer(token)).collect()
}

async fn everything_is_delivered_as_it_was_told(
    cluster: &Cluster,
    receiver: &Receiver,
    outcomes: &HashMap<String, Value>,
) {
    let pending = "SELECT count(*) FROM delivery WHERE track <> 'delivered'";
    eventually("all is delivered", async || (cluster.database.number(pending).await == 0).then_some(())).await;
    let mut pushed: HashMap<String, Vec<String>> = HashMap::new();
    for push in receiver.seen() {
        let id = push.json()["in_reply_to"].as_str().expect("which message").to_owned();
        pushed.entry(id).or_default().push(push.resolution_id());
    }
    for (id, resolution_id) in outcomes {
        let pushed = pushed.get(id).unwrap_or_else(|| panic!("{id} was pushed"));
        assert!(pushed.iter().all(|pushed| json!(pushed) == *resolution_id), "{id}: {pushed:?}, told {resolution_id}");
    }
    let twice = "SELECT count(*) FROM message WHERE status = 'answered' AND rev <> 2";
    assert_eq!(cluster.database.number(twice).await, 0);
    let resolutions = "SELECT count(*) - (SELECT count(*) FROM message WHERE status <> 'open') FROM resolution";
    assert_eq!(cluster.database.number(resolutions).await, 0, "one resolution a message");
}
