use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::run::{Begun, Letter, NewRun, PurgeRuns, TakeMail, WriteToRun};
use futures_util::future::join_all;

use crate::nodes::*;
use crate::runs::{RUN, begin, begun, end, segment};
use crate::scene::*;

async fn write(store: &Store, run_id: &str, body: &str) -> Option<i64> {
    store.run(WriteToRun { run_id: run_id.to_owned(), body: body.to_owned() }).await.unwrap()
}

async fn written(store: &Store, run_id: &str, body: &str) -> Letter {
    let number = write(store, run_id, body).await.expect("the run is under way");
    Letter { number, run_id: run_id.to_owned(), body: body.to_owned() }
}

async fn take(store: &Store, node: &str) -> Vec<Letter> {
    store.run(TakeMail { node: node.to_owned() }).await.unwrap()
}

async fn begun_by(store: &Store, node: &str, run_id: &str) {
    let run = NewRun { node: node.to_owned(), ..segment(run_id, 1) };
    assert_eq!(begin(store, run).await, Begun::New);
}

pub async fn letters_come_in_the_order_they_were_written(store: &Store, _clock: &ManualClock) {
    assert!(take(store, NODE).await.is_empty());
    begun_by(store, NODE, "b").await;
    begun_by(store, NODE, "a").await;
    let mut sent = Vec::new();
    for number in 0..12 {
        sent.push(written(store, ["b", "a"][number % 2], &format!("letter {number}")).await);
    }
    assert!(sent.is_sorted_by_key(|letter| letter.number));
    assert_eq!(take(store, NODE).await, sent);
}

pub async fn a_letter_is_taken_once(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    let mut sent = Vec::new();
    for number in 0..8 {
        sent.push(written(store, RUN, &format!("letter {number}")).await);
    }
    let mut taken: Vec<_> = join_all((0..4).map(|_| take(store, NODE))).await.into_iter().flatten().collect();
    taken.sort_by_key(|letter| letter.number);
    assert_eq!(taken, sent);
    let later = written(store, RUN, "letter 0").await;
    assert!(later.number > sent[7].number, "no number is given again");
    assert_eq!(take(store, NODE).await, [later]);
}

pub async fn letters_are_for_the_node_that_has_the_run(store: &Store, _clock: &ManualClock) {
    begun_by(store, NODE, "one").await;
    begun_by(store, OTHER, "other").await;
    let (one, other) = (written(store, "one", "stop").await, written(store, "other", "go on").await);
    assert!(take(store, "node-3").await.is_empty());
    assert_eq!(take(store, OTHER).await, [other]);
    assert_eq!(take(store, NODE).await, [one]);
}

pub async fn letters_follow_the_run_to_its_next_node(store: &Store, clock: &ManualClock) {
    enter(store, &[NODE]).await;
    begun(store).await;
    let before = written(store, RUN, "before").await;
    clock.set(at(1_001));
    enter(store, &[OTHER]).await;
    assert_eq!(run_ids(&take_over(store, look(OTHER)).await.runs), [RUN]);
    let after = written(store, RUN, "after").await;
    assert!(take(store, NODE).await.is_empty(), "it is not its run any more");
    assert_eq!(take(store, OTHER).await, [before, after]);
}

pub async fn nobody_writes_to_a_run_that_is_not_under_way(store: &Store, _clock: &ManualClock) {
    assert_eq!(write(store, "nobody", "hello").await, None);
    begun(store).await;
    assert!(end(store, RUN, 5).await);
    assert_eq!(write(store, RUN, "too late").await, None);
    assert!(take(store, NODE).await.is_empty());
    assert_eq!(begin(store, segment(RUN, 2)).await, Begun::New);
    assert!(write(store, RUN, "in time").await.is_some(), "a continuation hears again");
}

pub async fn letters_are_forgotten_with_their_run(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    begun_by(store, NODE, "other").await;
    written(store, RUN, "unread").await;
    let kept = written(store, "other", "kept").await;
    assert!(end(store, RUN, 5).await);
    assert_eq!(store.run(PurgeRuns { ended_before: at(6), limit: 10 }).await.unwrap(), 1);
    begun(store).await;
    assert_eq!(take(store, NODE).await, [kept], "a namesake gets nothing that was not for it");
}

pub async fn a_nul_in_a_letter_breaks_nothing(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    write(store, RUN, "a\0b").await.expect("the run is under way");
    assert_eq!(take(store, NODE).await[0].body, "a\u{2400}b");
}
