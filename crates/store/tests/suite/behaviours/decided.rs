use countersign_core::message::{Outcome, Status};
use countersign_core::{Command, Verdict};
use countersign_protocol::id::MessageId;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::list::{Decided, DecidedPage, ListFilter};
use countersign_store::ops::message::sweep::Purge;

use crate::scene::*;

fn all() -> Decided {
    Decided {
        filter: ListFilter::default(),
        status: None,
        before: None,
        limit: 100,
    }
}

fn with(status: Outcome) -> Decided {
    Decided {
        status: Some(Status::Resolved(status)),
        ..all()
    }
}

async fn page(store: &Store, decided: Decided) -> DecidedPage {
    store.run(decided).await.unwrap()
}

async fn numbers(store: &Store, decided: Decided) -> Vec<MessageId> {
    ids(&page(store, decided).await.items)
}

/// Messages 1 to 8, decided in the order 3 1 2 6 4 5 at times 10 to 60, where 2 and 6 coincide; 7 is open, 8 a notify.
async fn fill(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    for number in 1..=7 {
        let agent = if number % 2 == 0 { TESTER } else { BUILDER };
        let draft = if number == 3 {
            Draft::task(number)
        } else {
            Draft::ask(number)
        };
        let expires_at = (number == 6).then_some(at(29));
        submitted(
            store,
            &Draft {
                agent,
                expires_at,
                ..draft
            },
        )
        .await;
    }
    submitted(store, &Draft::notify(8)).await;
    let ends = [
        (10, 3, by_alice(Verdict::Completed(None))),
        (20, 1, answer("approve")),
        (30, 2, by_alice(Verdict::Declined)),
        (30, 6, Command::Expire),
        (50, 4, Command::Cancel),
        (60, 5, answer("deny")),
    ];
    for (millis, number, command) in ends {
        clock.set(at(millis));
        resolved(store, &message_id(number), command).await;
    }
}

pub async fn the_latest_decision_comes_first(store: &Store, clock: &ManualClock) {
    fill(store, clock).await;
    let decided = page(store, all()).await;
    assert_eq!(ids(&decided.items), [5, 4, 6, 2, 1, 3].map(message_id));
    assert_eq!(decided.next, None);
}

pub async fn list_is_filtered_by_status(store: &Store, clock: &ManualClock) {
    fill(store, clock).await;
    let expected: [(Outcome, &[u64]); 6] = [
        (Outcome::Answered, &[5, 1]),
        (Outcome::Declined, &[2]),
        (Outcome::Cancelled, &[4]),
        (Outcome::Completed, &[3]),
        (Outcome::Dismissed, &[]),
        (Outcome::Expired, &[6]),
    ];
    for (outcome, numbered) in expected {
        let expected: Vec<_> = numbered.iter().copied().map(message_id).collect();
        assert_eq!(numbers(store, with(outcome)).await, expected, "{outcome}");
    }
    for status in [Status::Open, Status::Delivered] {
        assert!(
            numbers(
                store,
                Decided {
                    status: Some(status),
                    ..all()
                }
            )
            .await
            .is_empty(),
            "{status} is not a decision"
        );
    }
}

pub async fn list_is_filtered_by_agent_project_tag_and_kind(store: &Store, clock: &ManualClock) {
    fill(store, clock).await;
    let odd = Draft {
        project: Some("tower"),
        tags: &["prod", "eu"],
        ..Draft::ask(9)
    };
    submitted_and_resolved(store, &odd).await;
    let named = |text: &str| Some(text.to_owned());
    let of = |filter| Decided { filter, ..all() };
    let agent = ListFilter {
        agent: named(TESTER),
        ..ListFilter::default()
    };
    assert_eq!(numbers(store, of(agent.clone())).await, [4, 6, 2].map(message_id));
    let project = ListFilter {
        project: named("tower"),
        ..ListFilter::default()
    };
    assert_eq!(numbers(store, of(project)).await, [9].map(message_id));
    let tag = ListFilter {
        tag: named("eu"),
        ..ListFilter::default()
    };
    assert_eq!(numbers(store, of(tag)).await, [9].map(message_id));
    let kind = ListFilter {
        kind: named("task"),
        ..ListFilter::default()
    };
    assert_eq!(numbers(store, of(kind)).await, [3].map(message_id));
    let declined = Decided {
        filter: agent,
        ..with(Outcome::Declined)
    };
    assert_eq!(numbers(store, declined).await, [2].map(message_id));
}

pub async fn pages_have_no_gap_and_no_duplicate(store: &Store, clock: &ManualClock) {
    fill(store, clock).await;
    let tester = ListFilter {
        agent: Some(TESTER.to_owned()),
        ..ListFilter::default()
    };
    for limit in 1..=7 {
        for (filter, whole) in [
            (ListFilter::default(), vec![5, 4, 6, 2, 1, 3]),
            (tester.clone(), vec![4, 6, 2]),
        ] {
            let mut seen = Vec::new();
            let mut before = None;
            loop {
                let page = page(
                    store,
                    Decided {
                        filter: filter.clone(),
                        status: None,
                        before,
                        limit,
                    },
                )
                .await;
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
            let whole: Vec<_> = whole.into_iter().map(message_id).collect();
            assert_eq!(seen, whole, "in pages of {limit}");
        }
    }
}

pub async fn purged_messages_are_not_listed(store: &Store, clock: &ManualClock) {
    fill(store, clock).await;
    assert_eq!(
        store
            .run(Purge {
                resolved_before: at(25),
                limit: 100
            })
            .await
            .unwrap(),
        3,
        "two of them, and a notify"
    );
    assert_eq!(numbers(store, all()).await, [5, 4, 6, 2].map(message_id));
    assert_eq!(numbers(store, with(Outcome::Answered)).await, [5].map(message_id));
}

pub async fn list_shows_the_delivery_state(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted_and_resolved(store, &Draft::pushed(1)).await;
    let items = page(store, all()).await.items;
    assert_eq!(
        items[0]
            .as_ref()
            .unwrap()
            .delivery
            .as_ref()
            .map(|delivery| delivery.host.as_str()),
        Some(HOST)
    );
}
