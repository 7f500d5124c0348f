use countersign_core::Command;
use countersign_core::delivery::DeliveryState;
use countersign_protocol::id::MessageId;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::entry_seq;
use countersign_store::ops::list::History;

use crate::scene::*;

fn everything() -> History {
    History {
        agent_id: None,
        status: None,
        before: None,
        limit: 100,
    }
}

fn of(agent: &str) -> History {
    History {
        agent_id: Some(agent.to_owned()),
        ..everything()
    }
}

fn with_status(status: &str, history: History) -> History {
    History {
        status: Some(status.to_owned()),
        ..history
    }
}

async fn ids(store: &Store, history: History) -> Vec<MessageId> {
    let items = store.run(history).await.unwrap();
    items.into_iter().map(|item| item.unwrap().message.id).collect()
}

fn numbered<const N: usize>(numbers: [u64; N]) -> Vec<MessageId> {
    numbers.map(message_id).into()
}

/// Messages 1 to 6: asks, tasks and notifies of two agents in turn; 1 is answered and 2 is cancelled.
async fn fill(store: &Store) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    let kinds = [
        Draft::ask,
        Draft::ask,
        Draft::task,
        Draft::task,
        Draft::notify,
        Draft::notify,
    ];
    for (number, (kind, agent)) in (1..).zip(kinds.into_iter().zip([BUILDER, TESTER].into_iter().cycle())) {
        submitted(store, &Draft { agent, ..kind(number) }).await;
    }
    resolved(store, &message_id(1), answer("approve")).await;
    resolved(store, &message_id(2), Command::Cancel).await;
}

pub async fn the_newest_comes_first(store: &Store, _clock: &ManualClock) {
    fill(store).await;
    assert_eq!(ids(store, everything()).await, numbered([6, 5, 4, 3, 2, 1]));
}

pub async fn pages_have_no_gap_and_no_duplicate(store: &Store, _clock: &ManualClock) {
    fill(store).await;
    for size in 1..=7_usize {
        for (whole, filter) in [
            (numbered([6, 5, 4, 3, 2, 1]), None),
            (numbered([5, 3, 1]), Some(BUILDER.to_owned())),
        ] {
            let mut seen = Vec::new();
            let mut before = None;
            loop {
                let limit = i64::try_from(size).unwrap();
                let history = History {
                    agent_id: filter.clone(),
                    before,
                    limit,
                    ..everything()
                };
                let page = store.run(history).await.unwrap();
                before = page.last().map(entry_seq);
                seen.extend(page.iter().flatten().map(|item| item.message.id.clone()));
                if page.len() < size {
                    break;
                }
            }
            assert_eq!(seen, whole, "in pages of {size}");
        }
    }
}

pub async fn history_is_filtered_by_agent_and_status(store: &Store, _clock: &ManualClock) {
    fill(store).await;
    assert_eq!(ids(store, of(TESTER)).await, numbered([6, 4, 2]));
    assert_eq!(ids(store, of("nobody")).await, numbered([]));
    assert_eq!(ids(store, with_status("open", everything())).await, numbered([4, 3]));
    assert_eq!(
        ids(store, with_status("delivered", everything())).await,
        numbered([6, 5])
    );
    assert_eq!(ids(store, with_status("open", of(BUILDER))).await, numbered([3]));
    assert_eq!(ids(store, with_status("cancelled", of(TESTER))).await, numbered([2]));
    assert_eq!(ids(store, with_status("cancelled", of(BUILDER))).await, numbered([]));
}

pub async fn list_shows_the_delivery_state(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted_and_resolved(store, &Draft::pushed(1)).await;
    submitted_and_resolved(store, &Draft::ask(2)).await;
    let items = store.run(everything()).await.unwrap();
    assert!(items[0].as_ref().unwrap().delivery.is_none());
    let delivery = items[1]
        .as_ref()
        .unwrap()
        .delivery
        .as_ref()
        .expect("it has to be brought");
    assert_eq!(
        (delivery.state, delivery.host.as_str(), delivery.attempts),
        (DeliveryState::Pending, HOST, 0)
    );
}
