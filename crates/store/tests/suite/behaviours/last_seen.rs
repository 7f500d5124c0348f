use countersign_core::Command;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::admin::agents::ListAgents;
use countersign_store::ops::last_seen::{AgentSeen, RecordSeen};
use countersign_store::ops::list::{Decided, History, ListFilter};
use countersign_store::ops::message::pull::RecordFetched;
use futures_util::future::join_all;

use crate::scene::*;

async fn record_seen(store: &Store, seen: &[(&str, i64)]) {
    let seen = seen
        .iter()
        .map(|(id, millis)| ((*id).to_owned(), at(*millis)))
        .collect();
    store.run(RecordSeen { seen }).await.unwrap();
}

async fn seen(store: &Store, id: &str) -> Option<Timestamp> {
    store.run(AgentSeen { id: id.to_owned() }).await.unwrap()
}

async fn fetch(store: &Store, numbers: &[u64]) -> Vec<MessageId> {
    store
        .run(RecordFetched {
            ids: numbers.iter().copied().map(message_id).collect(),
        })
        .await
        .unwrap()
}

pub async fn an_agent_was_seen_when_it_last_called(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    assert_eq!(seen(store, BUILDER).await, None);
    record_seen(store, &[(TESTER, 5), (BUILDER, 7), ("nobody", 9)]).await;
    assert_eq!(
        (seen(store, BUILDER).await, seen(store, TESTER).await),
        (Some(at(7)), Some(at(5)))
    );
    assert_eq!(seen(store, "nobody").await, None);
    let listed = store.run(ListAgents).await.unwrap();
    assert_eq!(
        listed.iter().map(|agent| agent.seen_at).collect::<Vec<_>>(),
        [Some(at(7)), Some(at(5))]
    );
}

pub async fn last_seen_never_moves_backwards(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    // As several hubs would report it, each in its own order.
    let found = (0..16).map(|hub| async move {
        let (mine, other) = if hub % 2 == 0 {
            (BUILDER, TESTER)
        } else {
            (TESTER, BUILDER)
        };
        record_seen(store, &[(mine, hub), (other, 20 - hub)]).await;
    });
    join_all(found).await;
    assert_eq!(
        (seen(store, BUILDER).await, seen(store, TESTER).await),
        (Some(at(19)), Some(at(20)))
    );
    record_seen(store, &[(BUILDER, 3), (BUILDER, 25), (BUILDER, 4)]).await;
    assert_eq!(seen(store, BUILDER).await, Some(at(25)));
}

pub async fn the_first_fetch_of_an_answer_counts(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted_and_resolved(store, &Draft::ask(1)).await;
    submitted_and_resolved(store, &Draft::ask(2)).await;
    clock.set(at(5));
    assert_eq!(fetch(store, &[1, 999]).await, [message_id(1)]);
    clock.set(at(9));
    assert_eq!(fetch(store, &[1, 2]).await, [message_id(2)], "it says what was new");
    assert_eq!(viewed(store, &message_id(1)).await.fetched_at, Some(at(5)));
    assert_eq!(viewed(store, &message_id(2)).await.fetched_at, Some(at(9)));
}

pub async fn only_an_answer_can_be_fetched(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted(store, &Draft::ask(1)).await;
    submitted(store, &Draft::notify(2)).await;
    assert!(fetch(store, &[1, 2]).await.is_empty());
    for number in [1, 2] {
        assert_eq!(viewed(store, &message_id(number)).await.fetched_at, None);
    }
    resolved(store, &message_id(1), Command::Cancel).await;
    fetch(store, &[1]).await;
    assert_eq!(
        viewed(store, &message_id(1)).await.fetched_at,
        Some(at(0)),
        "a cancel is an answer too"
    );
}

pub async fn lists_of_resolved_messages_show_the_fetch(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted_and_resolved(store, &Draft::ask(1)).await;
    submitted_and_resolved(store, &Draft::ask(2)).await;
    clock.set(at(5));
    fetch(store, &[1]).await;
    let history = History {
        agent_id: None,
        status: None,
        before: None,
        limit: 10,
    };
    let decided = Decided {
        filter: ListFilter::default(),
        status: None,
        before: None,
        limit: 10,
    };
    for items in [
        store.run(history).await.unwrap(),
        store.run(decided).await.unwrap().items,
    ] {
        let found: Vec<_> = items
            .iter()
            .flatten()
            .map(|item| (item.message.id.clone(), item.fetched_at))
            .collect();
        assert_eq!(found, [(message_id(2), None), (message_id(1), Some(at(5)))]);
    }
}
