use countersign_core::question::Ask;
use countersign_core::{Command, Payload, Question};
use countersign_protocol::a2h::Priority;
use countersign_protocol::id::MessageId;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::Cursor;
use countersign_store::ops::list::{Inbox, InboxBefore, InboxPage, ListFilter};
use countersign_store::ops::message::snooze::SnoozeOrArchive;

use crate::scene::*;

const PRIORITIES: [Priority; 4] = [Priority::Low, Priority::Urgent, Priority::Normal, Priority::High];

async fn page(store: &Store, after: Option<Cursor>, limit: i64) -> InboxPage {
    store.run(inbox(after, limit)).await.unwrap()
}

async fn filtered(store: &Store, filter: ListFilter) -> Vec<MessageId> {
    ids(&store
        .run(Inbox {
            filter,
            ..inbox(None, 100)
        })
        .await
        .unwrap()
        .items)
}

/// Submits `count` messages of all priorities, and returns them in the expected inbox order.
async fn fill(store: &Store, count: u64) -> Vec<Draft> {
    add_agent(store, BUILDER).await;
    let mut drafts: Vec<_> = (1..=count)
        .zip(PRIORITIES.into_iter().cycle())
        .map(|(number, priority)| Draft {
            priority,
            ..Draft::ask(number)
        })
        .collect();
    for draft in &drafts {
        submitted(store, draft).await;
    }
    drafts.sort_by_key(|draft| (std::cmp::Reverse(draft.priority), draft.number));
    drafts
}

pub async fn urgent_items_come_first_then_the_oldest(store: &Store, _clock: &ManualClock) {
    fill(store, 8).await;
    let order = ids(&page(store, None, 100).await.items);
    assert_eq!(order, [2, 6, 4, 8, 3, 7, 1, 5].map(message_id));
}

pub async fn order_is_by_arrival_not_by_id(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in [2, 3, 1] {
        submitted(store, &Draft::ask(number)).await;
    }
    assert_eq!(ids(&page(store, None, 100).await.items), [2, 3, 1].map(message_id));
}

pub async fn pages_have_no_gap_and_no_duplicate(store: &Store, _clock: &ManualClock) {
    let drafts = fill(store, 17).await;
    for size in [1, 2, 5, 16, 17, 18] {
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let found = page(store, after, i64::try_from(size).unwrap()).await;
            seen.extend(ids(&found.items));
            after = found.next;
            if after.is_none() {
                break;
            }
            assert_eq!(found.items.len(), size, "only the last page is short");
        }
        let all: Vec<_> = drafts.iter().map(Draft::id).collect();
        assert_eq!(seen, all, "in pages of {size}");
    }
}

pub async fn a_cursor_outlives_the_message_it_names(store: &Store, _clock: &ManualClock) {
    let drafts = fill(store, 8).await;
    let first = page(store, None, 4).await;
    resolved(store, &drafts[3].id(), answer("approve")).await;
    resolved(store, &drafts[4].id(), answer("approve")).await;
    let last = first.items[3].as_ref().unwrap();
    let named = Cursor {
        walk: Some(first.walk.clone()),
        ..Cursor::of_rank(rank_of(last.message.content.priority), last.seq)
    };
    assert_eq!(first.next.as_ref(), Some(&named));
    let rest = page(store, first.next, 100).await;
    assert_eq!(ids(&rest.items), drafts[5..].iter().map(Draft::id).collect::<Vec<_>>());
}

pub async fn inbox_shows_only_open_messages(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    let drafts = [
        Draft::ask(1),
        Draft::notify(2),
        Draft {
            agent: TESTER,
            ..Draft::task(3)
        },
        Draft {
            expires_at: Some(at(10)),
            ..Draft::ask(4)
        },
        Draft::ask(5),
    ];
    for draft in &drafts {
        submitted(store, draft).await;
    }
    clock.set(at(11));
    resolved(store, &message_id(4), Command::Expire).await;
    resolved(store, &message_id(5), Command::Cancel).await;
    let waiting = page(store, None, 100).await.items;
    assert_eq!(ids(&waiting), [1, 3].map(message_id));
    assert_eq!(waiting[0].as_ref().unwrap().message.content, drafts[0].content());
}

pub async fn list_is_filtered_by_agent_project_tag_and_kind(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    let text = Ask {
        question: Question::Text,
        may_respond: true,
        may_decline: true,
        open_ended: false,
        may_be_empty: false,
        default_on_expire: None,
    };
    let drafts = [
        Draft {
            agent: TESTER,
            tags: &["prod", "eu"],
            ..Draft::ask(1)
        },
        Draft {
            agent: TESTER,
            project: None,
            ..Draft::task(2)
        },
        Draft {
            project: Some("tower"),
            ..Draft::task(3)
        },
        Draft {
            tags: &["eu"],
            payload: Payload::Ask(text),
            ..Draft::ask(4)
        },
    ];
    for draft in &drafts {
        submitted(store, draft).await;
    }
    let named = |text: &str| Some(text.to_owned());
    let all = ListFilter::default;
    assert_eq!(
        filtered(
            store,
            ListFilter {
                agent: named(TESTER),
                ..all()
            }
        )
        .await,
        [1, 2].map(message_id)
    );
    assert_eq!(
        filtered(
            store,
            ListFilter {
                project: named("tower"),
                ..all()
            }
        )
        .await,
        [3].map(message_id)
    );
    assert_eq!(
        filtered(
            store,
            ListFilter {
                project: named("bridge"),
                ..all()
            }
        )
        .await,
        [1, 4].map(message_id)
    );
    assert_eq!(
        filtered(
            store,
            ListFilter {
                tag: named("eu"),
                ..all()
            }
        )
        .await,
        [1, 4].map(message_id)
    );
    assert_eq!(
        filtered(
            store,
            ListFilter {
                kind: named("task"),
                ..all()
            }
        )
        .await,
        [2, 3].map(message_id)
    );
    assert_eq!(
        filtered(
            store,
            ListFilter {
                kind: named("confirm"),
                ..all()
            }
        )
        .await,
        [1].map(message_id)
    );
    assert_eq!(
        filtered(
            store,
            ListFilter {
                kind: named("text"),
                ..all()
            }
        )
        .await,
        [4].map(message_id)
    );
    assert_eq!(
        filtered(
            store,
            ListFilter {
                agent: named(TESTER),
                kind: named("task"),
                ..all()
            }
        )
        .await,
        [2].map(message_id)
    );
    for nothing in [
        ListFilter {
            agent: named("nobody"),
            ..all()
        },
        ListFilter {
            tag: named("e"),
            ..all()
        },
        ListFilter {
            project: named("tower"),
            tag: named("eu"),
            ..all()
        },
        ListFilter {
            kind: named("notify"),
            ..all()
        },
    ] {
        assert!(filtered(store, nothing.clone()).await.is_empty(), "{nothing:?}");
    }
}

pub async fn filtered_pages_have_no_gap_and_no_duplicate(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=20 {
        let tags: &[&str] = if number % 3 == 0 { &["third"] } else { &[] };
        submitted(
            store,
            &Draft {
                tags,
                ..Draft::ask(number)
            },
        )
        .await;
    }
    let filter = ListFilter {
        tag: Some("third".to_owned()),
        ..ListFilter::default()
    };
    for limit in 1..=7 {
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = store
                .run(Inbox {
                    filter: filter.clone(),
                    ..inbox(after, limit)
                })
                .await
                .unwrap();
            seen.extend(ids(&page.items));
            after = page.next;
            if after.is_none() {
                break;
            }
            assert_eq!(
                i64::try_from(page.items.len()).unwrap(),
                limit,
                "only the last page is short"
            );
        }
        assert_eq!(seen, [3, 6, 9, 12, 15, 18].map(message_id), "in pages of {limit}");
    }
}

/// The cursor of a message, open or not.
async fn place(store: &Store, number: u64) -> Option<Cursor> {
    let item = viewed(store, &message_id(number)).await;
    Some(Cursor::of_rank(rank_of(item.message.content.priority), item.seq))
}

async fn back_from(store: &Store, before: Option<Cursor>, limit: i64) -> InboxPage {
    store.run(inbox_before(before, limit)).await.unwrap()
}

pub async fn backwards_the_nearest_comes_first(store: &Store, _clock: &ManualClock) {
    // 2 6 | 4 8 | 3 7 | 1 5
    fill(store, 8).await;
    let before = async |number, limit| ids(&back_from(store, place(store, number).await, limit).await.items);
    assert_eq!(
        before(3, 100).await,
        [8, 4, 6, 2].map(message_id),
        "over the edge between two priorities too"
    );
    assert_eq!(before(3, 1).await, [8].map(message_id));
    assert_eq!(before(6, 1).await, [2].map(message_id));
    assert!(before(2, 100).await.is_empty());
}

pub async fn backwards_pages_have_no_gap_and_no_duplicate(store: &Store, _clock: &ManualClock) {
    let drafts = fill(store, 17).await;
    let all: Vec<_> = drafts.iter().rev().map(Draft::id).collect();
    for size in [1, 2, 5, 16, 17, 18] {
        let mut seen = Vec::new();
        let mut before = None;
        loop {
            let found = back_from(store, before, i64::try_from(size).unwrap()).await;
            seen.extend(ids(&found.items));
            before = found.next;
            if before.is_none() {
                break;
            }
            assert_eq!(found.items.len(), size, "only the last page is short");
        }
        assert_eq!(seen, all, "in pages of {size}");
    }
}

pub async fn backwards_cursor_of_a_decided_message_still_works(store: &Store, _clock: &ManualClock) {
    fill(store, 8).await;
    for number in [8, 3] {
        resolved(store, &message_id(number), answer("approve")).await;
    }
    let found = back_from(store, place(store, 3).await, 2).await;
    assert_eq!(ids(&found.items), [4, 6].map(message_id));
    let rest = back_from(store, found.next, 2).await;
    assert_eq!(ids(&rest.items), [2].map(message_id));
    assert_eq!(rest.next, None);
}

pub async fn backwards_the_same_messages_are_left_out(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    for number in 1..=12 {
        let tags: &[&str] = if number % 3 == 0 { &["third"] } else { &[] };
        let agent = if number % 2 == 0 { TESTER } else { BUILDER };
        submitted(
            store,
            &Draft {
                tags,
                agent,
                ..Draft::ask(number)
            },
        )
        .await;
    }
    let snoozed = SnoozeOrArchive {
        person: "alice".to_owned(),
        id: message_id(6),
        until: Some(at(10)),
    };
    store.run(snoozed).await.unwrap();
    let named = |text: &str| Some(text.to_owned());
    let filters = [
        ListFilter::default(),
        ListFilter {
            tag: named("third"),
            ..ListFilter::default()
        },
        ListFilter {
            agent: named(TESTER),
            tag: named("third"),
            ..ListFilter::default()
        },
        ListFilter {
            kind: named("task"),
            ..ListFilter::default()
        },
    ];
    for (filter, viewer) in filters
        .iter()
        .flat_map(|filter| [(filter, None), (filter, named("alice"))])
    {
        let onwards = Inbox {
            filter: filter.clone(),
            viewer: viewer.clone(),
            ..inbox(None, 100)
        };
        let mut expected = ids(&store.run(onwards).await.unwrap().items);
        expected.reverse();
        let backwards = InboxBefore {
            filter: filter.clone(),
            viewer: viewer.clone(),
            ..inbox_before(None, 100)
        };
        assert_eq!(
            ids(&store.run(backwards).await.unwrap().items),
            expected,
            "{filter:?} for {viewer:?}"
        );
    }
}
