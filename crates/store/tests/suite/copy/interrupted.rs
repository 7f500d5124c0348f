//! Interrupted and resumed copies.

use countersign_store::StoreError;
use countersign_store::copy::{CopyError, StoreLocation};

use super::fixtures::*;
use crate::postgres::fresh::Database;
use crate::sqlite::fresh::Scratch;

/// Every attempt copies one more batch.
async fn finish_in_single_batches(from: &StoreLocation, to: &StoreLocation) -> usize {
    for attempt in 1..500 {
        if let Some(done) = cancel_after(from, to, 1).await {
            let report = done.expect("the last attempt finishes");
            assert!(report.resumed && report.is_same(), "{report:?}");
            return attempt;
        }
    }
    panic!("it never comes to its end");
}

#[tokio::test]
async fn copy_interrupted_after_every_batch_is_identical() {
    let start = full_file().await;
    let between = Database::create().await;
    let end = Scratch::new();
    let attempts = finish_in_single_batches(&file(&start), &database(&between)).await;
    assert!(attempts > 50, "cut often enough: {attempts}");
    let attempts = finish_in_single_batches(&database(&between), &file(&end)).await;
    assert!(attempts > 50, "cut often enough: {attempts}");
    assert_eq!(dump(&start.connect()), dump(&end.connect()));
}

#[tokio::test]
async fn copy_interrupted_while_reading_leaves_the_target_untouched() {
    let start = full_file().await;
    let target = Database::create().await;
    let cut = copy_until(&file(&start), &database(&target), |progress| {
        progress.table == "message"
    })
    .await;
    assert!(cut.is_none());
    assert!(!copied(&file(&start), &database(&target)).await.resumed);
}

/// The database ends the connection in the middle of a batch, as a server restart would.
#[tokio::test]
async fn lost_connection_loses_at_most_one_batch() {
    let start = full_file().await;
    let target = Database::create().await;
    let from = file(&start);
    let to = database(&target);
    assert!(cancel_after(&from, &to, 20).await.is_none());
    let operator = target.connect().await;
    let trap = "CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$;
         CREATE TRIGGER cut AFTER INSERT ON message_text FOR EACH ROW WHEN (NEW.seq = 13) EXECUTE FUNCTION cut()";
    operator.batch_execute(trap).await.unwrap();
    match refused(&from, &to).await {
        CopyError::Store { location, .. } => assert_eq!(location, to.to_string()),
        other => panic!("expected a lost connection, got {other}"),
    }
    let there = operator
        .query_one("SELECT max(seq) FROM message_text", &[])
        .await
        .unwrap();
    assert_eq!(
        there.get::<_, Option<i64>>(0),
        Some(11),
        "whole batches only, and the first message has no text any more"
    );
    operator
        .batch_execute("DROP TRIGGER cut ON message_text; DROP FUNCTION cut")
        .await
        .unwrap();
    let report = copied(&from, &to).await;
    assert!(report.resumed);
    let end = Scratch::new();
    copied(&to, &file(&end)).await;
    assert_eq!(dump(&start.connect()), dump(&end.connect()));
}

#[tokio::test]
async fn hub_refuses_an_unfinished_copy() {
    let start = full_file().await;
    let database_ = Database::create().await;
    let other = Scratch::new();
    let from = file(&start);
    assert!(cancel_after(&from, &database(&database_), 3).await.is_none());
    assert!(cancel_after(&from, &file(&other), 3).await.is_none());
    for opened in [open_database(&database_).await, other.open_at(&clock())] {
        match opened {
            Err(error @ StoreError::UnfinishedCopy { .. }) => assert!(error.to_string().contains(&from.to_string())),
            Err(other) => panic!("refused for another reason: {other}"),
            Ok(_) => panic!("an unfinished copy was opened"),
        }
    }
    copied(&from, &database(&database_)).await;
    copied(&from, &file(&other)).await;
    assert!(open_database(&database_).await.is_ok() && other.open_at(&clock()).is_ok());
}
