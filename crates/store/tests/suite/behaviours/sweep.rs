use countersign_core::Command;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::sweep::{NextExpiry, Overdue, ProveWritable};

use crate::scene::*;

fn expiring(number: u64, millis: i64) -> Draft {
    Draft { expires_at: Some(at(millis)), ..Draft::ask(number) }
}

async fn overdue(store: &Store, limit: i64) -> Vec<MessageId> {
    store.run(Overdue { limit }).await.unwrap()
}

async fn next_expiry(store: &Store) -> Option<Timestamp> {
    store.run(NextExpiry).await.unwrap()
}

pub async fn a_message_is_overdue_only_after_its_expiry(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted(store, &expiring(1, 10)).await;
    submitted(store, &Draft::ask(2)).await;
    for millis in [0, 9, 10] {
        clock.set(at(millis));
        assert!(overdue(store, 10).await.is_empty(), "not at {millis}");
    }
    clock.set(at(11));
    assert_eq!(overdue(store, 10).await, [message_id(1)]);
    resolved(store, &message_id(1), Command::Expire).await;
    assert!(overdue(store, 10).await.is_empty(), "an expired message is over");
}

pub async fn the_longest_overdue_comes_first(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for (number, millis) in [(1, 30), (2, 10), (3, 20), (4, 99)] {
        submitted(store, &expiring(number, millis)).await;
    }
    clock.set(at(50));
    assert_eq!(overdue(store, 10).await, [2, 3, 1].map(message_id));
    assert_eq!(overdue(store, 2).await, [2, 3].map(message_id));
}

pub async fn the_next_expiry_is_that_of_an_open_message(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    assert_eq!(next_expiry(store).await, None);
    submitted(store, &Draft::ask(1)).await;
    submitted(store, &Draft { expires_at: Some(at(5)), ..Draft::notify(2) }).await;
    assert_eq!(next_expiry(store).await, None, "neither can expire");
    for (number, millis) in [(3, 30), (4, 20)] {
        submitted(store, &expiring(number, millis)).await;
    }
    assert_eq!(next_expiry(store).await, Some(at(20)));
    clock.set(at(25));
    assert_eq!(next_expiry(store).await, Some(at(20)), "what is overdue is still to be done");
    resolved(store, &message_id(4), Command::Expire).await;
    assert_eq!(next_expiry(store).await, Some(at(30)));
    resolved(store, &message_id(3), Command::Cancel).await;
    assert_eq!(next_expiry(store).await, None);
}

pub async fn the_store_says_when_it_can_be_written(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    store.run(ProveWritable).await.unwrap();
    assert_eq!(open_count(store, BUILDER).await, 0);
}
