use countersign_protocol::runs::{Event, StepResult, StreamEvent, Usage};
use countersign_store::clock::ManualClock;
use countersign_store::ops::run::{
    Advance, BeginOutcome, BeginRun, LatestEvents, MAX_BYTES, MAX_EVENTS, MAX_RECORDS, NewRun, ReadRun, RunEvents,
    StoredEvent,
};
use countersign_store::{Store, StoreError};

use crate::runs::*;
use crate::scene::*;

const MIB: usize = 1024 * 1024;

fn limit(bound: i64) -> u64 {
    bound.try_into().expect("the limit is positive")
}

fn bytes(events: &[StoredEvent]) -> usize {
    events.iter().map(|event| event.body.len()).sum()
}

pub async fn events_are_read_after_a_number(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    assert_eq!(begin(store, segment("other", 1)).await, BeginOutcome::New);
    assert!(
        advance(
            store,
            Advance {
                events: vec![event(1), event(7)],
                ..step("other")
            }
        )
        .await
    );
    record_events(store, vec![event(2), event(3)]).await;
    record_events(store, vec![event(9)]).await;
    let read = async |after, limit| {
        let events = store
            .run(RunEvents {
                run_id: RUN.to_owned(),
                after,
                limit,
            })
            .await
            .unwrap();
        numbers(&events)
    };
    assert_eq!(read(0, 10).await, [2, 3, 9]);
    assert_eq!(read(0, 2).await, [2, 3]);
    assert_eq!(
        (read(2, 10).await, read(3, 10).await, read(8, 10).await),
        (vec![3, 9], vec![9], vec![9])
    );
    assert!(read(9, 10).await.is_empty());
    assert!(read(u64::MAX, 10).await.is_empty());
    assert!(events_after(store, "nobody", 0).await.is_empty());
}

pub async fn the_last_events_are_read_before_a_number(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    assert_eq!(begin(store, segment("other", 1)).await, BeginOutcome::New);
    assert!(
        advance(
            store,
            Advance {
                events: vec![event(8)],
                ..step("other")
            }
        )
        .await
    );
    record_events(store, vec![event(2), event(3), event(9)]).await;
    let read = async |before, limit| {
        let events = store
            .run(LatestEvents {
                run_id: RUN.to_owned(),
                before,
                limit,
            })
            .await
            .unwrap();
        numbers(&events)
    };
    assert_eq!((read(None, 10).await, read(None, 2).await), (vec![2, 3, 9], vec![3, 9]));
    assert_eq!(
        (read(Some(9), 10).await, read(Some(9), 1).await, read(Some(2), 10).await),
        (vec![2, 3], vec![3], vec![])
    );
    let run = store.run(ReadRun { run_id: RUN.to_owned() }).await.unwrap();
    assert_eq!(
        run,
        Some(found_run(store, RUN).await.run),
        "and what is seen of the run is the run itself"
    );
    assert_eq!(
        store
            .run(ReadRun {
                run_id: "nobody".to_owned()
            })
            .await
            .unwrap(),
        None
    );
}

pub async fn streamed_events_are_not_stored(_store: &Store, _clock: &ManualClock) {
    let streaming = |event| Event::AgentStreaming {
        agent_name: "writer".to_owned(),
        model: None,
        event,
    };
    let text = streaming(StreamEvent::Text {
        text: "word".to_owned(),
    });
    assert_eq!(StoredEvent::of(&text, 1, "{}"), None);
    let usage = Usage::default();
    let finish_reason = "stop".to_owned();
    let result = StepResult {
        text: "word".to_owned(),
        usage,
        context_usage: None,
        finish_reason,
    };
    let done = StoredEvent::of(&streaming(StreamEvent::Done { result }), 2, "{}").expect("that it is done is");
    assert_eq!(
        (done.seq, done.kind.as_str(), done.body.as_str()),
        (2, "agent_streaming", "{}")
    );
}

pub async fn event_number_is_never_reused(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    record_events(store, vec![event(1)]).await;
    let before = found_run(store, RUN).await;
    let again = Advance {
        events: vec![event(2), event(1)],
        machine: "lost".to_owned(),
        ..step(RUN)
    };
    assert!(matches!(store.run(again).await, Err(StoreError::Unavailable(_))));
    assert_eq!(found_run(store, RUN).await, before);
    assert_eq!(
        numbers(&events_after(store, RUN, 0).await),
        [1],
        "and nothing came with it"
    );
    record_events(store, vec![event(2)]).await;
}

pub async fn the_newest_events_are_kept(store: &Store, _clock: &ManualClock) {
    let limit = limit(MAX_EVENTS);
    let first = (1..=limit).map(|seq| event_saying(seq, "")).collect();
    assert_eq!(
        store
            .run(BeginRun {
                run: segment(RUN, 1),
                events: first
            })
            .await
            .unwrap(),
        BeginOutcome::New
    );
    record_events(
        store,
        (limit + 1..=limit + 1_000).map(|seq| event_saying(seq, "")).collect(),
    )
    .await;
    assert_eq!(
        events_after(store, RUN, 0).await.len() as u64,
        limit + 1_000,
        "it may be over by so many"
    );
    assert_eq!(found_run(store, RUN).await.run.pruned_seq, 0);
    record_events(store, vec![event(limit + 1_001)]).await;
    let kept = numbers(&events_after(store, RUN, 0).await);
    assert_eq!(kept, (1_002..=limit + 1_001).collect::<Vec<_>>());
    assert_eq!(found_run(store, RUN).await.run.pruned_seq, 1_001);
    // Pruned events are subtracted from the counters.
    record_events(store, (limit + 1_002..=limit + 2_001).map(event).collect()).await;
    assert_eq!(events_after(store, RUN, 0).await.len() as u64, limit + 1_000);
}

pub async fn stored_event_bytes_are_limited(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    let half = "x".repeat(MIB / 2);
    for seq in 1..=40 {
        record_events(store, vec![event(seq * 2), event_saying(seq * 2 + 1, &half)]).await;
    }
    let kept = events_after(store, RUN, 0).await;
    let limit = usize::try_from(MAX_BYTES).expect("the limit is positive");
    assert!(
        (limit - MIB / 2..limit + limit / 10).contains(&bytes(&kept)),
        "{}",
        bytes(&kept)
    );
    assert_eq!(kept.last().expect("the newest is kept").seq, 81);
    let pruned = found_run(store, RUN).await.run.pruned_seq;
    assert_eq!(
        numbers(&kept),
        (pruned + 1..=81).collect::<Vec<_>>(),
        "the oldest go first"
    );
}

pub async fn newest_event_is_kept_regardless_of_size(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    record_events(store, vec![event(1)]).await;
    let long = "x".repeat(10 * MIB);
    record_events(store, vec![event_saying(2, &long)]).await;
    assert_eq!(numbers(&events_after(store, RUN, 0).await), [2]);
    record_events(store, vec![event(3)]).await;
    assert_eq!(numbers(&events_after(store, RUN, 0).await), [3]);
    assert!(end(store, RUN, 5).await);
    // The same holds for the start of a segment.
    let next = NewRun {
        started_at: at(6),
        ..segment(RUN, 2)
    };
    let events = vec![event_saying(4, &long)];
    assert_eq!(
        store.run(BeginRun { run: next, events }).await.unwrap(),
        BeginOutcome::New
    );
    assert_eq!(numbers(&events_after(store, RUN, 0).await), [4]);
}

pub async fn the_newest_records_are_kept(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    let records = |numbers: std::ops::RangeInclusive<u64>| numbers.map(|number| number.to_string()).collect();
    let limit = limit(MAX_RECORDS);
    assert!(
        advance(
            store,
            Advance {
                records: records(1..=limit + 100),
                ..step(RUN)
            }
        )
        .await
    );
    assert_eq!(
        found_run(store, RUN).await.records.len() as u64,
        limit + 100,
        "it may be over by so many"
    );
    assert!(
        advance(
            store,
            Advance {
                records: records(limit + 101..=limit + 102),
                ..step(RUN)
            }
        )
        .await
    );
    assert_eq!(found_run(store, RUN).await.records, records(103..=limit + 102));
    let long = vec!["x".repeat(5 * MIB), "y".repeat(5 * MIB)];
    assert!(
        advance(
            store,
            Advance {
                records: long.clone(),
                ..step(RUN)
            }
        )
        .await
    );
    assert_eq!(found_run(store, RUN).await.records, long[1..]);
}
