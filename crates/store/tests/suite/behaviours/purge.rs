use countersign_core::message::Status;
use countersign_core::{Command, State};
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{ApplyOutcome, Lookup, Submission};
use countersign_store::ops::deliver::{Deliveries, LoadPushContext, PendingHosts};
use countersign_store::ops::list::History;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::pull::{Pull, View};
use countersign_store::ops::message::submit::FindDuplicate;
use countersign_store::ops::message::sweep::{OldestResolved, Purge};

use super::audit::assert_chained;
use crate::outbox::claims;
use crate::scene::*;

async fn purge(store: &Store, resolved_before: Timestamp) -> u64 {
    store
        .run(Purge {
            resolved_before,
            limit: 100,
        })
        .await
        .unwrap()
}

async fn is_gone(store: &Store, number: u64) -> bool {
    match store.run(Pull(message_id(number))).await.unwrap() {
        Some(Lookup::Purged { agent_id }) => agent_id == BUILDER,
        Some(Lookup::Present(_)) => false,
        None => panic!("a purged message is not unknown"),
    }
}

pub async fn purged_message_is_gone(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted_and_resolved(store, &Draft::ask(1)).await;
    assert_eq!(purge(store, at(1)).await, 1);
    assert!(is_gone(store, 1).await);
    let view = store.run(View(message_id(1))).await.unwrap();
    assert!(matches!(view, Some(Lookup::Purged { agent_id }) if agent_id == BUILDER));
    for command in [answer("approve"), Command::Cancel, Command::Expire] {
        assert!(matches!(
            apply(store, &message_id(1), command).await,
            ApplyOutcome::Purged
        ));
    }
    for agent_id in [None, Some(BUILDER.to_owned())] {
        let history = History {
            agent_id,
            status: None,
            before: None,
            limit: 10,
        };
        assert!(store.run(history).await.unwrap().is_empty());
    }
    assert_eq!(purge(store, at(1)).await, 0, "there is nothing left to empty");
}

pub async fn purge_frees_the_idempotency_key(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let keyed = |number, variant| Draft {
        key: Some("deploy"),
        variant,
        ..Draft::ask(number)
    };
    submitted_and_resolved(store, &keyed(1, 0)).await;
    assert_ne!(submit(store, &keyed(2, 1)).await, Submission::Created);
    purge(store, at(1)).await;
    let find = || FindDuplicate {
        agent_id: BUILDER.to_owned(),
        key: "deploy".to_owned(),
    };
    assert_eq!(store.run(find()).await.unwrap(), None);
    submitted(store, &keyed(2, 1)).await;
    assert_eq!(submit(store, &keyed(3, 1)).await, keyed(2, 1).taken(Status::Open));
}

pub async fn purge_keeps_the_audit_trail(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted_and_resolved(store, &Draft::ask(1)).await;
    let trail = || Trail {
        subject: message_id(1).to_string(),
    };
    let before = store.run(trail()).await.unwrap();
    purge(store, at(1)).await;
    let after = store.run(trail()).await.unwrap();
    assert_chained(&after);
    assert_eq!(format!("{after:?}"), format!("{before:?}"));
}

pub async fn purge_deletes_the_delivery(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted_and_resolved(store, &Draft::pushed(1)).await;
    purge(store, at(1)).await;
    assert!(
        store
            .run(Deliveries { state: None, limit: 10 })
            .await
            .unwrap()
            .is_empty()
    );
    assert!(store.run(PendingHosts).await.unwrap().is_empty());
    assert!(claims(store).await.is_empty());
    assert!(store.run(LoadPushContext(message_id(1))).await.unwrap().is_none());
}

pub async fn only_messages_that_ended_before_the_time_are_purged(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for (number, millis) in [(1, 10), (2, 20)] {
        clock.set(at(millis));
        submitted_and_resolved(store, &Draft::ask(number)).await;
    }
    submitted(store, &Draft::ask(3)).await;
    assert_eq!(store.run(OldestResolved).await.unwrap(), Some(at(10)));
    assert_eq!(purge(store, at(10)).await, 0, "at the very instant it stays");
    assert_eq!(purge(store, at(11)).await, 1);
    assert_eq!((is_gone(store, 1).await, is_gone(store, 2).await), (true, false));
    assert_eq!(store.run(OldestResolved).await.unwrap(), Some(at(20)));
    assert_eq!(purge(store, at(9_999)).await, 1);
    assert_eq!(store.run(OldestResolved).await.unwrap(), None);
    assert_eq!(
        agent_view(store, &message_id(3)).await.state,
        State::Open,
        "what is open waits as long as it has to"
    );
    assert_eq!(store.run(inbox(None, 10)).await.unwrap().items.len(), 1);
    assert_eq!(open_count(store, BUILDER).await, 1);
}

pub async fn purge_takes_the_oldest_first_and_stops_at_its_limit(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for (number, millis) in [(1, 30), (2, 10), (3, 20)] {
        clock.set(at(millis));
        submitted_and_resolved(store, &Draft::task(number)).await;
    }
    assert_eq!(
        store
            .run(Purge {
                resolved_before: at(99),
                limit: 2
            })
            .await
            .unwrap(),
        2
    );
    assert_eq!(
        (
            is_gone(store, 1).await,
            is_gone(store, 2).await,
            is_gone(store, 3).await
        ),
        (false, true, true)
    );
}

pub async fn a_notify_ages_from_its_arrival(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted(store, &Draft::notify(1)).await;
    assert_eq!(store.run(OldestResolved).await.unwrap(), Some(at(0)));
    assert_eq!(purge(store, at(1)).await, 1);
    assert!(is_gone(store, 1).await);
}
