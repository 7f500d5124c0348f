//! Missing notifications, as when a hub dies between its commit and its NOTIFY. A bare store plays such a hub here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_core::{Actor, Command, Verdict};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_store::Store;
use countersign_store::clock::DatabaseClock;
use countersign_store::model::{ApplyOutcome, ResolveRequest};
use countersign_store::ops::message::apply::Apply;
use countersign_store::ops::node::RegisterNode;
use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use super::inbox::read_until;
use super::{Cluster, until_waiters};
use crate::harness::*;
use crate::runs::stage::*;

/// Below the 25 s after which a run looks for its answer by itself, and many rounds of reconciliation.
const RECONCILE_TIMEOUT: Duration = Duration::from_secs(20);

/// A node that writes to the store and never notifies.
struct SilentNode(Store);

impl SilentNode {
    async fn join(cluster: &Cluster) -> Self {
        let clock = Arc::new(DatabaseClock::default());
        Self(
            Store::open_postgres(&cluster.database.url(), clock)
                .await
                .expect("the database opens"),
        )
    }

    async fn answer(&self, id: &str, value: &str) -> Instant {
        let request = ResolveRequest {
            message_id: id.parse::<MessageId>().expect("an id"),
            command: Command::Resolve {
                actor: Actor::human("owner"),
                verdict: Verdict::Answered(json!(value)),
                comment: None,
            },
            resolution_id: ResolutionId::from_uuid(Uuid::new_v4()),
            files: Vec::new(),
        };
        let applied = self.0.run(Apply(request)).await.expect("the database answers");
        assert!(matches!(applied, ApplyOutcome::Resolved(_)), "{applied:?}");
        Instant::now()
    }
}

fn assert_soon(since: Instant) {
    assert!(since.elapsed() < RECONCILE_TIMEOUT, "{:?}", since.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_a_notification_reaches_waiters_and_viewers() {
    let cluster = Cluster::start(1).await;
    let agent = cluster.agent("bot").await;
    let silent = SilentNode::join(&cluster).await;
    let [first, second] = [agent.accepted(&ask("bot")).await, agent.accepted(&ask("bot")).await];
    let waiting = tokio::spawn({
        let agent = agent.at(&cluster.hubs[0]);
        let first = first.clone();
        async move { agent.outcome(&first).await }
    });
    until_waiters(&cluster.hubs[0], 1).await;
    let answered = silent.answer(&first, "approve").await;
    let outcome = within("the long-poll", waiting).await.expect("no panic");
    assert_soon(answered);
    assert_eq!(outcome["response"]["response"]["value"], "approve");
    let mut viewer = cluster.hubs[0]
        .owner
        .request(Method::GET, "/v1/inbox/events")
        .send()
        .await
        .expect("a stream");
    read_until(&mut viewer, &["id: "]).await;
    let answered = silent.answer(&second, "approve").await;
    read_until(&mut viewer, &["event: resolved", &second]).await;
    assert_soon(answered);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_a_notification_resumes_its_run() {
    let cluster = Cluster::start(2).await;
    let silent = SilentNode::join(&cluster).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &talk(), "").await;
    here.next_question().await;
    let mut extended = Client::connect(&cluster.hubs[0]).await;
    extended
        .send(json!({"type": "subscribe", "runId": run, "extensions": true}))
        .await;
    extended.expect("request_input").await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.subscribe(&run).await;
    there.expect("request_input").await;
    until_waiters(&cluster.hubs[0], 1).await;
    let item = crate::runs::inbox::item_of(&cluster.hubs[1], &run).await;
    let answered = silent.answer(item["id"].as_str().expect("an id"), "hello").await;
    extended.expect("input_resolved").await;
    assert_eq!(here.result().await, "hello");
    assert_eq!(there.result().await, "hello");
    assert_soon(answered);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_gets_each_event_once() {
    let cluster = Cluster::start(2).await;
    let agent = cluster.agent("bot").await;
    let mut viewer = cluster.hubs[1]
        .owner
        .request(Method::GET, "/v1/inbox/events")
        .send()
        .await
        .expect("a stream");
    read_until(&mut viewer, &["id: "]).await;
    let first = agent.accepted(&ask("bot")).await;
    cluster.hubs[0].owner.answer(&first, "approve").await.expect(200);
    read_until(&mut viewer, &["event: resolved", &first]).await;
    // By then reconciliation has also covered the first answer.
    let silent = SilentNode::join(&cluster).await;
    let second = agent.accepted(&ask("bot")).await;
    silent.answer(&second, "approve").await;
    let text = read_until(&mut viewer, &["event: resolved", &second]).await;
    assert_eq!(text.matches("event: resolved").count(), 1, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_at_all_hubs_get_a_resync_when_a_node_is_gone() {
    let cluster = Cluster::start(3).await;
    let silent = SilentNode::join(&cluster).await;
    let mut viewers = Vec::new();
    for hub in &cluster.hubs {
        let mut viewer = hub
            .owner
            .request(Method::GET, "/v1/inbox/events")
            .send()
            .await
            .expect("a stream");
        read_until(&mut viewer, &["id: "]).await;
        viewers.push(viewer);
    }
    silent
        .0
        .run(RegisterNode {
            id: silent.0.node(),
            lease: Duration::from_millis(1),
        })
        .await
        .expect("a node lease");
    for viewer in &mut viewers {
        read_until(viewer, &["event: resync"]).await;
    }
}
