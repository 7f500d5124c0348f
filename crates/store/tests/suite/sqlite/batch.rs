//! Group commit: queued writes commit together, and each succeeds or fails alone.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use countersign_core::State;
use countersign_store::StoreError;
use countersign_store::model::Submission;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::submit::Submit;
use futures_util::future::join_all;

use super::fresh::Fresh;
use crate::scene::*;

/// Submits all drafts while the file is locked from outside, so that the writer takes the rest as one batch.
async fn submit_together(fresh: &Fresh, drafts: &[Draft]) -> Vec<Result<Submission, StoreError>> {
    let lock = fresh.scratch.connect();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let submit = |draft: &Draft| {
        fresh.store.run(Submit {
            message: draft.render(),
            max_open: NO_LIMIT,
        })
    };
    let mut all = pin!(join_all(drafts.iter().map(submit)));
    let queued = poll_fn(|context| Poll::Ready(all.as_mut().poll(context))).await;
    assert!(queued.is_pending(), "no caller gets a reply before the commit");
    lock.execute_batch("ROLLBACK").unwrap();
    all.await
}

fn assert_refused(answer: &Result<Submission, StoreError>) {
    match answer {
        Err(StoreError::Unavailable(why)) => assert!(why.contains("UNIQUE"), "{why}"),
        other => panic!("expected the database to refuse, got {other:?}"),
    }
}

#[tokio::test]
async fn batched_writes_are_all_committed() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    let drafts: Vec<_> = (1..=100).map(Draft::ask).collect();
    for answer in submit_together(&fresh, &drafts).await {
        assert_eq!(answer.unwrap(), Submission::Created);
    }
    let stored: i64 = fresh
        .scratch
        .connect()
        .query_row("SELECT COUNT(*) FROM message", [], |row| row.get(0))
        .unwrap();
    assert_eq!((stored, open_count(&fresh.store, BUILDER).await), (100, 100));
}

#[tokio::test]
async fn failed_write_does_not_affect_its_batch() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    // Number 4 occurs twice: the second one fails because its id is taken.
    let drafts: Vec<_> = [1, 2, 3, 4, 5, 4, 6, 7].map(Draft::ask).into();
    let answers = submit_together(&fresh, &drafts).await;
    for (place, answer) in answers.iter().enumerate() {
        match place {
            5 => assert_refused(answer),
            _ => assert_eq!(answer.as_ref().unwrap(), &Submission::Created, "at {place}"),
        }
    }
    for number in 1..=7 {
        assert_eq!(agent_view(&fresh.store, &message_id(number)).await.state, State::Open);
        let trail = fresh
            .store
            .run(Trail {
                subject: message_id(number).to_string(),
            })
            .await
            .unwrap();
        assert_eq!(trail.len(), 1);
    }
    assert_eq!(
        open_count(&fresh.store, BUILDER).await,
        7,
        "the one that failed took no place"
    );

    let fresh = fresh.reopen();
    assert_eq!(open_count(&fresh.store, BUILDER).await, 7);
    assert_eq!(agent_view(&fresh.store, &message_id(7)).await.state, State::Open);
}

#[tokio::test]
async fn batch_of_failures_does_not_affect_later_writes() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    submitted(&fresh.store, &Draft::ask(1)).await;
    let drafts: Vec<_> = [1, 1, 1].map(Draft::ask).into();
    submit_together(&fresh, &drafts).await.iter().for_each(assert_refused);
    submitted(&fresh.store, &Draft::ask(2)).await;
    assert_eq!(open_count(&fresh.store, BUILDER).await, 2);
}

#[tokio::test]
async fn dropped_caller_does_not_undo_its_write() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    {
        let message = Draft::ask(1).render();
        let mut impatient = pin!(fresh.store.run(Submit {
            message,
            max_open: NO_LIMIT
        }));
        let lock = fresh.scratch.connect();
        lock.execute_batch("BEGIN IMMEDIATE").unwrap();
        let asked = poll_fn(|context| Poll::Ready(impatient.as_mut().poll(context))).await;
        assert!(asked.is_pending());
        lock.execute_batch("ROLLBACK").unwrap();
    }
    // The writer keeps the order of the queue, so this one comes after.
    submitted(&fresh.store, &Draft::ask(2)).await;
    assert_eq!(agent_view(&fresh.store, &message_id(1)).await.state, State::Open);
    assert_eq!(open_count(&fresh.store, BUILDER).await, 2);
}
