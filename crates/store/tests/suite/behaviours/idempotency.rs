//! Writes of runs that are retried because the first reply was lost.

use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::list::Counts;
use countersign_store::ops::run::{
    Advance, AskInRun, BeginOutcome, BeginRun, EndRun, RunEnding, RunWithRecords, StoredEvent, StoredRunState,
};

use crate::runs::*;
use crate::scene::*;

/// Everything a write may change.
async fn everything(store: &Store) -> (RunWithRecords, Vec<StoredEvent>, usize, i64) {
    let open = store
        .run(Counts {
            person: "alice".to_owned(),
        })
        .await
        .unwrap()
        .open;
    (
        found_run(store, RUN).await,
        events_after(store, RUN, 0).await,
        waiting_for(store, RUN).await.len(),
        open,
    )
}

fn telling(seq: u64) -> Advance {
    Advance {
        events: vec![event(seq)],
        records: vec![format!("record {seq}")],
        last_seq: seq,
        ..step(RUN)
    }
}

pub async fn repeated_write_is_applied_once(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    asked(store, &[1]).await;
    let first = Advance {
        asks_done: vec![message_id(1)],
        body: Some("moved".to_owned()),
        ..telling(1)
    };
    assert!(advance(store, first.clone()).await);
    let once = everything(store).await;
    assert_eq!((once.0.records.as_slice(), once.2), (&["record 1".to_owned()][..], 0));
    for _ in 0..3 {
        assert!(advance(store, first.clone()).await, "it was taken");
        assert_eq!(everything(store).await, once);
    }
    assert!(advance(store, telling(2)).await, "and the run goes on");
    assert_eq!(numbers(&events_after(store, RUN, 0).await), [1, 2]);
    assert_eq!(found_run(store, RUN).await.records, ["record 1", "record 2"]);
}

pub async fn repeated_ask_is_created_once(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    let asking = AskInRun {
        advance: telling(1),
        asks: vec![ask(1), ask(2)],
    };
    assert!(store.run(asking.clone()).await.unwrap());
    let once = everything(store).await;
    assert_eq!((once.2, once.3), (2, 2));
    assert!(store.run(asking.clone()).await.unwrap());
    assert_eq!(everything(store).await, once);
    resolved(store, &message_id(1), answer("approve")).await;
    assert!(store.run(asking).await.unwrap(), "also when it was answered in between");
    assert_eq!(everything(store).await.3, 1);
}

pub async fn repeated_end_is_idempotent(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    let ending = EndRun {
        advance: telling(1),
        ending: RunEnding::Completed,
        at: at(5),
    };
    assert!(store.run(ending.clone()).await.unwrap());
    let once = everything(store).await;
    for millis in [5, 6] {
        assert!(
            store
                .run(EndRun {
                    at: at(millis),
                    ..ending.clone()
                })
                .await
                .unwrap()
        );
        assert_eq!(everything(store).await, once);
    }
    assert_eq!(
        once.0.run.summary.state,
        StoredRunState::Ended {
            ending: RunEnding::Completed,
            at: at(5)
        }
    );
    assert!(!end(store, RUN, 5).await, "another one comes too late");
}

pub async fn repeated_start_is_idempotent(store: &Store, _clock: &ManualClock) {
    let start = segment(RUN, 1);
    let begin = async || {
        store
            .run(BeginRun {
                run: start.clone(),
                events: vec![event(1)],
            })
            .await
            .unwrap()
    };
    assert_eq!(begin().await, BeginOutcome::New);
    let once = everything(store).await;
    assert_eq!(begin().await, BeginOutcome::New);
    assert_eq!(everything(store).await, once);
    assert!(advance(store, telling(2)).await);
    assert_eq!(begin().await, BeginOutcome::Exists, "the run has continued since");
}

pub async fn repeated_continuation_is_idempotent(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    assert!(end(store, RUN, 5).await);
    let next = segment(RUN, 2);
    let begin = async || {
        store
            .run(BeginRun {
                run: next.clone(),
                events: vec![event(3)],
            })
            .await
            .unwrap()
    };
    assert_eq!(begin().await, BeginOutcome::New);
    let once = everything(store).await;
    assert_eq!((once.0.run.summary.segment, once.1.len()), (2, 1));
    assert_eq!(begin().await, BeginOutcome::New);
    assert_eq!(everything(store).await, once);
}
