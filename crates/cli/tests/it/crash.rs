//! The hub is killed repeatedly under load. Everything it acknowledged survives.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::harness::*;

const WORKERS: usize = 12;
/// Acknowledged requests between two kills.
const ACKS_PER_ROUND: u64 = 50;

#[derive(Clone, Copy, PartialEq)]
enum Plan {
    Answer,
    Expire,
    Complete,
    Cancel,
}

const PLANS: [Plan; 4] = [Plan::Answer, Plan::Expire, Plan::Complete, Plan::Cancel];

/// Everything the hub acknowledged.
#[derive(Default)]
struct Ledger {
    submitted: BTreeMap<String, Plan>,
    /// Message id to status and, if the reply had one, `resolution_id`.
    resolved: BTreeMap<String, (String, Option<String>)>,
}

struct Load {
    bot: Api,
    owner: Api,
    callback: String,
    ledger: Mutex<Ledger>,
    progress: watch::Sender<u64>,
    count: AtomicU64,
    stop: AtomicBool,
}

/// Retries until the hub replies, like an agent that lost its connection.
async fn post_with_retry(api: &Api, path: &str, body: &str) -> Reply {
    let attempts = async {
        loop {
            match Api::try_send(api.post_request(path, body.to_owned())).await {
                Ok(reply) => return reply,
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    };
    within(path, attempts).await
}

impl Load {
    fn envelope(&self, nth: u64, plan: Plan) -> Value {
        let envelope = if plan == Plan::Complete {
            task("bot")
        } else {
            ask("bot")
        };
        let mut envelope = push_to(envelope, &format!("{}/{nth}", self.callback));
        envelope["state"] = json!({"nth": nth});
        if plan == Plan::Expire {
            envelope["request"]["default_on_expire"] = json!("deny");
            envelope["expires_at"] = json!(from_now(1500));
        }
        envelope
    }

    async fn work(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let nth = self.count.fetch_add(1, Ordering::Relaxed);
            let plan = PLANS[nth as usize % PLANS.len()];
            let envelope = self.envelope(nth, plan);
            let reply = post_with_retry(&self.bot, "/v1/messages", &envelope.to_string()).await;
            // An ask with a short expiry may expire before its first arrival while the hub is down.
            if plan == Plan::Expire && reply.status == 422 {
                continue;
            }
            let id = reply.expect(202)["id"].as_str().expect("an id").to_owned();
            self.ledger.lock().unwrap().submitted.insert(id.clone(), plan);
            self.progress.send_modify(|steps| *steps += 1);
            self.resolve(&id, plan).await;
        }
    }

    async fn resolve(&self, id: &str, plan: Plan) {
        let path = format!("/v1/messages/{id}/resolve");
        let reply = match plan {
            Plan::Answer => post_with_retry(&self.owner, &path, r#"{"resolution":"answered","value":"approve"}"#).await,
            Plan::Complete => post_with_retry(&self.owner, &path, r#"{"resolution":"completed"}"#).await,
            Plan::Cancel => post_with_retry(&self.bot, &format!("/v1/messages/{id}/cancel"), "").await,
            Plan::Expire => return,
        };
        // 409: an earlier attempt was committed but its reply was lost.
        let body = if reply.status == 409 {
            reply.refused("already_terminal")
        } else {
            reply.expect(200)
        };
        let status = body["status"].as_str().expect("a status").to_owned();
        let resolution_id = body["resolution_id"].as_str().map(str::to_owned);
        self.ledger
            .lock()
            .unwrap()
            .resolved
            .insert(id.to_owned(), (status, resolution_id));
        self.progress.send_modify(|steps| *steps += 1);
    }
}

/// Checks every acknowledged message against its pulled outcome, and returns the resolution ids.
async fn check_pulls(load: &Load) -> BTreeMap<String, String> {
    let ledger = std::mem::take(&mut *load.ledger.lock().unwrap());
    let mut resolutions = BTreeMap::new();
    for (id, plan) in &ledger.submitted {
        let reply = Api::send(load.bot.request(Method::GET, &format!("/v1/messages/{id}?wait=20"))).await;
        let body = reply.expect(200);
        let expected = match plan {
            Plan::Answer => "answered",
            Plan::Expire => "expired",
            Plan::Complete => "completed",
            Plan::Cancel => "cancelled",
        };
        assert_eq!(body["status"], expected, "{body}");
        let resolution_id = body["response"]["resolution_id"]
            .as_str()
            .expect("a resolution_id")
            .to_owned();
        if let Some((status, acknowledged)) = ledger.resolved.get(id) {
            assert_eq!(&body["status"], status, "{body}");
            assert!(
                acknowledged
                    .as_ref()
                    .is_none_or(|acknowledged| *acknowledged == resolution_id),
                "{body}"
            );
        }
        resolutions.insert(id.clone(), resolution_id);
    }
    resolutions
}

/// A hub, a receiver that refuses every fifth push once, and the state the workers share.
async fn stage(setup: Setup) -> (Hub, Receiver, Arc<Load>) {
    let config = "[push]\nfirst_retry_ms = 20\n[limits]\nrequests_per_minute = 0\ninbox_depth = 0\n";
    let hub = setup.args(&["--allow-loopback-callbacks"]).config(config).start().await;
    let receiver = Receiver::start().await;
    for nth in (0..5000).step_by(5) {
        receiver.script(&format!("/{nth}"), &[PushReply::Status(503)]);
    }
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    // The owner's token in hub.json may change on restart; a token of a person does not.
    let token = hub
        .owner
        .post("/v1/admin/people/token", &json!({"name": "owner"}))
        .await
        .expect(200)["token"]
        .clone();
    let load = Load {
        bot: Api::clone(&bot),
        owner: hub.anonymous().bearer(token.as_str().expect("a token")),
        callback: receiver.url(""),
        ledger: Mutex::default(),
        progress: watch::Sender::new(0),
        count: AtomicU64::new(0),
        stop: AtomicBool::new(false),
    };
    (hub, receiver, Arc::new(load))
}

/// Every resolution reaches the receiver, and no message has two resolutions.
async fn check_pushes(receiver: &Receiver, resolutions: &BTreeMap<String, String>) {
    let pushes = receiver
        .until("every resolution reaches the receiver", |pushes| {
            let reached: BTreeSet<String> = pushes.iter().map(Push::resolution_id).collect();
            resolutions
                .values()
                .all(|resolution_id| reached.contains(resolution_id))
        })
        .await;
    for push in pushes {
        let body = push.json();
        let id = body["in_reply_to"].as_str().expect("in_reply_to");
        let resolution_id = resolutions
            .get(id)
            .unwrap_or_else(|| panic!("{id} was pushed and never acknowledged"));
        assert_eq!(push.resolution_id(), *resolution_id, "{id} has two resolutions");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_messages_survive_repeated_kills() {
    survive_kills(Setup::default(), 20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_messages_survive_repeated_kills_on_postgresql() {
    let database = Database::create().await;
    survive_kills(Setup::default().database_url(&database.url()), 5).await;
}

async fn survive_kills(setup: Setup, rounds: usize) {
    let (mut hub, receiver, load) = stage(setup).await;
    let mut steps = load.progress.subscribe();
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS {
        let load = load.clone();
        workers.spawn(async move { load.work().await });
    }
    for _ in 0..rounds {
        let until = *steps.borrow_and_update() + ACKS_PER_ROUND;
        within("the load makes progress", steps.wait_for(|&steps| steps >= until))
            .await
            .expect("workers live");
        hub.kill();
        hub.restart().await;
    }
    load.stop.store(true, Ordering::Relaxed);
    within("the workers end", workers.join_all()).await;
    let resolutions = check_pulls(&load).await;
    check_pushes(&receiver, &resolutions).await;
    println!("{} messages over {rounds} kills", resolutions.len());
}
