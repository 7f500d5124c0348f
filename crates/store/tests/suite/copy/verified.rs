//! The verification at the end of a copy, and the handling of a copy that differs.

use countersign_store::StoreError;
use countersign_store::copy::{CopyReport, copy};

use super::fixtures::*;
use crate::postgres::fresh::Database;
use crate::sqlite::fresh::Scratch;

fn different(report: &CopyReport) -> Vec<&str> {
    report
        .tables
        .iter()
        .filter(|table| !table.is_same())
        .map(|table| table.table.as_str())
        .collect()
}

#[tokio::test]
async fn one_changed_byte_is_noticed_in_a_file() {
    let start = full_file().await;
    let target = Scratch::new();
    let from = file(&start);
    let to = file(&target);
    assert!(
        copy_until(&from, &to, |progress| is_batch(progress)
            && progress.table == "resolution")
        .await
        .is_none()
    );
    let damage = "UPDATE attachment SET body = x'89504e4700fe' WHERE body = x'89504e4700ff'";
    assert_eq!(target.connect().execute(damage, []).unwrap(), 1);
    for _ in 0..2 {
        let report = copy(&from, &to, SOME, |_| {}).await.unwrap();
        assert_eq!(different(&report), ["attachment"]);
        assert!(report.resumed && !report.is_same());
    }
    assert!(
        matches!(target.open_at(&clock()), Err(StoreError::UnfinishedCopy { .. })),
        "the mark stays"
    );
}

#[tokio::test]
async fn one_changed_byte_is_noticed_in_postgresql() {
    let start = full_file().await;
    let target = Database::create().await;
    let from = file(&start);
    let to = database(&target);
    assert!(
        copy_until(&from, &to, |progress| is_batch(progress) && progress.table == "setting")
            .await
            .is_none()
    );
    let operator = target.connect().await;
    for (damage, table) in [
        ("UPDATE message SET expires_at = 0 WHERE seq = 20", "message"),
        ("DELETE FROM run_event WHERE seq = 3", "run_event"),
        ("UPDATE person SET role = 'owner ' WHERE name = 'olga'", "person"),
    ] {
        assert_eq!(operator.execute(damage, &[]).await.unwrap(), 1, "{damage}");
        let report = copy(&from, &to, SOME, |_| {}).await.unwrap();
        assert!(different(&report).contains(&table), "{damage}: {report:?}");
    }
    assert!(
        matches!(open_database(&target).await, Err(StoreError::UnfinishedCopy { .. })),
        "the mark stays"
    );
}

#[tokio::test]
async fn rows_lost_at_the_end_of_a_table_are_copied_again() {
    let start = full_file().await;
    let target = Database::create().await;
    let from = file(&start);
    let to = database(&target);
    assert!(
        copy_until(&from, &to, |progress| is_batch(progress) && progress.table == "setting")
            .await
            .is_none()
    );
    let lost = "DELETE FROM message WHERE seq > 30";
    assert!(target.connect().await.execute(lost, &[]).await.unwrap() > 0);
    copied(&from, &to).await;
}
