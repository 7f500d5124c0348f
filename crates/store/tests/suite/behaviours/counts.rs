use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{CountsNow, Settlement};
use countersign_store::ops::admin::agents::RemoveAgent;
use countersign_store::ops::list::Counts;

use super::snooze::put_away;
use crate::outbox::{claims, failed, settle};
use crate::scene::*;

async fn counts(store: &Store, person: &str) -> CountsNow {
    store
        .run(Counts {
            person: person.to_owned(),
        })
        .await
        .unwrap()
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
