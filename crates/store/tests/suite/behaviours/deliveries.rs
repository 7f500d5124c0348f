use std::time::Duration;

use countersign_core::delivery::Track;
use countersign_core::message::Outcome;
use countersign_core::{Command, Verdict};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{Application, Claim, Delivery, Settlement};
use countersign_store::ops::audit::Trail;
use countersign_store::ops::deliver::{
    ClaimDue, Deliveries, NextDue, PendingHosts, ReleaseClaims, RetryDelivery, Settle,
};
use futures_util::future::join_all;

use crate::scene::*;

const LEASE: Duration = Duration::from_millis(100);

async fn claim_from(store: &Store, host: &str, limit: i64) -> Vec<Claim> {
    store.run(ClaimDue { host: host.to_owned(), limit, lease: LEASE }).await.unwrap()
}

async fn claim(store: &Store) -> Vec<MessageId> {
    claim_from(store, HOST, 100).await.into_iter().map(|claim| claim.message_id).collect()
}

async fn next_due(store: &Store) -> Option<Timestamp> {
    store.run(NextDue { host: HOST.to_owned() }).await.unwrap()
}

async fn settle(store: &Store, number: u64, settlement: Settlement) {
    store.run(Settle { message_id: message_id(number), settlement }).await.unwrap();
}

async fn delivery(store: &Store, number: u64) -> Delivery {
    viewed(store, &message_id(number)).await.delivery.expect("it has to be brought")
}

fn failed() -> Settlement {
    Settlement::Failed { reason: "answered 404".to_owned() }
}

async fn owe(store: &Store, numbers: impl IntoIterator<Item = u64>) {
    for number in numbers {
        submitted_and_resolved(store, &Draft::pushed(number)).await;
    }
}

pub async fn the_obligation_comes_with_the_resolution(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::pushed(1)).await;
    assert!(store.run(PendingHosts).await.unwrap().is_empty(), "an open message owes nothing");
    clock.set(at(5));
    match apply(store, &id, answer("approve")).await {
        Application::Resolved(applied) => assert_eq!(applied.push_host.as_deref(), Some(HOST)),
        other => panic!("expected a resolution, got {other:?}"),
    }
    let expected = Delivery {
        message_id: id,
        agent_id: BUILDER.to_owned(),
        host: HOST.to_owned(),
        track: Track::Pending,
        attempts: 0,
        created_at: at(5),
        next_attempt_at: Some(at(5)),
        delivered_at: None,
        last_error: None,
    };
    assert_eq!(delivery(store, 1).await, expected);
    assert_eq!(store.run(Deliveries { track: None, limit: 10 }).await.unwrap(), [expected]);
    assert_eq!(store.run(PendingHosts).await.unwrap(), [HOST]);
    assert_eq!(next_due(store).await, Some(at(5)));
}

pub async fn every_outcome_has_to_be_brought(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    clock.set(at(11));
    let late = Draft { expires_at: Some(at(10)), ..Draft::pushed(4) };
    let task = Draft { callback: Some(callback_to(HOST)), ..Draft::task(5) };
    let cases = [
        (Draft::pushed(1), answer("deny"), Outcome::Answered),
        (Draft::pushed(2), by_alice(Verdict::Declined), Outcome::Declined),
        (Draft::pushed(3), Command::Cancel, Outcome::Cancelled),
        (late, answer("approve"), Outcome::Expired),
        (task, by_alice(Verdict::Dismissed(None)), Outcome::Dismissed),
    ];
    for (draft, command, outcome) in cases {
        let id = submitted(store, &draft).await;
        assert_eq!(resolved(store, &id, command).await.outcome, outcome);
        assert_eq!(delivery(store, draft.number).await.track, Track::Pending);
    }
    assert_eq!(claim(store).await.len(), 5);
}

pub async fn without_a_callback_nothing_is_owed(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::ask(1)).await;
    match apply(store, &id, answer("approve")).await {
        Application::Resolved(applied) => assert_eq!(applied.push_host, None),
        other => panic!("expected a resolution, got {other:?}"),
    }
    submitted(store, &Draft { callback: Some(callback_to(HOST)), ..Draft::notify(2) }).await;
    assert!(store.run(Deliveries { track: None, limit: 10 }).await.unwrap().is_empty());
    assert_eq!(next_due(store).await, None);
}

pub async fn a_claim_is_a_lease(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    owe(store, [1]).await;
    let claims = claim_from(store, HOST, 100).await;
    let [taken] = claims.as_slice() else { panic!("one is due, not {claims:?}") };
    assert_eq!((taken.agent_id.as_str(), taken.attempts, taken.created_at), (BUILDER, 0, at(0)));
    assert_eq!(next_due(store).await, Some(at(100)), "until the lease ends");
    for millis in [0, 50, 99] {
        clock.set(at(millis));
        assert!(claim(store).await.is_empty(), "nobody else gets it at {millis}");
    }
    clock.set(at(100));
    assert_eq!(claim(store).await, [message_id(1)], "nobody settled it, so it is due again");
    assert_eq!(next_due(store).await, Some(at(200)));
    assert_eq!(delivery(store, 1).await.attempts, 0, "a claim is not an attempt");
}

pub async fn a_claim_is_for_one_host_and_takes_the_longest_due(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for (number, millis) in [(3, 10), (1, 20), (2, 30)] {
        clock.set(at(millis));
        owe(store, [number]).await;
    }
    submitted_and_resolved(store, &Draft { callback: Some(callback_to("other.example")), ..Draft::ask(4) }).await;
    let mut hosts = store.run(PendingHosts).await.unwrap();
    hosts.sort();
    assert_eq!(hosts, [HOST, "other.example"]);
    let mut first: Vec<_> = claim_from(store, HOST, 2).await.into_iter().map(|claim| claim.message_id).collect();
    first.sort();
    assert_eq!(first, [1, 3].map(message_id));
    assert_eq!(claim(store).await, [message_id(2)]);
    assert!(claim_from(store, "hooks.example", 10).await.is_empty(), "a name is not its name and port");
    assert_eq!(claim_from(store, "other.example", 10).await.len(), 1);
}

pub async fn two_claimants_never_share_an_obligation(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    owe(store, 1..=20).await;
    let claims = join_all((0..8).map(|_| claim_from(store, HOST, 3))).await;
    let mut taken: Vec<_> = claims.into_iter().flatten().map(|claim| claim.message_id).collect();
    taken.sort();
    assert_eq!(taken, (1..=20).map(message_id).collect::<Vec<_>>());
}

pub async fn after_a_crash_claims_are_due_at_once(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    owe(store, [1, 2, 3]).await;
    assert_eq!(claim(store).await.len(), 3);
    settle(store, 1, Settlement::Delivered).await;
    settle(store, 2, Settlement::Retry { at: at(5_000), reason: "answered 503".to_owned() }).await;
    clock.set(at(1));
    assert_eq!(store.run(ReleaseClaims).await.unwrap(), 1, "only what was under way");
    assert_eq!(claim(store).await, [message_id(3)]);
    assert_eq!(delivery(store, 2).await.next_attempt_at, Some(at(5_000)), "a retry keeps its time");
}

pub async fn a_delivered_obligation_is_over(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    owe(store, [1]).await;
    claim(store).await;
    clock.set(at(7));
    settle(store, 1, Settlement::Delivered).await;
    // An attempt whose lease had run out reports late: what was brought stays brought.
    settle(store, 1, failed()).await;
    settle(store, 1, Settlement::Retry { at: at(8), reason: "timed out".to_owned() }).await;
    let brought = delivery(store, 1).await;
    assert_eq!((brought.track, brought.attempts, brought.delivered_at), (Track::Delivered, 1, Some(at(7))));
    assert_eq!((brought.next_attempt_at, brought.last_error), (None, None));
    clock.set(at(1_000_000));
    assert!(claim(store).await.is_empty());
    assert!(store.run(PendingHosts).await.unwrap().is_empty());
    assert_eq!(next_due(store).await, None);
}

pub async fn a_failed_attempt_may_be_the_last(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    owe(store, [1]).await;
    claim(store).await;
    settle(store, 1, failed()).await;
    let lost = delivery(store, 1).await;
    assert_eq!((lost.track, lost.attempts, lost.last_error.as_deref()), (Track::Failed, 1, Some("answered 404")));
    assert_eq!((lost.next_attempt_at, lost.delivered_at), (None, None));
    clock.set(at(1_000_000));
    assert!(claim(store).await.is_empty());
    assert_eq!(store.run(ReleaseClaims).await.unwrap(), 0);
}

pub async fn a_failed_attempt_may_be_repeated(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    owe(store, [1]).await;
    for attempt in 1..=3_u32 {
        let next = at(i64::from(attempt) * 1_000);
        assert_eq!(claim(store).await, [message_id(1)]);
        settle(store, 1, Settlement::Retry { at: next, reason: format!("answered 50{attempt}") }).await;
        let waiting = delivery(store, 1).await;
        assert_eq!((waiting.track, waiting.attempts, waiting.next_attempt_at), (Track::Pending, attempt, Some(next)));
        assert_eq!(waiting.last_error, Some(format!("answered 50{attempt}")));
        clock.set(next.minus(Duration::from_millis(1)));
        assert!(claim(store).await.is_empty(), "not before its time");
        clock.set(next);
    }
    assert_eq!(claim_from(store, HOST, 1).await[0].attempts, 3);
    settle(store, 1, Settlement::Delivered).await;
    let brought = delivery(store, 1).await;
    assert_eq!((brought.track, brought.attempts, brought.last_error), (Track::Delivered, 4, None));
}

pub async fn a_person_may_start_another_round(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    owe(store, [1]).await;
    claim(store).await;
    settle(store, 1, failed()).await;
    clock.set(at(500));
    let retry = RetryDelivery { message_id: message_id(1), actor: OWNER.to_owned() };
    assert_eq!(store.run(retry).await.unwrap().as_deref(), Some(HOST));
    let anew = delivery(store, 1).await;
    assert_eq!((anew.track, anew.attempts, anew.last_error), (Track::Pending, 0, None));
    assert_eq!((anew.created_at, anew.next_attempt_at), (at(500), Some(at(500))));
    assert_eq!(claim(store).await, [message_id(1)]);
    let trail = store.run(Trail { subject: format!("delivery:{}", message_id(1)) }).await.unwrap();
    assert_eq!((trail.len(), trail[0].entry.event.as_str()), (1, "delivery.retried"));
    assert_eq!(trail[0].entry.actor, OWNER);
}

pub async fn what_waits_for_its_next_attempt_is_tried_at_once(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    owe(store, [1]).await;
    settle(store, 1, Settlement::Retry { at: at(9_000), reason: "answered 503".to_owned() }).await;
    clock.set(at(500));
    let retry = RetryDelivery { message_id: message_id(1), actor: OWNER.to_owned() };
    assert_eq!(store.run(retry).await.unwrap().as_deref(), Some(HOST));
    let sooner = delivery(store, 1).await;
    assert_eq!((sooner.attempts, sooner.next_attempt_at), (1, Some(at(500))), "the attempts made still count");
    assert_eq!(claim(store).await, [message_id(1)]);
    let trail = store.run(Trail { subject: format!("delivery:{}", message_id(1)) }).await.unwrap();
    assert_eq!((trail.len(), trail[0].entry.event.as_str()), (1, "delivery.retried"));
}

pub async fn another_attempt_is_only_for_what_is_owed(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    owe(store, [1, 2]).await;
    submitted_and_resolved(store, &Draft::ask(3)).await;
    settle(store, 1, Settlement::Delivered).await;
    let retry = |number| RetryDelivery { message_id: message_id(number), actor: OWNER.to_owned() };
    assert_eq!(store.run(retry(1)).await.unwrap(), None, "it was brought");
    assert_eq!(store.run(retry(2)).await.unwrap().as_deref(), Some(HOST), "it is on its way already");
    assert_eq!(store.run(retry(3)).await.unwrap(), None, "nothing is owed");
    assert_eq!(store.run(retry(9)).await.unwrap(), None, "nobody knows it");
    assert_eq!(delivery(store, 2).await.next_attempt_at, Some(at(0)));
    assert_eq!(delivery(store, 1).await.track, Track::Delivered);
}

pub async fn a_list_keeps_to_its_limit(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=6 {
        clock.set(at(i64::try_from(number).unwrap()));
        owe(store, [number]).await;
    }
    for number in [1, 2] {
        settle(store, number, Settlement::Delivered).await;
        settle(store, number + 2, failed()).await;
    }
    let list = async |track, limit| {
        let found = store.run(Deliveries { track, limit }).await.unwrap();
        found.into_iter().map(|delivery| delivery.message_id).collect::<Vec<_>>()
    };
    assert_eq!(list(Some(Track::Delivered), 10).await, [2, 1].map(message_id), "the newest first");
    assert_eq!(list(Some(Track::Failed), 1).await, [message_id(4)]);
    assert_eq!(list(None, 10).await, [4, 3, 6, 5, 2, 1].map(message_id), "what needs a person first");
    assert_eq!(list(None, 3).await, [4, 3, 6].map(message_id));
}
