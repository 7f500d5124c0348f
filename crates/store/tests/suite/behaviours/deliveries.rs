use std::time::Duration;

use countersign_core::delivery::DeliveryState;
use countersign_core::message::Outcome;
use countersign_core::{Command, Verdict};
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{ApplyOutcome, Delivery, Settlement};
use countersign_store::ops::deliver::{ClaimDue, Deliveries, DueHosts, NextDue, PendingHosts, RetryDelivery};
use countersign_store::ops::message::audit::Trail;
use futures_util::future::join_all;

use crate::nodes::*;
use crate::outbox::*;
use crate::scene::*;

async fn next_due(store: &Store) -> Option<Timestamp> {
    store.run(NextDue { host: HOST.to_owned() }).await.unwrap()
}

pub async fn delivery_is_enqueued_with_the_resolution(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::pushed(1)).await;
    assert!(
        store.run(PendingHosts).await.unwrap().is_empty(),
        "an open message owes nothing"
    );
    clock.set(at(5));
    match apply(store, &id, answer("approve")).await {
        ApplyOutcome::Resolved(applied) => assert_eq!(applied.push_host.as_deref(), Some(HOST)),
        other => panic!("expected a resolution, got {other:?}"),
    }
    let expected = Delivery {
        message_id: id,
        agent_id: BUILDER.to_owned(),
        host: HOST.to_owned(),
        state: DeliveryState::Pending,
        attempts: 0,
        created_at: at(5),
        next_attempt_at: Some(at(5)),
        delivered_at: None,
        last_error: None,
    };
    assert_eq!(delivery(store, 1).await, expected);
    assert_eq!(
        store.run(Deliveries { state: None, limit: 10 }).await.unwrap(),
        [expected]
    );
    assert_eq!(store.run(PendingHosts).await.unwrap(), [HOST]);
    assert_eq!(next_due(store).await, Some(at(5)));
}

pub async fn every_outcome_is_delivered(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    clock.set(at(11));
    let late = Draft {
        expires_at: Some(at(10)),
        ..Draft::pushed(4)
    };
    let task = Draft {
        callback: Some(callback_to(HOST)),
        ..Draft::task(5)
    };
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
        assert_eq!(delivery(store, draft.number).await.state, DeliveryState::Pending);
    }
    assert_eq!(claim(store).await.len(), 5);
}

pub async fn without_a_callback_there_is_no_delivery(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::ask(1)).await;
    match apply(store, &id, answer("approve")).await {
        ApplyOutcome::Resolved(applied) => assert_eq!(applied.push_host, None),
        other => panic!("expected a resolution, got {other:?}"),
    }
    submitted(
        store,
        &Draft {
            callback: Some(callback_to(HOST)),
            ..Draft::notify(2)
        },
    )
    .await;
    assert!(
        store
            .run(Deliveries { state: None, limit: 10 })
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(next_due(store).await, None);
}

pub async fn a_claim_is_a_lease(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enqueue_deliveries(store, [1]).await;
    let taken = only_claim(store).await;
    assert_eq!(
        (taken.agent_id.as_str(), taken.attempts, taken.created_at),
        (BUILDER, 0, at(0))
    );
    assert_eq!((taken.node.as_str(), taken.until), (NODE, at(100)));
    assert_eq!(next_due(store).await, Some(at(100)), "until the lease ends");
    for millis in [0, 50, 99] {
        clock.set(at(millis));
        assert!(claim(store).await.is_empty(), "it is not claimed twice at {millis}");
    }
    clock.set(at(100));
    assert_eq!(
        claim(store).await,
        [message_id(1)],
        "it was not settled, so it is due again"
    );
    assert_eq!(next_due(store).await, Some(at(200)));
    assert_eq!(delivery(store, 1).await.attempts, 0, "a claim is not an attempt");
}

pub async fn a_claim_is_for_one_host_and_takes_the_longest_due(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for (number, millis) in [(3, 10), (1, 20), (2, 30)] {
        clock.set(at(millis));
        enqueue_deliveries(store, [number]).await;
    }
    submitted_and_resolved(
        store,
        &Draft {
            callback: Some(callback_to("other.example")),
            ..Draft::ask(4)
        },
    )
    .await;
    enter(store, &[NODE]).await;
    let mut hosts = store.run(PendingHosts).await.unwrap();
    hosts.sort();
    assert_eq!(hosts, [HOST, "other.example"]);
    let first = take(
        store,
        ClaimDue {
            limit: 2,
            ..claim_of(NODE)
        },
    )
    .await;
    assert_eq!(
        first.into_iter().map(|claim| claim.message_id).collect::<Vec<_>>(),
        [1, 3].map(message_id)
    );
    assert_eq!(claim(store).await, [message_id(2)]);
    let from = |host: &str| ClaimDue {
        host: host.to_owned(),
        ..claim_of(NODE)
    };
    assert!(
        take(store, from("hooks.example")).await.is_empty(),
        "a name is not its name and port"
    );
    assert_eq!(take(store, from("other.example")).await.len(), 1);
}

pub async fn host_is_due_when_one_of_its_deliveries_is(store: &Store, clock: &ManualClock) {
    let due = async || store.run(DueHosts).await.unwrap();
    add_agent(store, BUILDER).await;
    assert!(due().await.is_empty());
    enqueue_deliveries(store, [1]).await;
    for (number, host) in [(2, "a.example"), (3, "z.example")] {
        submitted_and_resolved(
            store,
            &Draft {
                callback: Some(callback_to(host)),
                ..Draft::ask(number)
            },
        )
        .await;
    }
    assert_eq!(due().await, ["a.example", HOST, "z.example"]);
    let claim = only_claim(store).await;
    assert_eq!(due().await, ["a.example", "z.example"], "an attempt is under way");
    assert!(settle(store, &claim, retry(500)).await);
    clock.set(at(499));
    assert_eq!(due().await, ["a.example", "z.example"], "it waits for the next");
    assert_eq!(store.run(PendingHosts).await.unwrap(), ["a.example", HOST, "z.example"]);
    clock.set(at(500));
    assert_eq!(due().await, ["a.example", HOST, "z.example"]);
}

pub async fn two_claimants_never_share_a_delivery(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enter(store, &[NODE, OTHER]).await;
    enqueue_deliveries(store, 1..=20).await;
    let three = |node| ClaimDue {
        limit: 3,
        ..claim_of(node)
    };
    let claims = join_all((0..8).map(|number| take(store, three([NODE, OTHER][number % 2])))).await;
    let mut taken: Vec<_> = claims.into_iter().flatten().map(|claim| claim.message_id).collect();
    taken.sort();
    assert_eq!(taken, (1..=20).map(message_id).collect::<Vec<_>>());
}

pub async fn after_a_crash_claims_are_due_at_once(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enter(store, &[NODE]).await;
    enqueue_deliveries(store, [1, 2, 3]).await;
    let claims = claims(store).await;
    assert!(settle(store, &claims[0], Settlement::Delivered).await);
    assert!(settle(store, &claims[1], retry(5_000)).await);
    clock.set(at(1));
    enter(store, &[OTHER]).await;
    assert_eq!(take_over(store, start_alone(OTHER)).await.hosts, [HOST]);
    assert_eq!(claim(store).await, [message_id(3)], "only what was under way");
    assert_eq!(
        delivery(store, 2).await.next_attempt_at,
        Some(at(5_000)),
        "a retry keeps its time"
    );
}

pub async fn delivered_state_is_final(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enqueue_deliveries(store, [1]).await;
    let claim = only_claim(store).await;
    clock.set(at(7));
    assert!(settle(store, &claim, Settlement::Delivered).await);
    // A late report after the lease expired: the success stands.
    for late in [failed(), retry(8), Settlement::Delivered] {
        assert!(!settle(store, &claim, late).await);
    }
    let brought = delivery(store, 1).await;
    assert_eq!(
        (brought.state, brought.attempts, brought.delivered_at),
        (DeliveryState::Delivered, 1, Some(at(7)))
    );
    assert_eq!((brought.next_attempt_at, brought.last_error), (None, None));
    clock.set(at(1_000_000));
    assert!(claims(store).await.is_empty());
    assert!(store.run(PendingHosts).await.unwrap().is_empty());
    assert_eq!(next_due(store).await, None);
}

pub async fn failed_attempt_can_be_final(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enqueue_deliveries(store, [1]).await;
    assert!(settle(store, &only_claim(store).await, failed()).await);
    let lost = delivery(store, 1).await;
    assert_eq!(
        (lost.state, lost.attempts, lost.last_error.as_deref()),
        (DeliveryState::Failed, 1, Some("answered 404"))
    );
    assert_eq!((lost.next_attempt_at, lost.delivered_at), (None, None));
    clock.set(at(1_000_000));
    assert!(claim(store).await.is_empty());
    enter(store, &[OTHER]).await;
    assert!(
        take_over(store, start_alone(OTHER)).await.hosts.is_empty(),
        "it was not claimed"
    );
}

pub async fn failed_attempt_can_be_retried(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enqueue_deliveries(store, [1]).await;
    for attempt in 1..=3_u32 {
        let next = at(i64::from(attempt) * 1_000);
        let again = Settlement::Retry {
            at: next,
            reason: format!("answered 50{attempt}"),
        };
        assert!(settle(store, &only_claim(store).await, again).await);
        let waiting = delivery(store, 1).await;
        assert_eq!(
            (waiting.state, waiting.attempts, waiting.next_attempt_at),
            (DeliveryState::Pending, attempt, Some(next))
        );
        assert_eq!(waiting.last_error, Some(format!("answered 50{attempt}")));
        clock.set(next.minus(Duration::from_millis(1)));
        assert!(claim(store).await.is_empty(), "not before its time");
        clock.set(next);
    }
    let last = only_claim(store).await;
    assert_eq!(last.attempts, 3);
    assert!(settle(store, &last, Settlement::Delivered).await);
    let brought = delivery(store, 1).await;
    assert_eq!(
        (brought.state, brought.attempts, brought.last_error),
        (DeliveryState::Delivered, 4, None)
    );
}

pub async fn person_can_restart_a_failed_delivery(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enqueue_deliveries(store, [1]).await;
    assert!(settle(store, &only_claim(store).await, failed()).await);
    clock.set(at(500));
    let retry = RetryDelivery {
        message_id: message_id(1),
        actor: OWNER.to_owned(),
    };
    assert_eq!(store.run(retry).await.unwrap().as_deref(), Some(HOST));
    let anew = delivery(store, 1).await;
    assert_eq!(
        (anew.state, anew.attempts, anew.last_error),
        (DeliveryState::Pending, 0, None)
    );
    assert_eq!((anew.created_at, anew.next_attempt_at), (at(500), Some(at(500))));
    assert_eq!(claim(store).await, [message_id(1)]);
    let trail = store
        .run(Trail {
            subject: format!("delivery:{}", message_id(1)),
        })
        .await
        .unwrap();
    assert_eq!((trail.len(), trail[0].entry.event.as_str()), (1, "delivery.retried"));
    assert_eq!(trail[0].entry.actor, OWNER);
}

pub async fn manual_retry_makes_a_pending_delivery_due_at_once(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enqueue_deliveries(store, [1]).await;
    assert!(settle(store, &only_claim(store).await, retry(9_000)).await);
    clock.set(at(500));
    let retry = RetryDelivery {
        message_id: message_id(1),
        actor: OWNER.to_owned(),
    };
    assert_eq!(store.run(retry).await.unwrap().as_deref(), Some(HOST));
    let sooner = delivery(store, 1).await;
    assert_eq!(
        (sooner.attempts, sooner.next_attempt_at),
        (1, Some(at(500))),
        "the attempts made still count"
    );
    assert_eq!(claim(store).await, [message_id(1)]);
    let trail = store
        .run(Trail {
            subject: format!("delivery:{}", message_id(1)),
        })
        .await
        .unwrap();
    assert_eq!((trail.len(), trail[0].entry.event.as_str()), (1, "delivery.retried"));
}

pub async fn manual_retry_needs_an_unfinished_delivery(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enqueue_deliveries(store, [1]).await;
    assert!(settle(store, &only_claim(store).await, Settlement::Delivered).await);
    enqueue_deliveries(store, [2]).await;
    submitted_and_resolved(store, &Draft::ask(3)).await;
    let retry = |number| RetryDelivery {
        message_id: message_id(number),
        actor: OWNER.to_owned(),
    };
    assert_eq!(store.run(retry(1)).await.unwrap(), None, "it was brought");
    assert_eq!(
        store.run(retry(2)).await.unwrap().as_deref(),
        Some(HOST),
        "it is on its way already"
    );
    assert_eq!(store.run(retry(3)).await.unwrap(), None, "nothing is owed");
    assert_eq!(store.run(retry(9)).await.unwrap(), None, "it is unknown");
    assert_eq!(delivery(store, 2).await.next_attempt_at, Some(at(0)));
    assert_eq!(delivery(store, 1).await.state, DeliveryState::Delivered);
}

pub async fn a_list_keeps_to_its_limit(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=6 {
        clock.set(at(i64::try_from(number).unwrap()));
        enqueue_deliveries(store, [number]).await;
    }
    let ends = [Settlement::Delivered, Settlement::Delivered, failed(), failed()];
    for (claim, end) in claims(store).await.iter().zip(ends) {
        assert!(settle(store, claim, end).await);
    }
    let list = async |state, limit| {
        let found = store.run(Deliveries { state, limit }).await.unwrap();
        found
            .into_iter()
            .map(|delivery| delivery.message_id)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        list(Some(DeliveryState::Delivered), 10).await,
        [2, 1].map(message_id),
        "the newest first"
    );
    assert_eq!(list(Some(DeliveryState::Failed), 1).await, [message_id(4)]);
    assert_eq!(
        list(None, 10).await,
        [4, 3, 6, 5, 2, 1].map(message_id),
        "what needs a person first"
    );
    assert_eq!(list(None, 3).await, [4, 3, 6].map(message_id));
}

pub async fn success_counts_even_after_the_claim_was_lost(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enqueue_deliveries(store, [1]).await;
    enter(store, &[OTHER]).await;
    let slow = only_claim(store).await;
    clock.set(at(100));
    assert_eq!(claims_of(store, OTHER).await.len(), 1, "its lease has run out");
    assert!(settle(store, &slow, Settlement::Delivered).await);
    assert!(claims_of(store, OTHER).await.is_empty());
    let brought = delivery(store, 1).await;
    assert_eq!(
        (brought.state, brought.attempts, brought.delivered_at),
        (DeliveryState::Delivered, 1, Some(at(100)))
    );
}

pub async fn a_failure_after_the_claim_is_lost_does_not_count(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enter(store, &[OTHER]).await;
    enqueue_deliveries(store, [1]).await;
    let mut lost = vec![only_claim(store).await];
    // The claim is lost to another node, and then to a later claim of the same node.
    for (node, millis) in [(OTHER, 100), (NODE, 200)] {
        clock.set(at(millis));
        let claims = claims_of(store, node).await;
        let before = delivery(store, 1).await;
        for claim in &lost {
            assert!(!settle(store, claim, failed()).await);
            assert!(!settle(store, claim, retry(5_000)).await);
        }
        assert_eq!(delivery(store, 1).await, before);
        lost.extend(claims);
    }
    let last = lost.last().expect("three were made");
    assert!(
        settle(store, last, retry(5_000)).await,
        "the holder of the claim decides"
    );
    assert!(!settle(store, last, failed()).await, "once");
    assert_eq!(
        (delivery(store, 1).await.attempts, next_due(store).await),
        (1, Some(at(5_000)))
    );
}
