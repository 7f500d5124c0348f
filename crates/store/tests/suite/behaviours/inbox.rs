use countersign_core::Command;
use countersign_protocol::a2h::Priority;
use countersign_protocol::id::MessageId;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{Cursor, Item};
use countersign_store::ops::list::Inbox;

use crate::scene::*;

const PRIORITIES: [Priority; 4] = [Priority::Low, Priority::Urgent, Priority::Normal, Priority::High];

async fn page(store: &Store, after: Option<Cursor>, limit: i64) -> Vec<Item> {
    store.run(Inbox { after, limit }).await.unwrap()
}

fn ids(items: &[Item]) -> Vec<MessageId> {
    items.iter().map(|item| item.message.id.clone()).collect()
}

/// Behind an item, as the caller of a page would say it.
fn behind(item: &Item) -> Cursor {
    Cursor { rank: rank_of(item.message.content.priority), seq: item.seq }
}

/// Submits `count` messages of all priorities, and gives them in the order the inbox should.
async fn fill(store: &Store, count: u64) -> Vec<Draft> {
    add_agent(store, BUILDER).await;
    let mut drafts: Vec<_> = (1..=count)
        .zip(PRIORITIES.into_iter().cycle())
        .map(|(number, priority)| Draft { priority, ..Draft::ask(number) })
        .collect();
    for draft in &drafts {
        submitted(store, draft).await;
    }
    drafts.sort_by_key(|draft| (std::cmp::Reverse(draft.priority), draft.number));
    drafts
}

pub async fn urgent_comes_first_then_the_longest_waiting(store: &Store, _clock: &ManualClock) {
    fill(store, 8).await;
    let order = ids(&page(store, None, 100).await);
    assert_eq!(order, [2, 6, 4, 8, 3, 7, 1, 5].map(message_id));
}

pub async fn the_arrival_counts_and_not_the_id(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in [2, 3, 1] {
        submitted(store, &Draft::ask(number)).await;
    }
    assert_eq!(ids(&page(store, None, 100).await), [2, 3, 1].map(message_id));
}

pub async fn pages_have_no_gap_and_no_duplicate(store: &Store, _clock: &ManualClock) {
    let drafts = fill(store, 17).await;
    for size in [1, 2, 5, 16, 17, 18] {
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let found = page(store, after, i64::try_from(size).unwrap()).await;
            seen.extend(ids(&found));
            if found.len() < size {
                break;
            }
            after = found.last().map(behind);
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
    let rest = page(store, first.last().map(behind), 100).await;
    assert_eq!(ids(&rest), drafts[5..].iter().map(Draft::id).collect::<Vec<_>>());
}

pub async fn only_what_is_open_waits_there(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    let drafts = [
        Draft::ask(1),
        Draft::notify(2),
        Draft { agent: TESTER, ..Draft::task(3) },
        Draft { expires_at: Some(at(10)), ..Draft::ask(4) },
        Draft::ask(5),
    ];
    for draft in &drafts {
        submitted(store, draft).await;
    }
    clock.set(at(11));
    resolved(store, &message_id(4), Command::Expire).await;
    resolved(store, &message_id(5), Command::Cancel).await;
    let waiting = page(store, None, 100).await;
    assert_eq!(ids(&waiting), [1, 3].map(message_id));
    assert_eq!(waiting[0].message.content, drafts[0].content());
}
