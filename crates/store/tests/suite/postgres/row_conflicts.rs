//! Two hubs on the same row at the same time. A plain connection plays the other hub, so that every step is in order.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use countersign_core::State;
use countersign_store::StoreError;
use countersign_store::model::Submission;
use countersign_store::ops::admin::agents::RemoveAgent;
use countersign_store::ops::message::apply::Apply;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::pull::Pull;
use countersign_store::ops::message::submit::Submit;
use countersign_store::ops::message::sweep::Purge;
use countersign_store::ops::run::{Advance, AskInRun, PurgeRuns};
use tokio_postgres::Client;

use super::fresh::Fresh;
use super::within_timeout;
use crate::behaviours::audit::assert_chained;
use crate::runs;
use crate::scene::*;

/// Polls `work` until it waits for a lock.
pub async fn until_it_waits<F: Future>(fresh: &Fresh, mut work: Pin<&mut F>) {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let watcher = fresh.database.connect().await;
    let waits = async {
        loop {
            let polled = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
            assert!(polled.is_pending(), "it should have to wait");
            if watcher.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) > 0 {
                return;
            }
        }
    };
    within_timeout(waits).await;
}

/// A connection with an open transaction that ran this statement.
pub async fn holding(fresh: &Fresh, sql: &str) -> Client {
    let operator = fresh.database.connect().await;
    operator.batch_execute(&format!("BEGIN; {sql}")).await.unwrap();
    operator
}

/// Fails the first `times` changes of a message with this SQLSTATE. A sequence counts them, because it never rolls
/// back.
async fn fail_changes(fresh: &Fresh, times: i64, sqlstate: &str) -> Client {
    let operator = fresh.database.connect().await;
    let sql = format!(
        "CREATE SEQUENCE tried;
         CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF nextval('tried') <= {times} THEN RAISE EXCEPTION 'made up' USING ERRCODE = '{sqlstate}'; END IF;
             RETURN NEW;
         END $$;
         CREATE TRIGGER fail BEFORE UPDATE ON message FOR EACH ROW EXECUTE FUNCTION fail()"
    );
    operator.batch_execute(&sql).await.unwrap();
    operator
}

async fn tries(operator: &Client) -> i64 {
    operator
        .query_one("SELECT last_value FROM tried", &[])
        .await
        .unwrap()
        .get(0)
}

#[tokio::test]
async fn concurrently_changed_message_is_decided_again() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    let id = submitted(&fresh.store, &Draft::ask(1)).await;
    let rival = holding(&fresh, "UPDATE message SET rev = rev + 1").await;
    let mut deciding = pin!(resolved(&fresh.store, &id, answer("approve")));
    until_it_waits(&fresh, deciding.as_mut()).await;
    rival.batch_execute("COMMIT").await.unwrap();
    let resolution = deciding.await;
    let view = agent_view(&fresh.store, &id).await;
    assert_eq!((view.rev, view.state), (3, State::Resolved(resolution)));
    assert_eq!(open_count(&fresh.store, BUILDER).await, 0);
}

#[tokio::test]
async fn conflicting_transaction_is_retried() {
    for sqlstate in ["40001", "40P01"] {
        let fresh = Fresh::open().await;
        add_agent(&fresh.store, BUILDER).await;
        let id = submitted(&fresh.store, &Draft::pushed(1)).await;
        let operator = fail_changes(&fresh, 3, sqlstate).await;
        resolved(&fresh.store, &id, answer("approve")).await;
        assert_eq!(tries(&operator).await, 4);
        let trail = fresh
            .store
            .run(Trail {
                subject: id.to_string(),
            })
            .await
            .unwrap();
        assert_eq!(trail.len(), 2, "what was undone left nothing");
        assert_chained(&trail);
        assert_eq!(open_count(&fresh.store, BUILDER).await, 0);
    }
}

#[tokio::test]
async fn retries_are_limited() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    let id = submitted(&fresh.store, &Draft::ask(1)).await;
    let operator = fail_changes(&fresh, 1_000, "40001").await;
    let given_up = fresh.store.run(Apply(resolve_request(&id, answer("approve")))).await;
    assert!(matches!(given_up, Err(StoreError::Unavailable(_))), "{given_up:?}");
    assert_eq!(tries(&operator).await, 16);
    assert_eq!(agent_view(&fresh.store, &id).await.state, State::Open);
    assert_eq!(open_count(&fresh.store, BUILDER).await, 1);
}

#[tokio::test]
async fn other_errors_are_not_retried() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    let id = submitted(&fresh.store, &Draft::ask(1)).await;
    let operator = fail_changes(&fresh, 1, "23514").await;
    let refused = fresh.store.run(Apply(resolve_request(&id, answer("approve")))).await;
    assert!(
        matches!(&refused, Err(StoreError::Unavailable(why)) if why == "made up (23514)"),
        "{refused:?}"
    );
    assert_eq!(tries(&operator).await, 1);
    resolved(&fresh.store, &id, answer("approve")).await;
}

#[tokio::test]
async fn dropped_caller_does_not_undo_its_write() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    let rival = holding(&fresh, "UPDATE agent SET open = open").await;
    {
        let message = Draft::ask(1).render();
        let mut impatient = pin!(fresh.store.run(Submit {
            message,
            max_open: NO_LIMIT
        }));
        until_it_waits(&fresh, impatient.as_mut()).await;
    }
    rival.batch_execute("ROLLBACK").await.unwrap();
    let written = async { while fresh.store.run(Pull(message_id(1))).await.unwrap().is_none() {} };
    within_timeout(written).await;
    assert_eq!(agent_view(&fresh.store, &message_id(1)).await.state, State::Open);
    assert_eq!(open_count(&fresh.store, BUILDER).await, 1);
}

#[tokio::test]
async fn dropped_read_leaves_no_open_transaction() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    let id = submitted(&fresh.store, &Draft::ask(1)).await;
    let rival = holding(&fresh, "LOCK TABLE message").await;
    {
        let mut impatient = pin!(fresh.store.run(Pull(id.clone())));
        until_it_waits(&fresh, impatient.as_mut()).await;
    }
    rival.batch_execute("ROLLBACK").await.unwrap();
    // In a leftover read-only transaction none of these could be written.
    for number in 2..=30 {
        submitted(&fresh.store, &Draft::ask(number)).await;
    }
}

#[tokio::test]
async fn replay_is_recognized_after_its_original_took_the_last_slot() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    let draft = |number| Draft {
        key: Some("deploy"),
        ..Draft::ask(number)
    };
    submitted(&fresh.store, &draft(1)).await;
    // As if the first submit were not committed yet.
    let key = "UPDATE message SET idempotency_key";
    let open = "UPDATE agent SET open";
    fresh
        .database
        .connect()
        .await
        .batch_execute(&format!("{key} = NULL; {open} = 0"))
        .await
        .unwrap();
    let rival = holding(&fresh, &format!("{open} = 1; {key} = 'deploy'")).await;
    let replay = draft(2);
    let mut replaying = pin!(submit_within(&fresh.store, &replay, 1));
    until_it_waits(&fresh, replaying.as_mut()).await;
    rival.batch_execute("COMMIT").await.unwrap();
    assert!(matches!(replaying.await, Submission::Duplicate(earlier) if earlier.id == message_id(1)));
}

#[tokio::test]
async fn returning_agent_waits_for_concurrent_resolutions() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    submitted(&fresh.store, &Draft::ask(1)).await;
    submitted(&fresh.store, &Draft::ask(2)).await;
    let removal = RemoveAgent {
        id: BUILDER.to_owned(),
        actor: OWNER.to_owned(),
    };
    assert!(fresh.store.run(removal).await.unwrap());
    let rival = holding(&fresh, "UPDATE message SET status = 'delivered' WHERE seq = 1").await;
    {
        let mut returning = pin!(add_agent(&fresh.store, BUILDER));
        until_it_waits(&fresh, returning.as_mut()).await;
        rival.batch_execute("COMMIT").await.unwrap();
        returning.await;
    }
    assert_eq!(open_count(&fresh.store, BUILDER).await, 1);
}

#[tokio::test]
async fn purge_waits_for_a_running_index_batch() {
    let fresh = Fresh::open().await;
    add_agent(&fresh.store, BUILDER).await;
    submitted_and_resolved(&fresh.store, &Draft::ask(1)).await;
    let rival = holding(&fresh, "UPDATE search_mark SET settled = settled").await;
    {
        let mut purging = pin!(fresh.store.run(Purge {
            resolved_before: at(1),
            limit: 10
        }));
        until_it_waits(&fresh, purging.as_mut()).await;
        // It had read the text before, and indexes its words only now.
        rival
            .batch_execute("INSERT INTO message_search (seq, words) VALUES (1, 'secret'); COMMIT")
            .await
            .unwrap();
        assert_eq!(purging.await.unwrap(), 1);
    }
    let left = rival
        .query_one("SELECT count(*) FROM message_search", &[])
        .await
        .unwrap();
    assert_eq!(left.get::<_, i64>(0), 0);
}

#[tokio::test]
async fn write_that_waited_for_the_end_is_refused() {
    let fresh = Fresh::open().await;
    runs::begun(&fresh.store).await;
    let rival = holding(
        &fresh,
        "UPDATE run SET status = 'cancelled', completed_at = 5, machine = ''",
    )
    .await;
    let advance = Advance {
        events: vec![runs::event(1)],
        ..runs::step(runs::RUN)
    };
    {
        let mut asking = pin!(fresh.store.run(AskInRun {
            advance,
            asks: vec![runs::ask(1)]
        }));
        until_it_waits(&fresh, asking.as_mut()).await;
        rival.batch_execute("COMMIT").await.unwrap();
        assert!(!asking.await.unwrap());
    }
    assert!(runs::events_after(&fresh.store, runs::RUN, 0).await.is_empty());
    assert!(fresh.store.run(Pull(message_id(1))).await.unwrap().is_none());
}

#[tokio::test]
async fn concurrently_continued_run_is_not_purged() {
    let fresh = Fresh::open().await;
    runs::begun(&fresh.store).await;
    runs::record_events(&fresh.store, vec![runs::event(1)]).await;
    assert!(runs::end(&fresh.store, runs::RUN, 5).await);
    let rival = holding(
        &fresh,
        "UPDATE run SET status = 'running', segment = 2, completed_at = NULL",
    )
    .await;
    {
        let mut purging = pin!(fresh.store.run(PurgeRuns {
            ended_before: at(6),
            limit: 10
        }));
        until_it_waits(&fresh, purging.as_mut()).await;
        rival.batch_execute("COMMIT").await.unwrap();
        assert_eq!(purging.await.unwrap(), 0);
    }
    assert_eq!(
        runs::numbers(&runs::events_after(&fresh.store, runs::RUN, 0).await),
        [1]
    );
}
