use countersign_protocol::runs::RunStatus;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::run::{
    Advance, AskInRun, BeginOutcome, BeginRun, EndRun, ListRuns, NewRun, Run, RunEnding, RunPhase, RunSummary,
    StoredRunState,
};

use crate::runs::*;
use crate::scene::*;

pub async fn run_is_read_back_as_it_was_begun(store: &Store, _clock: &ManualClock) {
    let new = NewRun {
        started_at: at(3),
        last_seq: 2,
        ..segment(RUN, 1)
    };
    let events = vec![event(1), event(2)];
    assert_eq!(
        store
            .run(BeginRun {
                run: new.clone(),
                events: events.clone()
            })
            .await
            .unwrap(),
        BeginOutcome::New
    );
    let found = found_run(store, RUN).await;
    let summary = RunSummary {
        seq: found.run.summary.seq,
        run_id: RUN.to_owned(),
        strategy_path: new.strategy_path,
        strategy_name: new.strategy_name,
        cwd: new.cwd,
        state: StoredRunState::Running,
        segment: 1,
        started_at: at(3),
        last_seq: 2,
    };
    let node = new.node;
    let machine = new.machine;
    let body = new.body;
    let run = Run {
        summary,
        node,
        phase: RunPhase::Between,
        pruned_seq: 0,
        machine,
        body,
    };
    assert_eq!((found.run, found.records), (run, Vec::new()));
    assert_eq!(events_after(store, RUN, 0).await, events);
    assert!(find_run(store, "Run-1").await.is_none(), "an id is what it is");
}

pub async fn a_run_begins_once(store: &Store, _clock: &ManualClock) {
    let first = |body: &str| NewRun {
        body: body.to_owned(),
        ..segment(RUN, 1)
    };
    assert_eq!(begin(store, first("mine")).await, BeginOutcome::New);
    let second = BeginRun {
        run: first("theirs"),
        events: vec![event(1)],
    };
    assert_eq!(store.run(second).await.unwrap(), BeginOutcome::Exists);
    assert!(end(store, RUN, 5).await);
    assert_eq!(
        begin(store, first("theirs")).await,
        BeginOutcome::Exists,
        "also when it has ended"
    );
    assert_eq!(found_run(store, RUN).await.run.body, "mine");
    assert!(events_after(store, RUN, 0).await.is_empty());
}

pub async fn a_continuation_follows_a_segment_that_has_ended(store: &Store, _clock: &ManualClock) {
    assert_eq!(begin(store, segment(RUN, 2)).await, BeginOutcome::Missing);
    begun(store).await;
    assert_eq!(
        begin(store, segment(RUN, 2)).await,
        BeginOutcome::Exists,
        "it is under way"
    );
    let records = vec!["one".to_owned()];
    assert!(
        advance(
            store,
            Advance {
                events: vec![event(1)],
                records,
                last_seq: 1,
                ..step(RUN)
            }
        )
        .await
    );
    assert!(end(store, RUN, 5).await);
    for wrong in [0, 1, 3] {
        assert_ne!(
            begin(store, segment(RUN, wrong)).await,
            BeginOutcome::New,
            "{wrong} does not follow 1"
        );
    }
    let cwd = "/elsewhere".to_owned();
    let strategy_name = "Walk".to_owned();
    let next = NewRun {
        cwd,
        strategy_name,
        started_at: at(9),
        last_seq: 3,
        ..segment(RUN, 2)
    };
    assert_eq!(
        store
            .run(BeginRun {
                run: next,
                events: vec![event(3)]
            })
            .await
            .unwrap(),
        BeginOutcome::New
    );

    let found = found_run(store, RUN).await;
    let summary = &found.run.summary;
    assert_eq!(
        (summary.state, summary.segment, summary.started_at),
        (StoredRunState::Running, 2, at(9))
    );
    assert_eq!(
        (summary.cwd.as_str(), summary.strategy_name.as_str()),
        ("/elsewhere", "Walk")
    );
    assert_eq!(
        (found.run.body.as_str(), found.run.machine.as_str()),
        (r#"{"segment":2}"#, r#"{"at":"start"}"#)
    );
    assert_eq!(found.records, ["one"], "what was said before is still known");
    assert_eq!(numbers(&events_after(store, RUN, 0).await), [1, 3]);
    assert_eq!(
        begin(store, segment(RUN, 2)).await,
        BeginOutcome::Exists,
        "it is continued once"
    );
    assert!(!advance(store, step(RUN)).await, "the segment before it does not go on");
    assert!(
        advance(
            store,
            Advance {
                segment: 2,
                ..step(RUN)
            }
        )
        .await
    );
}

pub async fn write_advances_the_run(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    let records = |texts: &[&str]| texts.iter().copied().map(str::to_owned).collect();
    let first = Advance {
        events: vec![event(1), event(2)],
        records: records(&["one", "two"]),
        phase: RunPhase::Working,
        last_seq: 4_098,
        ..step(RUN)
    };
    assert!(advance(store, first).await);
    let found = found_run(store, RUN).await;
    assert_eq!(
        (found.run.phase, found.run.summary.last_seq),
        (RunPhase::Working, 4_098)
    );
    assert_eq!(
        (found.run.machine.as_str(), found.run.body.as_str()),
        (r#"{"at":"step"}"#, r#"{"segment":1}"#)
    );

    let body = Some("new".to_owned());
    let second = Advance {
        events: vec![event(40)],
        records: records(&["three"]),
        last_seq: 40,
        body,
        ..step(RUN)
    };
    assert!(advance(store, second).await);
    let found = found_run(store, RUN).await;
    assert_eq!(
        (found.run.phase, found.run.summary.last_seq),
        (RunPhase::Between, 40),
        "not all of them were used"
    );
    assert_eq!(
        (found.run.body.as_str(), found.records),
        ("new", records(&["one", "two", "three"]))
    );
    assert_eq!(numbers(&events_after(store, RUN, 0).await), [1, 2, 40]);
}

pub async fn run_ends_once_with_outcome_and_time(store: &Store, _clock: &ManualClock) {
    for (ending, status) in [
        (RunEnding::Completed, RunStatus::Completed),
        (RunEnding::Error, RunStatus::Error),
        (RunEnding::Cancelled, RunStatus::Cancelled),
    ] {
        let run_id = ending.status().as_str();
        assert_eq!(begin(store, segment(run_id, 1)).await, BeginOutcome::New);
        let last = || Advance {
            events: vec![event(1)],
            last_seq: 1,
            ..step(run_id)
        };
        assert!(
            store
                .run(EndRun {
                    advance: last(),
                    ending,
                    at: at(7)
                })
                .await
                .unwrap()
        );
        assert!(
            !store
                .run(EndRun {
                    advance: last(),
                    ending: RunEnding::Error,
                    at: at(8)
                })
                .await
                .unwrap()
        );
        let found = found_run(store, run_id).await.run;
        assert_eq!(found.summary.state, StoredRunState::Ended { ending, at: at(7) });
        assert_eq!(
            (found.summary.state.status(), found.summary.state.completed_at()),
            (status, Some(at(7)))
        );
        assert_eq!((found.summary.last_seq, found.machine.as_str()), (1, ""));
        assert_eq!(numbers(&events_after(store, run_id, 0).await), [1]);
    }
}

pub async fn ended_segment_accepts_no_writes(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    assert!(end(store, RUN, 5).await);
    let before = found_run(store, RUN).await;
    let late = || Advance {
        events: vec![event(9)],
        records: vec!["late".to_owned()],
        body: Some("late".to_owned()),
        last_seq: 9,
        ..step(RUN)
    };
    assert!(!advance(store, late()).await);
    assert!(
        !store
            .run(AskInRun {
                advance: late(),
                asks: vec![ask(1)]
            })
            .await
            .unwrap()
    );
    assert!(
        !store
            .run(EndRun {
                advance: late(),
                ending: RunEnding::Error,
                at: at(9)
            })
            .await
            .unwrap()
    );
    assert_eq!(found_run(store, RUN).await, before);
    assert!(events_after(store, RUN, 0).await.is_empty());
    assert!(store.run(inbox(None, 10)).await.unwrap().items.is_empty());
    assert!(!advance(store, step("nobody")).await);
    assert!(
        !advance(
            store,
            Advance {
                segment: 2,
                ..step(RUN)
            }
        )
        .await
    );
}

pub async fn nul_in_a_text_does_not_break_a_run(store: &Store, _clock: &ManualClock) {
    let with_nul = || "a\0b".to_owned();
    let run = NewRun {
        strategy_path: with_nul(),
        strategy_name: with_nul(),
        cwd: with_nul(),
        machine: with_nul(),
        body: with_nul(),
        ..segment(RUN, 1)
    };
    assert_eq!(begin(store, run).await, BeginOutcome::New);
    let text = event_saying(1, "a\0b");
    let step = Advance {
        events: vec![text.clone()],
        records: vec![with_nul()],
        body: Some(with_nul()),
        ..step(RUN)
    };
    assert!(
        advance(
            store,
            Advance {
                machine: with_nul(),
                ..step
            }
        )
        .await
    );
    let found = found_run(store, RUN).await;
    let shown = "a\u{2400}b";
    assert_eq!(
        (
            found.run.summary.strategy_name.as_str(),
            found.run.summary.strategy_path.as_str()
        ),
        (shown, shown)
    );
    assert_eq!((found.run.machine.as_str(), found.run.body.as_str()), (shown, shown));
    assert_eq!(found.records, [shown]);
    assert!(text.body.contains(r"a\u0000b"));
    assert_eq!(
        events_after(store, RUN, 0).await,
        [text],
        "JSON has its own way to write it"
    );
    let there = ListRuns {
        cwd: Some(with_nul()),
        before: None,
        limit: 10,
    };
    assert_eq!(store.run(there).await.unwrap().runs.len(), 1);
}
