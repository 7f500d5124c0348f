use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::run::{
    BeginOutcome, DeleteRunCommand, NewRun, PurgeRuns, ReadRunCommands, RemoteCommand, SendRunCommand,
};

use crate::nodes::*;
use crate::runs::{RUN, begin, begun, end, segment};
use crate::scene::*;

async fn write(store: &Store, run_id: &str, body: &str) -> Option<i64> {
    store
        .run(SendRunCommand {
            run_id: run_id.to_owned(),
            body: body.to_owned(),
        })
        .await
        .unwrap()
}

async fn written(store: &Store, run_id: &str, body: &str) -> RemoteCommand {
    let number = write(store, run_id, body).await.expect("the run is under way");
    RemoteCommand {
        number,
        run_id: run_id.to_owned(),
        body: body.to_owned(),
        is_late: false,
    }
}

async fn read(store: &Store, node: &str) -> Vec<RemoteCommand> {
    store
        .run(ReadRunCommands {
            node: node.to_owned(),
            since: at(0),
        })
        .await
        .unwrap()
}

async fn begun_by(store: &Store, node: &str, run_id: &str) {
    let run = NewRun {
        node: node.to_owned(),
        ..segment(run_id, 1)
    };
    assert_eq!(begin(store, run).await, BeginOutcome::New);
}

pub async fn commands_are_read_in_order(store: &Store, _clock: &ManualClock) {
    assert!(read(store, NODE).await.is_empty());
    begun_by(store, NODE, "b").await;
    begun_by(store, NODE, "a").await;
    let mut sent = Vec::new();
    for number in 0..12 {
        sent.push(written(store, ["b", "a"][number % 2], &format!("letter {number}")).await);
    }
    assert!(sent.is_sorted_by_key(|command| command.number));
    assert_eq!(read(store, NODE).await, sent);
}

pub async fn command_stays_until_it_is_deleted(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    let first = written(store, RUN, "one").await;
    let second = written(store, RUN, "two").await;
    assert_eq!(read(store, NODE).await, [first.clone(), second.clone()]);
    for _ in 0..2 {
        store.run(DeleteRunCommand { number: first.number }).await.unwrap();
        assert_eq!(read(store, NODE).await, std::slice::from_ref(&second));
    }
    store.run(DeleteRunCommand { number: second.number }).await.unwrap();
    let later = written(store, RUN, "one").await;
    assert!(later.number > second.number, "no number is given again");
    assert_eq!(read(store, NODE).await, [later]);
}

pub async fn command_is_late_by_time_or_by_segment(store: &Store, clock: &ManualClock) {
    begun(store).await;
    let old = written(store, RUN, "old").await;
    clock.set(at(20_000));
    let new = written(store, RUN, "new").await;
    let late = async |since: i64| -> Vec<i64> {
        let commands = store
            .run(ReadRunCommands {
                node: NODE.to_owned(),
                since: at(since),
            })
            .await
            .unwrap();
        commands
            .into_iter()
            .filter(|command| command.is_late)
            .map(|command| command.number)
            .collect()
    };
    assert!(late(0).await.is_empty());
    assert_eq!(late(20_000).await, [old.number], "the instant itself is in time");
    assert!(end(store, RUN, 5).await);
    let next = NewRun {
        started_at: at(30_000),
        ..segment(RUN, 2)
    };
    assert_eq!(begin(store, next).await, BeginOutcome::New);
    assert_eq!(late(0).await, [old.number, new.number]);
}

pub async fn commands_go_to_the_node_that_owns_the_run(store: &Store, _clock: &ManualClock) {
    begun_by(store, NODE, "one").await;
    begun_by(store, OTHER, "other").await;
    let one = written(store, "one", "stop").await;
    let other = written(store, "other", "go on").await;
    assert!(read(store, "node-3").await.is_empty());
    assert_eq!(read(store, OTHER).await, [other]);
    assert_eq!(read(store, NODE).await, [one]);
}

pub async fn commands_follow_the_run_to_its_next_node(store: &Store, clock: &ManualClock) {
    enter(store, &[NODE]).await;
    begun(store).await;
    let before = written(store, RUN, "before").await;
    clock.set(at(1_001));
    enter(store, &[OTHER]).await;
    assert_eq!(run_ids(&take_over(store, look(OTHER)).await.runs), [RUN]);
    let after = written(store, RUN, "after").await;
    assert!(read(store, NODE).await.is_empty(), "it is not its run any more");
    assert_eq!(read(store, OTHER).await, [before, after]);
}

pub async fn command_to_a_run_that_is_not_running_is_refused(store: &Store, _clock: &ManualClock) {
    assert_eq!(write(store, "nobody", "hello").await, None);
    begun(store).await;
    assert!(end(store, RUN, 5).await);
    assert_eq!(write(store, RUN, "too late").await, None);
    assert!(read(store, NODE).await.is_empty());
    assert_eq!(begin(store, segment(RUN, 2)).await, BeginOutcome::New);
    assert!(
        write(store, RUN, "in time").await.is_some(),
        "a continuation hears again"
    );
}

pub async fn commands_are_deleted_with_their_run(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    begun_by(store, NODE, "other").await;
    written(store, RUN, "unread").await;
    let kept = written(store, "other", "kept").await;
    assert!(end(store, RUN, 5).await);
    assert_eq!(
        store
            .run(PurgeRuns {
                ended_before: at(6),
                limit: 10
            })
            .await
            .unwrap(),
        1
    );
    begun(store).await;
    assert_eq!(
        read(store, NODE).await,
        [kept],
        "a namesake gets nothing that was not for it"
    );
}

pub async fn nul_in_a_command_breaks_nothing(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    write(store, RUN, "a\0b").await.expect("the run is under way");
    assert_eq!(read(store, NODE).await[0].body, "a\u{2400}b");
}
