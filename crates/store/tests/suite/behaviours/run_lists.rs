use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::run::{
    Advance, BeginOutcome, BeginRun, ListRuns, MAX_EVENTS, NewRun, OldestEndedRun, PurgeRuns, RunCursor, RunSummaryPage,
};

use crate::runs::*;
use crate::scene::*;

async fn begin_at(store: &Store, run_id: &str, millis: i64, cwd: &str) {
    let run = NewRun {
        started_at: at(millis),
        cwd: cwd.to_owned(),
        ..segment(run_id, 1)
    };
    assert_eq!(begin(store, run).await, BeginOutcome::New);
}

async fn list(store: &Store, cwd: Option<&str>, before: Option<RunCursor>, limit: i64) -> RunSummaryPage {
    store
        .run(ListRuns {
            cwd: cwd.map(str::to_owned),
            before,
            limit,
        })
        .await
        .unwrap()
}

fn run_ids(page: &RunSummaryPage) -> Vec<&str> {
    page.runs.iter().map(|run| run.run_id.as_str()).collect()
}

async fn purge(store: &Store, ended_before: i64, limit: i64) -> u64 {
    store
        .run(PurgeRuns {
            ended_before: at(ended_before),
            limit,
        })
        .await
        .unwrap()
}

pub async fn latest_started_run_comes_first(store: &Store, _clock: &ManualClock) {
    assert_eq!(
        list(store, None, None, 10).await,
        RunSummaryPage {
            runs: Vec::new(),
            next: None
        }
    );
    for (run_id, millis) in [("b", 20), ("a", 10), ("d", 30), ("c", 30)] {
        begin_at(store, run_id, millis, "/srv").await;
    }
    assert_eq!(run_ids(&list(store, None, None, 10).await), ["c", "d", "b", "a"]);
    assert!(end(store, "a", 40).await);
    let page = list(store, None, None, 10).await;
    assert_eq!(run_ids(&page), ["c", "d", "b", "a"], "that it ended does not move it");
    assert_eq!(page.runs[3], found_run(store, "a").await.run.summary);
    let again = NewRun {
        started_at: at(50),
        ..segment("a", 2)
    };
    assert_eq!(begin(store, again).await, BeginOutcome::New);
    assert_eq!(
        run_ids(&list(store, None, None, 10).await),
        ["a", "c", "d", "b"],
        "that it was continued does"
    );
}

pub async fn runs_are_listed_by_their_directory(store: &Store, _clock: &ManualClock) {
    let long = "/deep".repeat(800);
    for (run_id, cwd) in [
        ("a", "/srv"),
        ("b", "/srv/"),
        ("c", "/Srv"),
        ("d", "/srv"),
        ("e", long.as_str()),
    ] {
        begin_at(store, run_id, 0, cwd).await;
    }
    assert_eq!(run_ids(&list(store, Some("/srv"), None, 10).await), ["d", "a"]);
    assert_eq!(run_ids(&list(store, Some("/Srv"), None, 10).await), ["c"]);
    assert_eq!(run_ids(&list(store, Some(&long), None, 10).await), ["e"]);
    assert!(list(store, Some("/sr"), None, 10).await.runs.is_empty());
    assert!(list(store, Some(""), None, 10).await.runs.is_empty());
}

pub async fn pages_have_no_gap_and_no_duplicate(store: &Store, _clock: &ManualClock) {
    for number in 0..10 {
        // Groups of three start at the same time.
        begin_at(
            store,
            &format!("run-{number}"),
            number / 3,
            if number % 2 == 0 { "/even" } else { "/odd" },
        )
        .await;
    }
    for (cwd, step) in [(None, 1), (Some("/even"), 2)] {
        for limit in 1..=10 {
            let mut seen = Vec::new();
            let mut before = None;
            loop {
                let page = list(store, cwd, before, limit).await;
                seen.extend(page.runs.iter().map(|run| run.run_id.clone()));
                match page.next {
                    Some(next) => before = Some(next),
                    None => break,
                }
            }
            let all = (0..10)
                .step_by(step)
                .rev()
                .map(|number| format!("run-{number}"))
                .collect::<Vec<_>>();
            assert_eq!(seen, all, "in pages of {limit}");
        }
    }
}

pub async fn only_runs_that_ended_before_the_time_are_purged(store: &Store, _clock: &ManualClock) {
    for (run_id, ends) in [("a", Some(10)), ("b", None), ("c", Some(20)), ("d", Some(5))] {
        assert_eq!(begin(store, segment(run_id, 1)).await, BeginOutcome::New);
        let events = vec![event(1)];
        let records = vec!["one".to_owned()];
        assert!(
            advance(
                store,
                Advance {
                    events,
                    records,
                    ..step(run_id)
                }
            )
            .await
        );
        if let Some(millis) = ends {
            assert!(end(store, run_id, millis).await);
        }
    }
    assert_eq!(
        begin(
            store,
            NewRun {
                started_at: at(30),
                ..segment("d", 2)
            }
        )
        .await,
        BeginOutcome::New
    );
    assert_eq!(store.run(OldestEndedRun).await.unwrap(), Some(at(10)));
    assert_eq!(purge(store, 10, 10).await, 0, "at the very instant it stays");
    assert_eq!(purge(store, 11, 10).await, 1);
    assert_eq!(run_ids(&list(store, None, None, 10).await), ["d", "c", "b"]);
    for run_id in ["b", "c", "d"] {
        assert_eq!(found_run(store, run_id).await.records, ["one"]);
        assert_eq!(numbers(&events_after(store, run_id, 0).await), [1]);
    }
    assert_eq!(store.run(OldestEndedRun).await.unwrap(), Some(at(20)));
    assert_eq!(purge(store, 9_999, 10).await, 1);
    assert_eq!(
        store.run(OldestEndedRun).await.unwrap(),
        None,
        "what is under way has no end"
    );
}

pub async fn purged_run_id_can_be_reused(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    record_events(store, vec![event(1)]).await;
    asked(store, &[1]).await;
    assert!(
        advance(
            store,
            Advance {
                records: vec!["one".to_owned()],
                ..step(RUN)
            }
        )
        .await
    );
    assert!(end(store, RUN, 5).await);
    assert_eq!(purge(store, 6, 10).await, 1);
    assert!(find_run(store, RUN).await.is_none());
    assert!(events_after(store, RUN, 0).await.is_empty());
    assert!(!advance(store, step(RUN)).await);
    assert_eq!(begin(store, segment(RUN, 2)).await, BeginOutcome::Missing);
    begun(store).await;
    let found = found_run(store, RUN).await;
    assert_eq!((found.records, found.run.pruned_seq), (Vec::new(), 0));
    assert!(events_after(store, RUN, 0).await.is_empty());
    assert!(waiting_for(store, RUN).await.is_empty());
}

pub async fn oldest_ended_runs_are_purged_first_in_bounded_batches(store: &Store, _clock: &ManualClock) {
    for (run_id, millis) in [("a", 30), ("b", 10), ("c", 20)] {
        assert_eq!(begin(store, segment(run_id, 1)).await, BeginOutcome::New);
        assert!(end(store, run_id, millis).await);
    }
    assert_eq!(purge(store, 99, 2).await, 2);
    assert_eq!(run_ids(&list(store, None, None, 10).await), ["a"]);
    // A run with many events is purged alone, to keep the transaction short.
    let events = (1..=MAX_EVENTS.unsigned_abs())
        .map(|seq| event_saying(seq, ""))
        .collect();
    assert_eq!(
        store
            .run(BeginRun {
                run: segment("long", 1),
                events
            })
            .await
            .unwrap(),
        BeginOutcome::New
    );
    assert!(end(store, "long", 5).await);
    assert_eq!(purge(store, 99, 10).await, 1);
    assert_eq!(run_ids(&list(store, None, None, 10).await), ["a"]);
    assert_eq!(purge(store, 99, 10).await, 1);
    assert_eq!(purge(store, 99, 10).await, 0);
}
