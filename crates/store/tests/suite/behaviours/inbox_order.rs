//! The orders of the inbox, and pages that end at the edges between their sections.

use countersign_core::Actor;
use countersign_protocol::a2h::Priority;
use countersign_protocol::id::MessageId;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{Cursor, InboxOrder, InboxSection};
use countersign_store::ops::list::{Inbox, InboxBefore, ListFilter};

use crate::scene::*;

const MINUTE: i64 = 60_000;

async fn submit(store: &Store, draft: Draft) {
    submitted(store, &draft).await;
}

/// 1 to 9: three that expire within an hour, two of them at the same instant; two whose agent waits; the rest by priority.
async fn fill(store: &Store, clock: &ManualClock) -> Vec<MessageId> {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    let now = at(0).as_millis();
    clock.set(at(0));
    let expiring = |number, millis| Draft {
        expires_at: Some(countersign_protocol::time::Timestamp::from_millis(now + millis)),
        ..Draft::ask(number)
    };
    let of = |number, priority| Draft {
        priority,
        ..Draft::ask(number)
    };
    submit(store, of(1, Priority::Low)).await;
    submit(store, expiring(2, 50 * MINUTE)).await;
    submit(store, of(3, Priority::Normal)).await;
    submit(store, expiring(4, 50 * MINUTE)).await;
    submit(store, of(5, Priority::Urgent)).await;
    submit(store, expiring(6, 5 * MINUTE)).await;
    submit(store, of(7, Priority::High)).await;
    // Exactly an hour is not soon.
    submit(store, expiring(8, 60 * MINUTE)).await;
    submit(store, of(9, Priority::Normal)).await;
    // Two agents wait: for 9 and 7.
    [9, 7].map(message_id).into()
}

/// Soon (6, then 2 and 4 in the order of arrival), waiting (7 is more important than 9), then by priority and age.
const SMART: [u64; 9] = [6, 2, 4, 7, 9, 5, 3, 8, 1];

fn in_order(order: InboxOrder, waiting: &[MessageId], after: Option<Cursor>, limit: i64) -> Inbox {
    Inbox {
        order,
        waiting: waiting.to_vec(),
        ..inbox(after, limit)
    }
}

/// All pages of a walk, one after the other.
async fn pages(store: &Store, order: InboxOrder, waiting: &[MessageId], limit: i64) -> Vec<MessageId> {
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = store.run(in_order(order, waiting, after, limit)).await.unwrap();
        seen.extend(ids(&page.items));
        after = page.next;
        if after.is_none() {
            return seen;
        }
    }
}

pub async fn what_ends_soon_comes_first_then_what_an_agent_waits_for(store: &Store, clock: &ManualClock) {
    let waiting = fill(store, clock).await;
    let page = store
        .run(in_order(InboxOrder::Smart, &waiting, None, 100))
        .await
        .unwrap();
    assert_eq!(ids(&page.items), SMART.map(message_id));
    let sections = page
        .items
        .iter()
        .flatten()
        .map(|item| page.walk.section(item.seq, item.message.expires_at));
    use InboxSection::{Rest, Soon, Waiting};
    assert_eq!(
        sections.collect::<Vec<_>>(),
        [Soon, Soon, Soon, Waiting, Waiting, Rest, Rest, Rest, Rest]
    );
}

pub async fn every_page_size_gives_the_same_order(store: &Store, clock: &ManualClock) {
    let waiting = fill(store, clock).await;
    for limit in 1..=10 {
        let smart = pages(store, InboxOrder::Smart, &waiting, limit).await;
        assert_eq!(smart, SMART.map(message_id), "in pages of {limit}");
        let oldest = pages(store, InboxOrder::Oldest, &waiting, limit).await;
        assert_eq!(
            oldest,
            [1, 2, 3, 4, 5, 6, 7, 8, 9].map(message_id),
            "oldest, in pages of {limit}"
        );
        let newest = pages(store, InboxOrder::Newest, &waiting, limit).await;
        assert_eq!(
            newest,
            [9, 8, 7, 6, 5, 4, 3, 2, 1].map(message_id),
            "newest, in pages of {limit}"
        );
    }
}

pub async fn by_agent_keeps_each_agent_together(store: &Store, clock: &ManualClock) {
    fill(store, clock).await;
    for number in [10, 11] {
        submit(
            store,
            Draft {
                agent: if number == 10 { TESTER } else { BUILDER },
                ..Draft::ask(number)
            },
        )
        .await;
    }
    for limit in [1, 3, 10, 11, 12] {
        let seen = pages(store, InboxOrder::Agent, &[], limit).await;
        assert_eq!(
            seen,
            [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 10].map(message_id),
            "in pages of {limit}"
        );
    }
}

pub async fn a_walk_keeps_its_order_while_time_passes_and_agents_leave(store: &Store, clock: &ManualClock) {
    let waiting = fill(store, clock).await;
    let first = store.run(in_order(InboxOrder::Smart, &waiting, None, 4)).await.unwrap();
    // 8 would be soon by now, and 9 has no waiting agent any more.
    clock.set(at(2 * MINUTE));
    let rest = store
        .run(in_order(InboxOrder::Smart, &[], first.next.clone(), 100))
        .await
        .unwrap();
    let seen: Vec<_> = ids(&first.items).into_iter().chain(ids(&rest.items)).collect();
    assert_eq!(seen, SMART.map(message_id));
    // A cursor of an earlier version has no walk: it goes on among the rest.
    let old = store
        .run(in_order(
            InboxOrder::Smart,
            &[],
            Some(Cursor::of_rank(0, i64::MAX)),
            100,
        ))
        .await
        .unwrap();
    assert_eq!(ids(&old.items), [7, 3, 9, 1].map(message_id));
}

pub async fn backwards_the_sections_are_reversed(store: &Store, clock: &ManualClock) {
    fill(store, clock).await;
    let mut forwards = pages(store, InboxOrder::Smart, &[], 100).await;
    forwards.reverse();
    for limit in 1..=10 {
        let mut seen = Vec::new();
        let mut before = None;
        loop {
            let page = store.run(inbox_before(before, limit)).await.unwrap();
            seen.extend(ids(&page.items));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(seen, forwards, "in pages of {limit}");
    }
    let soon = Cursor {
        section: InboxSection::Soon,
        key: at(50 * MINUTE).as_millis(),
        seq: i64::MAX,
        walk: None,
    };
    let page = store
        .run(InboxBefore {
            before: Some(soon),
            ..inbox_before(None, 100)
        })
        .await
        .unwrap();
    assert_eq!(ids(&page.items), [4, 2, 6].map(message_id));
}

pub async fn every_order_is_read_backwards_from_any_message(store: &Store, clock: &ManualClock) {
    fill(store, clock).await;
    for order in [InboxOrder::Newest, InboxOrder::Oldest, InboxOrder::Agent] {
        let page = store.run(in_order(order, &[], None, 100)).await.unwrap();
        let forwards = ids(&page.items);
        for (index, item) in page.items.iter().flatten().enumerate() {
            let before = InboxBefore {
                order,
                ..inbox_before(Some(Cursor::of_rank(0, item.seq)), 100)
            };
            let seen = ids(&store.run(before).await.unwrap().items);
            let expected: Vec<_> = forwards[..index].iter().rev().cloned().collect();
            assert_eq!(seen, expected, "{order:?} before number {index}");
        }
    }
}

pub async fn inbox_shows_what_one_resolver_may_answer(store: &Store, clock: &ManualClock) {
    fill(store, clock).await;
    let of = async |name| {
        let filter = ListFilter {
            resolver: Some(Actor::human(name)),
            ..ListFilter::default()
        };
        ids(&store
            .run(Inbox {
                filter,
                ..inbox(None, 100)
            })
            .await
            .unwrap()
            .items)
        .len()
    };
    assert_eq!((of("alice").await, of("eve").await), (9, 0));
}
