//! A version 5 store: the data of version 4, a running and an ended run, and two deliveries, one of them in flight.

use countersign_core::delivery::DeliveryState;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::Settlement;
use countersign_store::ops::run::{Advance, ReadRunCommands, SendRunCommand};

use crate::nodes::*;
use crate::outbox::{claim, only_claim, retry, settle};
use crate::runs::{advance, end, events_after, found_run, numbers, step};
use crate::scene::*;
use crate::version_four;

pub fn rows(bytes: fn(&[u8]) -> String) -> String {
    let run = |seq: i64, run_id: &str, status: &str, completed_at: &str, machine: &str| {
        format!(
            "INSERT INTO run (seq, run_id, strategy_path, strategy_name, cwd, cwd_sha256, status, segment, phase, started_at,
                 completed_at, last_seq, event_count, event_bytes, pruned_seq, record_n, record_count, record_bytes, machine)
                 VALUES ({seq}, '{run_id}', '/srv/talk.json', 'Talk', '/srv', {}, '{status}', 1, 'between', 3,
                     {completed_at}, 1, 1, 2, 0, 1, 1, 3, '{machine}');
             INSERT INTO run_text (seq, body) VALUES ({seq}, 'text');
             INSERT INTO run_event (run_seq, seq, kind, size, body) VALUES ({seq}, 1, 'steer_queued', 2, '{{}}');
             INSERT INTO run_record (run_seq, n, size, body) VALUES ({seq}, 1, 3, 'one');",
            bytes(&hash_of("/srv")),
        )
    };
    let delivery = |number: u64, claimed: u8, due_at: i64| {
        let id = message_id(number);
        let due_at = at(due_at).as_millis();
        format!(
            "INSERT INTO delivery (message_id, agent_id, host, track, attempts, created_at, due_at, claimed)
                 VALUES ('{id}', 'builder', '{HOST}', 'pending', 1, 0, {due_at}, {claimed});"
        )
    };
    [
        version_four::rows(bytes),
        run(101, "under way", "running", "NULL", "{}"),
        run(102, "over", "completed", "9", ""),
        delivery(2, 1, 60_000),
        delivery(1, 0, 70_000),
    ]
    .concat()
}

pub async fn assert_upgraded(store: &Store, clock: &ManualClock) {
    let before = found_run(store, "under way").await;
    assert_eq!(
        (before.run.node.as_str(), before.records.as_slice()),
        ("", &["one".to_owned()][..])
    );
    assert!(!advance(store, step("under way")).await, "it has no node");
    enter(store, &[NODE]).await;
    assert!(claim(store).await.is_empty(), "one was claimed, one waits for its time");

    // The delivery in flight is due again, and the run continues.
    let taken = take_over(store, search(NODE)).await;
    assert_eq!(
        (taken.removed.len(), taken.hosts.as_slice()),
        (0, &[HOST.to_owned()][..])
    );
    assert_eq!(run_ids(&taken.runs), ["under way"]);
    let claim = only_claim(store).await;
    assert_eq!((claim.message_id.clone(), claim.attempts), (message_id(2), 1));
    assert!(settle(store, &claim, retry(5)).await);
    clock.set(at(5));
    assert!(settle(store, &only_claim(store).await, Settlement::Delivered).await);
    assert_eq!(
        viewed(store, &message_id(2))
            .await
            .delivery
            .map(|delivery| delivery.state),
        Some(DeliveryState::Delivered)
    );

    let letter = SendRunCommand {
        run_id: "under way".to_owned(),
        body: "go on".to_owned(),
    };
    assert!(store.run(letter).await.unwrap().is_some());
    assert_eq!(
        store
            .run(ReadRunCommands {
                node: NODE.to_owned(),
                since: at(0)
            })
            .await
            .unwrap()
            .len(),
        1
    );
    let events = vec![crate::runs::event(2)];
    assert!(
        advance(
            store,
            Advance {
                events,
                last_seq: 2,
                ..step("under way")
            }
        )
        .await
    );
    assert_eq!(numbers(&events_after(store, "under way", 0).await), [1, 2]);
    assert!(end(store, "under way", 20).await);
    assert_eq!(found_run(store, "over").await.records, ["one"]);
    version_four::assert_upgraded(store, clock).await;
}
