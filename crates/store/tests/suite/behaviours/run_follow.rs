use countersign_core::Command;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::run::{
    Advance, AskInRun, BeginOutcome, BeginRun, EndRun, FollowRun, Followed, OpenAsks, RunEnding, RunVersion,
    RunVersions, StoredEvent, StoredRunState,
};

use crate::runs::*;
use crate::scene::*;

async fn versions(store: &Store, run_ids: &[&str]) -> Vec<RunVersion> {
    let run_ids = run_ids.iter().map(|&run_id| run_id.to_owned()).collect();
    let mut found = store.run(RunVersions { run_ids }).await.unwrap();
    found.sort_by(|one, other| one.run_id.cmp(&other.run_id));
    found
}

async fn current_version(store: &Store) -> RunVersion {
    versions(store, &[RUN]).await.pop().expect("the run is known")
}

async fn followed(store: &Store, after: Option<u64>, limit: i64, known_segment: Option<u64>) -> Followed {
    let follow = FollowRun {
        run_id: RUN.to_owned(),
        after,
        limit,
        known_segment,
    };
    store.run(follow).await.unwrap().expect("the run is known")
}

fn started(seq: u64) -> StoredEvent {
    let mut event = event(seq);
    event.kind = "strategy_started".to_owned();
    event
}

pub async fn run_version_changes_with_every_change(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    let mut seen = vec![current_version(store).await];
    assert_eq!(
        (seen[0].segment, seen[0].state, seen[0].open_asks),
        (1, StoredRunState::Running, 0)
    );
    let mut look = async || {
        let now = current_version(store).await;
        assert!(!seen.contains(&now), "{now:?}");
        assert_eq!(current_version(store).await, now, "and not by itself");
        seen.push(now.clone());
        now
    };
    record_events(store, vec![event(1)]).await;
    look().await;
    asked(store, &[1, 2]).await;
    assert_eq!(look().await.open_asks, 2);
    resolved(store, &message_id(1), answer("approve")).await;
    assert_eq!(
        look().await.open_asks,
        1,
        "an ask is resolved without a write of the run"
    );
    resolved(store, &message_id(2), Command::Cancel).await;
    look().await;
    assert!(end(store, RUN, 5).await);
    assert_eq!(
        look().await.state,
        StoredRunState::Ended {
            ending: RunEnding::Completed,
            at: at(5)
        }
    );
    assert_eq!(begin(store, segment(RUN, 2)).await, BeginOutcome::New);
    assert_eq!(look().await.segment, 2);
}

pub async fn versions_of_many_runs_are_read_together(store: &Store, _clock: &ManualClock) {
    for run_id in ["one", "two", "it's \"three\""] {
        assert_eq!(begin(store, segment(run_id, 1)).await, BeginOutcome::New);
    }
    let ids = |found: Vec<RunVersion>| found.into_iter().map(|version| version.run_id).collect::<Vec<_>>();
    assert_eq!(
        ids(versions(store, &["two", "nobody", "it's \"three\"", "two"]).await),
        ["it's \"three\"", "two"]
    );
    assert!(versions(store, &[]).await.is_empty());
    let many: Vec<String> = (0..1_000).map(|number| format!("run-{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).chain(["one"]).collect();
    assert_eq!(ids(versions(store, &many).await), ["one"]);
}

pub async fn follower_reads_one_snapshot(store: &Store, _clock: &ManualClock) {
    let none = FollowRun {
        run_id: RUN.to_owned(),
        after: None,
        limit: 10,
        known_segment: None,
    };
    assert_eq!(store.run(none).await.unwrap(), None);
    let first = BeginRun {
        run: segment(RUN, 1),
        events: vec![event(1), started(2)],
    };
    assert_eq!(store.run(first).await.unwrap(), BeginOutcome::New);
    let advance = Advance {
        events: vec![event(3), event(7)],
        ..step(RUN)
    };
    assert!(
        store
            .run(AskInRun {
                advance,
                asks: vec![ask(2), ask(1)]
            })
            .await
            .unwrap()
    );
    resolved(store, &message_id(2), answer("approve")).await;

    let found = followed(store, None, 10, None).await;
    assert_eq!(found.version, current_version(store).await);
    let new_segment = found.new_segment.expect("nothing was known");
    assert_eq!(
        (new_segment.run, new_segment.first_event),
        (found_run(store, RUN).await.run, Some(2))
    );
    assert_eq!((found.events.len(), found.last_event), (0, 7));
    assert_eq!(found.open.len(), 1);
    assert_eq!(
        (&found.open[0].message_id, &found.open[0].wire),
        (&message_id(1), &ask(1).message.wire)
    );

    assert_eq!(
        store.run(OpenAsks { run_id: RUN.to_owned() }).await.unwrap(),
        found.open
    );

    let found = followed(store, Some(1), 2, Some(1)).await;
    assert_eq!(
        (numbers(&found.events), found.last_event, found.new_segment),
        (vec![2, 3], 7, None)
    );
    assert!(followed(store, Some(7), 2, Some(1)).await.events.is_empty());
}

pub async fn follower_learns_where_the_next_segment_begins(store: &Store, _clock: &ManualClock) {
    let first = BeginRun {
        run: segment(RUN, 1),
        events: vec![started(1)],
    };
    assert_eq!(store.run(first).await.unwrap(), BeginOutcome::New);
    asked(store, &[1]).await;
    let end = EndRun {
        advance: Advance {
            events: vec![event(2)],
            ..step(RUN)
        },
        ending: RunEnding::Error,
        at: at(5),
    };
    assert!(store.run(end).await.unwrap());
    let found = followed(store, Some(1), 10, Some(1)).await;
    assert!(
        found.version.state != StoredRunState::Running && found.open.is_empty() && found.new_segment.is_none(),
        "{found:?}"
    );
    let next = BeginRun {
        run: segment(RUN, 2),
        events: vec![event(50), started(51)],
    };
    assert_eq!(store.run(next).await.unwrap(), BeginOutcome::New);
    let found = followed(store, Some(2), 10, Some(1)).await;
    assert_eq!(numbers(&found.events), [50, 51]);
    let new_segment = found.new_segment.expect("another segment");
    assert_eq!(
        (new_segment.run.summary.segment, new_segment.first_event),
        (2, Some(51))
    );
}
