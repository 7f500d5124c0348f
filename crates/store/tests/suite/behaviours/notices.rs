use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::list::{NoticePage, Notices};
use countersign_store::ops::message::sweep::Purge;

use super::snooze::{put_away, take_back};
use crate::scene::*;

async fn page(store: &Store, person: Option<&str>, before: Option<i64>, limit: i64) -> NoticePage {
    store
        .run(Notices {
            person: person.map(str::to_owned),
            before,
            limit,
        })
        .await
        .unwrap()
}

/// Notifies with odd numbers, with an open and an answered ask between them.
async fn fill(store: &Store, count: u64) {
    add_agent(store, BUILDER).await;
    for number in 1..=count {
        match number % 4 {
            0 => drop(submitted(store, &Draft::ask(number)).await),
            2 => drop(submitted_and_resolved(store, &Draft::ask(number)).await),
            _ => drop(submitted(store, &Draft::notify(number)).await),
        }
    }
}

pub async fn notifies_come_newest_first_and_alone(store: &Store, _clock: &ManualClock) {
    fill(store, 8).await;
    let notices = page(store, None, None, 100).await;
    assert_eq!(ids(&notices.items), [7, 5, 3, 1].map(message_id));
    assert_eq!(notices.next, None);
    assert_eq!(
        notices.items[0].as_ref().unwrap().message.content,
        Draft::notify(7).content()
    );
}

pub async fn pages_have_no_gap_and_no_duplicate(store: &Store, _clock: &ManualClock) {
    fill(store, 14).await;
    for number in [5, 7, 13] {
        assert!(put_away(store, "alice", number, None).await);
    }
    for limit in 1..=5 {
        let mut seen = Vec::new();
        let mut before = None;
        loop {
            let page = page(store, Some("alice"), before, limit).await;
            seen.extend(ids(&page.items));
            before = page.next;
            if before.is_none() {
                break;
            }
            assert_eq!(
                i64::try_from(page.items.len()).unwrap(),
                limit,
                "only the last page is short"
            );
        }
        assert_eq!(seen, [11, 9, 3, 1].map(message_id), "in pages of {limit}");
    }
}

pub async fn archived_notify_stays_visible_to_others(store: &Store, _clock: &ManualClock) {
    fill(store, 4).await;
    assert!(put_away(store, "alice", 3, None).await);
    assert_eq!(
        ids(&page(store, Some("alice"), None, 100).await.items),
        [1].map(message_id)
    );
    for other in [Some("bob"), None] {
        assert_eq!(ids(&page(store, other, None, 100).await.items), [3, 1].map(message_id));
    }
    assert!(take_back(store, "alice", 3).await);
    assert_eq!(
        ids(&page(store, Some("alice"), None, 100).await.items),
        [3, 1].map(message_id)
    );
}

pub async fn cursor_outlives_the_notify_it_names(store: &Store, _clock: &ManualClock) {
    fill(store, 8).await;
    let first = page(store, None, None, 2).await;
    assert_eq!(ids(&first.items), [7, 5].map(message_id));
    let next = first.next.expect("there are more");
    assert_eq!(next, first.items[1].as_ref().unwrap().seq);
    // All of them arrived at the same time, and retention purges some of them in between.
    store
        .run(Purge {
            resolved_before: at(1),
            limit: 4,
        })
        .await
        .unwrap();
    let after = page(store, None, Some(next), 100).await;
    let left = page(store, None, None, 100).await;
    let older: Vec<_> = left
        .items
        .iter()
        .flatten()
        .filter(|item| item.seq < next)
        .map(|item| item.message.id.clone())
        .collect();
    assert_eq!(ids(&after.items), older);
}
