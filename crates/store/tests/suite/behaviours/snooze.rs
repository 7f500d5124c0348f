use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::SnoozedItem;
use countersign_store::ops::list::{Inbox, ListSnoozed};
use countersign_store::ops::message::snooze::{RestoreItem, SnoozeOrArchive};
use countersign_store::ops::message::sweep::Purge;

use crate::scene::*;

pub async fn put_away(store: &Store, person: &str, number: u64, until: Option<Timestamp>) -> bool {
    store
        .run(SnoozeOrArchive {
            person: person.to_owned(),
            id: message_id(number),
            until,
        })
        .await
        .unwrap()
}

pub async fn take_back(store: &Store, person: &str, number: u64) -> bool {
    store
        .run(RestoreItem {
            person: person.to_owned(),
            id: message_id(number),
        })
        .await
        .unwrap()
}

/// The open messages as a person sees them.
async fn seen_by(store: &Store, person: &str) -> Vec<MessageId> {
    ids(&store
        .run(Inbox {
            viewer: Some(person.to_owned()),
            ..inbox(None, 100)
        })
        .await
        .unwrap()
        .items)
}

async fn snoozed_items(store: &Store, person: &str, limit: i64) -> Vec<SnoozedItem> {
    store
        .run(ListSnoozed {
            person: person.to_owned(),
            limit,
        })
        .await
        .unwrap()
}

async fn snoozed_numbers(store: &Store, person: &str) -> Vec<(MessageId, Timestamp)> {
    snoozed_items(store, person, 100)
        .await
        .into_iter()
        .map(|snoozed| (snoozed.item.unwrap().message.id, snoozed.until))
        .collect()
}

async fn fill(store: &Store, count: u64) {
    add_agent(store, BUILDER).await;
    for number in 1..=count {
        submitted(store, &Draft::ask(number)).await;
    }
}

pub async fn snoozed_message_returns_at_its_time(store: &Store, clock: &ManualClock) {
    fill(store, 3).await;
    assert!(put_away(store, "alice", 2, Some(at(10))).await);
    assert_eq!(seen_by(store, "alice").await, [1, 3].map(message_id));
    clock.set(at(9));
    assert_eq!(seen_by(store, "alice").await, [1, 3].map(message_id));
    assert_eq!(snoozed_numbers(store, "alice").await, [(message_id(2), at(10))]);
    clock.set(at(10));
    assert_eq!(
        seen_by(store, "alice").await,
        [1, 2, 3].map(message_id),
        "in its old place"
    );
    assert!(snoozed_items(store, "alice", 100).await.is_empty());
}

pub async fn snooze_applies_to_one_person(store: &Store, _clock: &ManualClock) {
    fill(store, 2).await;
    assert!(put_away(store, "alice", 1, Some(at(10))).await);
    assert_eq!(seen_by(store, "alice").await, [2].map(message_id));
    assert_eq!(seen_by(store, "bob").await, [1, 2].map(message_id));
    assert!(snoozed_items(store, "bob", 100).await.is_empty());
    assert_eq!(
        ids(&store.run(inbox(None, 100)).await.unwrap().items),
        [1, 2].map(message_id)
    );
}

pub async fn snooze_can_be_undone(store: &Store, _clock: &ManualClock) {
    fill(store, 2).await;
    assert!(put_away(store, "alice", 1, Some(at(10))).await);
    assert!(!take_back(store, "bob", 1).await);
    assert!(take_back(store, "alice", 1).await);
    assert!(!take_back(store, "alice", 1).await);
    assert!(!take_back(store, "alice", 999).await);
    assert_eq!(seen_by(store, "alice").await, [1, 2].map(message_id));
}

pub async fn soonest_to_return_comes_first(store: &Store, _clock: &ManualClock) {
    fill(store, 4).await;
    for (number, until) in [(1, 30), (2, 10), (3, 20), (4, 99), (4, 5)] {
        assert!(put_away(store, "alice", number, Some(at(until))).await);
    }
    let expected = [(4, 5), (2, 10), (3, 20), (1, 30)].map(|(number, until)| (message_id(number), at(until)));
    assert_eq!(snoozed_numbers(store, "alice").await, expected);
    let two = snoozed_items(store, "alice", 2).await;
    assert_eq!(
        two.iter()
            .map(|snoozed| snoozed.item.as_ref().unwrap().message.id.clone())
            .collect::<Vec<_>>(),
        [4, 2].map(message_id)
    );
    assert_eq!(two[1].item.as_ref().unwrap().message.content, Draft::ask(2).content());
}

pub async fn decided_message_is_no_longer_snoozed(store: &Store, _clock: &ManualClock) {
    fill(store, 2).await;
    for number in [1, 2] {
        assert!(put_away(store, "alice", number, Some(at(10))).await);
    }
    resolved(store, &message_id(1), answer("approve")).await;
    assert_eq!(snoozed_numbers(store, "alice").await, [(message_id(2), at(10))]);
}

pub async fn only_open_messages_can_be_snoozed(store: &Store, _clock: &ManualClock) {
    fill(store, 1).await;
    submitted(store, &Draft::notify(2)).await;
    submitted_and_resolved(store, &Draft::ask(3)).await;
    for number in [2, 3, 999] {
        assert!(!put_away(store, "alice", number, Some(at(10))).await, "{number}");
        assert!(!take_back(store, "alice", number).await);
    }
}

pub async fn open_message_cannot_be_archived(store: &Store, _clock: &ManualClock) {
    fill(store, 1).await;
    submitted(store, &Draft::notify(2)).await;
    submitted_and_resolved(store, &Draft::ask(3)).await;
    submitted_and_resolved(store, &Draft::ask(4)).await;
    assert_eq!(
        store
            .run(Purge {
                resolved_before: at(1),
                limit: 1
            })
            .await
            .unwrap(),
        1
    );
    assert!(!put_away(store, "alice", 1, None).await, "it waits for an answer");
    assert_eq!(seen_by(store, "alice").await, [1].map(message_id));
    assert!(!put_away(store, "alice", 2, None).await, "it is gone");
    assert!(put_away(store, "alice", 3, None).await);
    assert!(put_away(store, "alice", 3, None).await, "and again");
}
