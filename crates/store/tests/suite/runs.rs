//! Test fixtures: runs.

use std::sync::atomic::{AtomicU64, Ordering};

use countersign_protocol::runs::Event;
use countersign_store::Store;
use countersign_store::ops::run::{
    Advance, AskInRun, BeginOutcome, BeginRun, EndRun, FindRun, NewAsk, NewRun, PendingAsks, RunEnding, RunEvents,
    RunPhase, RunWithRecords, SendRunCommand, StoredAsk, StoredEvent,
};

use crate::nodes::NODE;
use crate::scene::*;

pub const RUN: &str = "run-1";
/// An agent of that run. No registered agent can have such a name.
pub const WRITER: &str = "writer#run-1";

pub fn event(seq: u64) -> StoredEvent {
    event_saying(seq, &format!("number {seq}"))
}

pub fn event_saying(seq: u64, text: &str) -> StoredEvent {
    let event = Event::SteerQueued { text: text.to_owned() };
    StoredEvent::of(&event, seq, &event.frame(RUN, seq, at(0), None)).expect("it is not droppable")
}

/// A new id at every call: two writes share one only if the second repeats the first.
pub fn write_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("write {}", NEXT.fetch_add(1, Ordering::Relaxed))
}

pub fn segment(run_id: &str, segment: u64) -> NewRun {
    NewRun {
        run_id: run_id.to_owned(),
        node: NODE.to_owned(),
        write_id: write_id(),
        segment,
        strategy_path: "/srv/bridge/talk.json".to_owned(),
        strategy_name: "Talk".to_owned(),
        cwd: "/srv/bridge".to_owned(),
        started_at: at(0),
        last_seq: 0,
        machine: r#"{"at":"start"}"#.to_owned(),
        body: format!(r#"{{"segment":{segment}}}"#),
    }
}

pub async fn begin(store: &Store, run: NewRun) -> BeginOutcome {
    store
        .run(BeginRun {
            run,
            events: Vec::new(),
        })
        .await
        .unwrap()
}

/// Begins the run of most behaviours.
pub async fn begun(store: &Store) {
    assert_eq!(begin(store, segment(RUN, 1)).await, BeginOutcome::New);
}

/// A write that changes nothing.
pub fn step(run_id: &str) -> Advance {
    Advance {
        run_id: run_id.to_owned(),
        segment: 1,
        node: NODE.to_owned(),
        write_id: write_id(),
        events: Vec::new(),
        records: Vec::new(),
        asks_done: Vec::new(),
        machine: r#"{"at":"step"}"#.to_owned(),
        phase: RunPhase::Between,
        last_seq: 0,
        body: None,
    }
}

pub async fn advance(store: &Store, advance: Advance) -> bool {
    store.run(advance).await.unwrap()
}

pub async fn record_events(store: &Store, events: Vec<StoredEvent>) {
    assert!(advance(store, Advance { events, ..step(RUN) }).await);
}

pub async fn end(store: &Store, run_id: &str, millis: i64) -> bool {
    let advance = step(run_id);
    let ending = RunEnding::Completed;
    store
        .run(EndRun {
            advance,
            ending,
            at: at(millis),
        })
        .await
        .unwrap()
}

pub fn ask(number: u64) -> NewAsk {
    let message = Draft {
        agent: WRITER,
        ..Draft::ask(number)
    }
    .render();
    NewAsk {
        message,
        number: 0,
        body: format!(r#"{{"ask":{number}}}"#),
    }
}

pub async fn asked(store: &Store, numbers: &[u64]) {
    let asks = numbers.iter().copied().map(ask).collect();
    assert!(
        store
            .run(AskInRun {
                advance: step(RUN),
                asks
            })
            .await
            .unwrap()
    );
}

pub async fn find_run(store: &Store, run_id: &str) -> Option<RunWithRecords> {
    store
        .run(FindRun {
            run_id: run_id.to_owned(),
        })
        .await
        .unwrap()
}

pub async fn found_run(store: &Store, run_id: &str) -> RunWithRecords {
    find_run(store, run_id).await.expect("the run is known")
}

pub async fn events_after(store: &Store, run_id: &str, after: u64) -> Vec<StoredEvent> {
    store
        .run(RunEvents {
            run_id: run_id.to_owned(),
            after,
            limit: NO_LIMIT,
        })
        .await
        .unwrap()
}

pub fn numbers(events: &[StoredEvent]) -> Vec<u64> {
    events.iter().map(|event| event.seq).collect()
}

pub async fn waiting_for(store: &Store, run_id: &str) -> Vec<StoredAsk> {
    store
        .run(PendingAsks {
            run_id: run_id.to_owned(),
        })
        .await
        .unwrap()
}

/// An ended run with a row in every run table.
pub async fn ended_with_everything(store: &Store) {
    begun(store).await;
    asked(store, &[1]).await;
    let events = vec![event(1)];
    let records = vec!["one".to_owned()];
    assert!(
        advance(
            store,
            Advance {
                events,
                records,
                ..step(RUN)
            }
        )
        .await
    );
    assert!(
        store
            .run(SendRunCommand {
                run_id: RUN.to_owned(),
                body: "unread".to_owned()
            })
            .await
            .unwrap()
            .is_some()
    );
    assert!(end(store, RUN, 5).await);
}
