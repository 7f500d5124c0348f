use countersign_core::message::{Outcome, Resolution};
use countersign_core::question::Ask;
use countersign_core::{Actor, Command, Payload, State, Verdict};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::ResolvedMessage;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::sweep::{ExpireDue, NextExpiry, ProveWritable, ResolvedSince};
use futures_util::future::join_all;
use serde_json::json;

use super::audit::assert_chained;
use crate::outbox::{claim, delivery};
use crate::scene::*;

fn expiring(number: u64, millis: i64) -> Draft {
    Draft {
        expires_at: Some(at(millis)),
        ..Draft::ask(number)
    }
}

/// A draft without a default answer.
fn without_default(draft: Draft) -> Draft {
    let Payload::Ask(ask) = draft.payload else {
        panic!("only an ask has a default")
    };
    Draft {
        payload: Payload::Ask(Ask {
            default_on_expire: None,
            ..ask
        }),
        ..draft
    }
}

/// Expires at most `limit` messages, and returns them sorted by id.
pub async fn expire(store: &Store, limit: usize) -> Vec<ResolvedMessage> {
    let resolution_ids = (0..limit).map(|_| resolution_id()).collect();
    let expired = store
        .run(ExpireDue {
            resolution_ids,
            skipped: Vec::new(),
        })
        .await
        .unwrap();
    assert!(expired.unreadable.is_empty());
    let mut applied = expired.applied;
    applied.sort_by(|one, other| one.view.id.cmp(&other.view.id));
    applied
}

pub async fn expired(store: &Store, limit: usize) -> Vec<MessageId> {
    expire(store, limit)
        .await
        .into_iter()
        .map(|applied| applied.view.id)
        .collect()
}

async fn next_expiry(store: &Store) -> Option<Timestamp> {
    store.run(NextExpiry::default()).await.unwrap()
}

pub async fn a_message_expires_only_after_its_expiry(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted(store, &expiring(1, 10)).await;
    submitted(store, &Draft::ask(2)).await;
    submitted(
        store,
        &Draft {
            expires_at: Some(at(10)),
            ..Draft::notify(3)
        },
    )
    .await;
    for millis in [0, 9, 10] {
        clock.set(at(millis));
        assert!(expired(store, 10).await.is_empty(), "not at {millis}");
    }
    clock.set(at(11));
    assert!(
        expired(store, 0).await.is_empty(),
        "not without an id for its resolution"
    );
    assert_eq!(expired(store, 10).await, [message_id(1)]);
    assert!(expired(store, 10).await.is_empty(), "an expired message is over");
    assert_chained(
        &store
            .run(Trail {
                subject: message_id(1).to_string(),
            })
            .await
            .unwrap(),
    );
    clock.set(at(1_000_000));
    assert!(
        expired(store, 10).await.is_empty(),
        "what has no expiry waits, and a notify is over when it comes"
    );
}

pub async fn longest_overdue_expires_first_one_per_resolution_id(store: &Store, clock: &ManualClock) {
    for agent in [BUILDER, TESTER] {
        add_agent(store, agent).await;
    }
    for (number, millis) in [(1, 30), (2, 10), (3, 20), (4, 99)] {
        let agent = if number == 2 { TESTER } else { BUILDER };
        submitted(
            store,
            &Draft {
                agent,
                ..expiring(number, millis)
            },
        )
        .await;
    }
    clock.set(at(50));
    assert_eq!(expired(store, 2).await, [2, 3].map(message_id));
    assert_eq!(expired(store, 2).await, [message_id(1)]);
    assert_eq!(next_expiry(store).await, Some(at(99)));
}

pub async fn expired_message_has_its_default_or_no_value(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted(store, &expiring(1, 10)).await;
    submitted(store, &without_default(expiring(2, 10))).await;
    submitted(
        store,
        &Draft {
            expires_at: Some(at(10)),
            ..Draft::task(3)
        },
    )
    .await;
    clock.set(at(20));
    let found: Vec<Resolution> = expire(store, 10)
        .await
        .into_iter()
        .map(|applied| applied.resolution)
        .collect();
    let values: Vec<_> = found
        .iter()
        .map(|end| (end.outcome, end.value.clone(), end.defaulted))
        .collect();
    let nothing = (Outcome::Expired, None, false);
    assert_eq!(
        values,
        [(Outcome::Expired, Some(json!("deny")), true), nothing.clone(), nothing]
    );
    assert_eq!(found[1].actor, Actor::expired());
    for (number, resolution) in (1..).zip(found) {
        assert_eq!(resolution.resolved_at, at(20));
        assert_eq!(
            agent_view(store, &message_id(number)).await.state,
            State::Resolved(resolution)
        );
    }
}

pub async fn expired_message_releases_its_slot_and_enqueues_a_delivery(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for (number, expires_at) in [(1, Some(at(10))), (2, Some(at(10))), (3, None)] {
        submitted(
            store,
            &Draft {
                expires_at,
                ..Draft::pushed(number)
            },
        )
        .await;
    }
    assert_eq!(open_count(store, BUILDER).await, 3);
    clock.set(at(11));
    let expired = expire(store, 10).await;
    assert_eq!(
        expired
            .iter()
            .map(|applied| applied.push_host.as_deref())
            .collect::<Vec<_>>(),
        [Some(HOST); 2]
    );
    assert_eq!(open_count(store, BUILDER).await, 1);
    assert_eq!(delivery(store, 1).await.next_attempt_at, Some(at(11)));
    assert_eq!(claim(store).await, [1, 2].map(message_id));
}

pub async fn answered_message_does_not_expire(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=3 {
        submitted(store, &expiring(number, 10)).await;
    }
    clock.set(at(10));
    let answered = resolved(store, &message_id(1), answer("approve")).await;
    clock.set(at(11));
    let late = resolved(store, &message_id(2), answer("approve")).await;
    assert_eq!(late.outcome, Outcome::Expired, "a late answer triggers the expiry");
    assert_eq!(expired(store, 10).await, [message_id(3)]);
    assert_eq!(agent_view(store, &message_id(1)).await.state, State::Resolved(answered));
    assert_eq!(agent_view(store, &message_id(2)).await.state, State::Resolved(late));
    assert_eq!(open_count(store, BUILDER).await, 0);
}

pub async fn concurrent_sweeps_expire_each_message_once(store: &Store, clock: &ManualClock) {
    let agents = [BUILDER, TESTER];
    for agent in agents {
        add_agent(store, agent).await;
    }
    for (number, agent) in (1..=20).zip(agents.into_iter().cycle()) {
        submitted(
            store,
            &Draft {
                agent,
                ..expiring(number, 10)
            },
        )
        .await;
    }
    clock.set(at(11));
    let mut ended: Vec<_> = join_all((0..8).map(|_| expired(store, 5)))
        .await
        .into_iter()
        .flatten()
        .collect();
    // Messages that a concurrent sweep skipped are found by the next one.
    ended.extend(expired(store, 20).await);
    ended.sort();
    assert_eq!(ended, (1..=20).map(message_id).collect::<Vec<_>>());
    for agent in agents {
        assert_eq!(open_count(store, agent).await, 0);
    }
}

pub async fn the_next_expiry_is_that_of_an_open_message(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    assert_eq!(next_expiry(store).await, None);
    submitted(store, &Draft::ask(1)).await;
    submitted(
        store,
        &Draft {
            expires_at: Some(at(5)),
            ..Draft::notify(2)
        },
    )
    .await;
    assert_eq!(next_expiry(store).await, None, "neither can expire");
    for (number, millis) in [(3, 30), (4, 20)] {
        submitted(store, &expiring(number, millis)).await;
    }
    assert_eq!(next_expiry(store).await, Some(at(20)));
    clock.set(at(25));
    assert_eq!(
        next_expiry(store).await,
        Some(at(20)),
        "what is overdue is still to be done"
    );
    resolved(store, &message_id(4), Command::Expire).await;
    assert_eq!(next_expiry(store).await, Some(at(30)));
    resolved(store, &message_id(3), Command::Cancel).await;
    assert_eq!(next_expiry(store).await, None);
}

async fn resolved_since(store: &Store, millis: i64, limit: i64) -> Vec<MessageId> {
    let mut found = store
        .run(ResolvedSince {
            since: at(millis),
            limit,
        })
        .await
        .unwrap();
    found.sort();
    found
}

pub async fn recently_resolved_messages_are_found_for_every_outcome(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let decline = Command::Resolve {
        actor: alice(),
        verdict: Verdict::Declined,
        comment: None,
    };
    let [complete, dismiss] = [Verdict::Completed(None), Verdict::Dismissed(None)].map(|verdict| Command::Resolve {
        actor: alice(),
        verdict,
        comment: None,
    });
    submitted(store, &Draft::notify(1)).await;
    submitted(store, &Draft::ask(2)).await;
    let mut ended = Vec::new();
    for (number, command) in (3..).zip([answer("approve"), decline, Command::Cancel, Command::Expire]) {
        submitted(store, &expiring(number, 10)).await;
        ended.push((number, command));
    }
    for (number, command) in (7..).zip([complete, dismiss]) {
        submitted(store, &Draft::task(number)).await;
        ended.push((number, command));
    }
    for (number, command) in ended {
        clock.set(if command == Command::Expire { at(11) } else { at(10) });
        resolved(store, &message_id(number), command).await;
    }
    assert_eq!(
        resolved_since(store, 10, 10).await,
        [3, 4, 5, 6, 7, 8].map(message_id),
        "the instant itself counts"
    );
    assert_eq!(resolved_since(store, 11, 10).await, [message_id(6)]);
    assert!(resolved_since(store, 12, 10).await.is_empty());
    submitted(store, &Draft::ask(9)).await;
    clock.set(at(12));
    resolved(store, &message_id(9), answer("approve")).await;
    let each = resolved_since(store, 0, 1).await;
    assert_eq!(each, [4, 5, 6, 7, 8, 9].map(message_id), "the latest of each outcome");
}

pub async fn readiness_write_succeeds(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    store.run(ProveWritable::at(store.clock().now())).await.unwrap();
    assert_eq!(open_count(store, BUILDER).await, 0);
}
