use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{CountsNow, Settlement};
use countersign_store::ops::admin::agents::RemoveAgent;
use countersign_store::ops::list::{Counts, OpenFor, WaitingCount};

use super::snooze::put_away;
use crate::outbox::{claims, failed, settle};
use crate::scene::*;

async fn counts(store: &Store, person: &str) -> CountsNow {
    let person = person.to_owned();
    let waiting = store.run(WaitingCount { person: person.clone() }).await.unwrap();
    let counts = store.run(Counts { person }).await.unwrap();
    assert_eq!(counts.open, waiting, "one number, however it is read");
    counts
}

async fn open_for(store: &Store, person: &str) -> String {
    let person = person.to_owned();
    store.run(OpenFor { person }).await.unwrap().to_string()
}

pub async fn open_messages_are_counted_for_the_people_who_may_resolve_them(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=99 {
        submitted(store, &Draft::ask(number)).await;
    }
    assert_eq!(open_for(store, "alice").await, "99");
    assert_eq!(open_for(store, "carol").await, "0", "she may not resolve them");
    submitted(store, &Draft::ask(100)).await;
    assert_eq!(open_for(store, "alice").await, "99+");
    for number in 1..=2 {
        assert!(put_away(store, "alice", number, Some(at(20))).await);
    }
    assert_eq!(open_for(store, "alice").await, "98", "without what she snoozed");
}

pub async fn empty_store_counts_zero(store: &Store, _clock: &ManualClock) {
    assert_eq!(counts(store, "alice").await, CountsNow::default());
}

pub async fn open_count_excludes_snoozed_messages(store: &Store, clock: &ManualClock) {
    for (agent, numbers) in [(BUILDER, 1..=3), (TESTER, 4..=5)] {
        add_agent(store, agent).await;
        for number in numbers {
            submitted(
                store,
                &Draft {
                    agent,
                    ..Draft::ask(number)
                },
            )
            .await;
        }
    }
    for (number, until) in [(1, 10), (2, 20), (4, 20)] {
        assert!(put_away(store, "alice", number, Some(at(until))).await);
    }
    assert_eq!(
        (counts(store, "alice").await.open, counts(store, "bob").await.open),
        (2, 5)
    );
    clock.set(at(10));
    assert_eq!(counts(store, "alice").await.open, 3);
    resolved(store, &message_id(2), answer("approve")).await;
    assert_eq!(
        (counts(store, "alice").await.open, counts(store, "bob").await.open),
        (3, 4)
    );
}

pub async fn open_messages_of_removed_agents_are_counted(store: &Store, _clock: &ManualClock) {
    for (agent, numbers) in [(BUILDER, 1..=3), (TESTER, 4..=5)] {
        add_agent(store, agent).await;
        for number in numbers {
            submitted(
                store,
                &Draft {
                    agent,
                    ..Draft::ask(number)
                },
            )
            .await;
        }
    }
    let remove = |id: &str| RemoveAgent {
        id: id.to_owned(),
        actor: OWNER.to_owned(),
    };
    for agent in [BUILDER, TESTER] {
        assert!(store.run(remove(agent)).await.unwrap());
    }
    assert_eq!(counts(store, "alice").await.open, 5);
    resolved(store, &message_id(1), answer("approve")).await;
    assert_eq!(counts(store, "alice").await.open, 4);
    add_agent(store, BUILDER).await;
    assert_eq!(
        counts(store, "alice").await.open,
        4,
        "one that comes back counts its own again"
    );
    for number in 2..=5 {
        resolved(store, &message_id(number), answer("approve")).await;
    }
    assert_eq!(counts(store, "alice").await.open, 0);
}

pub async fn notices_are_counted_until_they_are_archived(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=3 {
        submitted(store, &Draft::notify(number)).await;
    }
    submitted_and_resolved(store, &Draft::ask(4)).await;
    for number in [2, 4] {
        assert!(put_away(store, "alice", number, None).await);
    }
    assert_eq!(
        (counts(store, "alice").await.notices, counts(store, "bob").await.notices),
        (2, 3)
    );
}

pub async fn notice_count_is_capped_at_a_hundred(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=102 {
        submitted(store, &Draft::notify(number)).await;
    }
    assert_eq!(counts(store, "alice").await.notices, 100);
}

pub async fn failed_deliveries_are_counted(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=3 {
        submitted_and_resolved(store, &Draft::pushed(number)).await;
    }
    for (claim, settlement) in claims(store).await.iter().zip([failed(), Settlement::Delivered]) {
        assert!(settle(store, claim, settlement).await);
    }
    assert_eq!(counts(store, "alice").await.failing, 1);
}
