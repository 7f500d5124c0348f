//! People at three hubs decide, take back and answer at the same moment, while the agent waits by long-poll and push.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{LONG, hold, response, time, undo, with_undo};
use crate::harness::*;
use crate::nodes::Cluster;
use crate::runs::inbox::id_of;
use crate::runs::stage::{Client, talk};

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_decisions_have_one_winner() {
    let cluster = Cluster::with_setup(3, || with_undo(LONG)).await;
    let [first, second, third] = &cluster.hubs[..] else {
        panic!("three hubs")
    };
    let bot = cluster.agent("bot").await;
    let ann = first.person("ann", "resolver").await;
    let bob = first.person("bob", "resolver").await;
    let resolving = json!({"resolution": "answered", "value": "approve", "hold": true});
    for round in 0..12 {
        let id = bot
            .accepted(&resolvers(ask("bot"), &["human:ann", "human:bob", "human:owner"]))
            .await;
        let (anns, bobs, owners) = (&*ann, &bob.to(&second.url), &third.owner);
        let replies = tokio::join!(
            anns.resolve(&id, resolving.clone()),
            bobs.resolve(&id, resolving.clone()),
            owners.answer(&id, "deny")
        );
        let replies = [(anns, replies.0), (bobs, replies.1), (owners, replies.2)];
        let (won, lost): (Vec<_>, Vec<_>) = replies.iter().partition(|(_, reply)| reply.status < 300);
        let [(winner, reply)] = won[..] else {
            panic!("round {round}: one winner, not {}", won.len())
        };
        if reply.status == 202 {
            lost.iter().for_each(|(_, reply)| drop(reply.refused("held")));
            assert_eq!(bot.pull(&id).await["status"], "open");
            undo(winner, &id).await.expect(200);
            undo(&winner.to(&third.url), &id).await.refused("not_held");
        } else {
            lost.iter()
                .for_each(|(_, reply)| reply.refused_as_terminal(&id, "answered"));
        }
    }
    assert_eq!(cluster.database.number("SELECT count(*) FROM hold").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_take_back_racing_the_end_of_the_hold_has_one_outcome() {
    race_the_end(1, || ask("bot")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_take_back_racing_the_expiry_has_one_outcome() {
    race_the_end(LONG, || {
        let mut envelope = expiring(ask("bot"), 4000);
        envelope["request"]["default_on_expire"] = json!("deny");
        envelope
    })
    .await;
}

/// Ann approves at the first hub. At the end of each hold she takes it back at the second hub, while the owner denies at
/// the first. The agent waits at the third.
async fn race_the_end(undo_seconds: u32, envelope: impl Fn() -> Value) {
    let config = format!("undo_seconds = {undo_seconds}\n[push]\nfirst_retry_ms = 20\n");
    let setup = || Setup::default().args(&["--allow-loopback-callbacks"]).config(&config);
    let cluster = Cluster::with_setup(3, setup).await;
    let receiver = Receiver::start().await;
    let bot = cluster.agent("bot").await;
    cluster.hubs[0].approve(&bot, &receiver.host()).await;
    let ann = cluster.hubs[0].person("ann", "resolver").await;
    let mut held = Vec::new();
    for number in 0..16 {
        let envelope = push_to(envelope(), &receiver.url(&format!("/{number}")));
        let id = bot.accepted(&resolvers(envelope, &["human:ann", "human:owner"])).await;
        let until = time(&hold(&ann, &id, "approve").await["until"]);
        held.push((id, until));
    }
    let race = Race {
        waiting: bot.at(&cluster.hubs[2]),
        author: ann.to(&cluster.hubs[1].url),
        rival: cluster.hubs[0].owner.clone(),
    };
    // Each round starts when the hold before it has ended, just before its own ends.
    let rounds = held
        .windows(2)
        .map(|pair| race.round(&pair[0].0, &pair[1].0, pair[1].1));
    let resolution_ids = join_all(rounds).await;
    for (number, resolution_id) in (1..).zip(&resolution_ids) {
        let pushed = receiver.at(&format!("/{number}"), 1).await;
        assert!(pushed.iter().all(|push| push.resolution_id() == *resolution_id));
    }
    assert_eq!(cluster.database.number("SELECT count(*) FROM resolution").await, 16);
    assert_eq!(cluster.database.number("SELECT count(*) FROM hold").await, 0);
}

struct Race {
    waiting: Api,
    author: Api,
    rival: Api,
}

impl Race {
    /// Returns the resolution id.
    async fn round(&self, earlier: &str, id: &str, until: jiff::Timestamp) -> String {
        let waiting = async {
            let outcome = self.waiting.outcome(id).await;
            (outcome, jiff::Timestamp::now())
        };
        let racing = async {
            self.waiting.outcome(earlier).await;
            let (undone, answered) = tokio::join!(undo(&self.author, id), self.rival.answer(id, "deny"));
            if undone.status != 200 {
                undone.refused_as_terminal(id, "answered");
                assert_ne!(answered.status, 200, "a decision that was sent stays");
            } else if answered.status != 200 {
                answered.refused("held");
                let again = self.rival.answer(id, "deny").await;
                assert!(
                    again.status == 200 || again.json()["status"] == "expired",
                    "{}",
                    again.text()
                );
            }
            undone.status == 200
        };
        let ((outcome, seen_at), is_undone) = tokio::join!(waiting, racing);
        let expected = if is_undone { "deny" } else { "approve" };
        assert_eq!(response(&outcome)["value"], expected, "{outcome}");
        assert!(is_undone || (seen_at >= until && time(&response(&outcome)["resolved_at"]) >= until));
        assert_eq!(self.waiting.pull(id).await, outcome);
        outcome["response"]["resolution_id"].as_str().expect("an id").to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_take_back_releases_the_decision_and_says_so() {
    let cluster = Cluster::with_setup(1, || with_undo(1)).await;
    let owner = &cluster.hubs[0].owner;
    let bot = cluster.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let until = time(&hold(owner, &id, "approve").await["until"]);
    // The timer skips a locked row, and the take-back waits for it.
    let lock = cluster
        .database
        .locked(&format!("SELECT 1 FROM message WHERE id = '{id}' FOR UPDATE"))
        .await;
    eventually("the hold ends", async || (jiff::Timestamp::now() > until).then_some(())).await;
    let late = async {
        let late = undo(owner, &id).await;
        (late, bot.pull(&id).await)
    };
    let unlocking = async {
        cluster.database.until_blocked().await;
        lock.batch_execute("ROLLBACK").await.expect("the lock ends");
    };
    let ((late, pulled), ()) = tokio::join!(late, unlocking);
    late.refused_as_terminal(&id, "answered");
    assert_eq!(response(&pulled)["value"], "approve", "{pulled}");
    assert!(time(&response(&pulled)["resolved_at"]) > until);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_waits_at_one_hub_for_a_decision_held_at_another_and_taken_back_at_a_third() {
    let cluster = Cluster::with_setup(3, || with_undo(LONG)).await;
    let mut client = Client::connect(&cluster.hubs[0]).await;
    let run = client.start_strategy(&cluster.hubs[0], &talk(), "").await;
    client.next_question().await;
    let id = id_of(&cluster.hubs[0], &run).await;
    hold(&cluster.hubs[1].owner, &id, "go").await;
    undo(&cluster.hubs[2].owner, &id).await.expect(200);
    cluster.hubs[1].owner.answer(&id, "stop").await.expect(200);
    assert_eq!(client.result().await, "stop");
}
