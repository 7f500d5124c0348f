//! Refused copies, which leave both sides unchanged.

use countersign_store::copy::{CopyError, StoreLocation};
use countersign_store::{SCHEMA_VERSION, StoreError};

use super::fixtures::*;
use crate::postgres::fresh::Database;
use crate::scene::*;
use crate::sqlite::fresh::Scratch;

#[tokio::test]
async fn non_empty_target_is_refused_and_left_alone() {
    let start = full_file().await;
    let target = Database::create().await;
    let other = Scratch::new();
    let from = file(&start);
    {
        let store = open_database(&target).await.unwrap();
        add_agent(&store, BUILDER).await;
        add_agent(&other.open_at(&clock()).unwrap(), BUILDER).await;
    }
    let before = dump(&other.connect());
    for to in [file(&other), database(&target)] {
        match refused(&from, &to).await {
            CopyError::NotEmpty { location, table } => {
                assert_eq!((location, table.as_str()), (to.to_string(), "agent"));
            }
            error => panic!("refused for another reason: {error}"),
        }
    }
    assert_eq!(dump(&other.connect()), before);
    assert_eq!(open_count(&open_database(&target).await.unwrap(), BUILDER).await, 0);
}

#[tokio::test]
async fn a_finished_copy_is_not_copied_to_again() {
    let (start, target) = full_database().await;
    assert!(matches!(
        refused(&file(&start), &database(&target)).await,
        CopyError::NotEmpty { .. }
    ));
}

#[tokio::test]
async fn a_source_of_another_version_is_refused() {
    let start = full_file().await;
    let target = Scratch::new();
    let (moved_from, moved) = full_database().await;
    drop(moved_from);
    let operator = moved.connect().await;
    for found in [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1] {
        start.connect().pragma_update(None, "user_version", found).unwrap();
        operator
            .execute("UPDATE schema_version SET version = $1", &[&found])
            .await
            .unwrap();
        for from in [file(&start), database(&moved)] {
            let error = refused(&from, &file(&target)).await;
            match &error {
                CopyError::OlderSchema { found: seen, .. } if found < SCHEMA_VERSION => assert_eq!(*seen, found),
                CopyError::Store {
                    error: StoreError::NewerSchema { found: seen, .. },
                    ..
                } => assert_eq!(*seen, found),
                other => panic!("refused for another reason: {other}"),
            }
            assert!(error.to_string().contains(&from.to_string()), "{error}");
        }
    }
    assert!(!target.file().exists(), "the target was not even looked at");
}

#[tokio::test]
async fn a_newer_target_is_refused() {
    let start = full_file().await;
    let target = Scratch::new();
    drop(target.open_at(&clock()).unwrap());
    target
        .connect()
        .pragma_update(None, "user_version", SCHEMA_VERSION + 1)
        .unwrap();
    let error = refused(&file(&start), &file(&target)).await;
    assert!(
        matches!(
            error,
            CopyError::Store {
                error: StoreError::NewerSchema { .. },
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn source_without_a_store_is_refused() {
    let nothing = Scratch::new();
    let nothing_either = Database::create().await;
    let target = Scratch::new();
    for from in [file(&nothing), database(&nothing_either)] {
        assert!(
            matches!(refused(&from, &file(&target)).await, CopyError::NoStore { .. }),
            "{from}"
        );
    }
    assert!(!nothing.file().exists() && !target.file().exists());
    let nowhere = StoreLocation::database("postgres://nobody:s3cret@127.0.0.1:1/none?sslmode=disable", None).unwrap();
    let error = refused(&nowhere, &file(&target)).await;
    assert!(
        matches!(
            error,
            CopyError::Store {
                error: StoreError::Unavailable(_),
                ..
            }
        ),
        "{error}"
    );
    assert!(!format!("{error} {error:?}").contains("s3cret"));
}

#[tokio::test]
async fn unfinished_copy_is_refused_as_a_source() {
    let start = full_file().await;
    let half = Database::create().await;
    let target = Scratch::new();
    assert!(cancel_after(&file(&start), &database(&half), 3).await.is_none());
    let error = refused(&database(&half), &file(&target)).await;
    assert!(matches!(error, CopyError::UnfinishedSource { .. }), "{error}");
    assert!(error.to_string().contains(&file(&start).to_string()), "{error}");
}

#[tokio::test]
async fn copy_of_other_content_is_not_resumed() {
    let start = full_file().await;
    let other = Scratch::new();
    let target = Database::create().await;
    assert!(cancel_after(&file(&start), &database(&target), 3).await.is_none());
    add_agent(&other.open_at(&clock()).unwrap(), BUILDER).await;
    let error = refused(&file(&other), &database(&target)).await;
    assert!(matches!(error, CopyError::OtherCopy { .. }), "{error}");

    let kept = "UPDATE setting SET value = value || ' '";
    start.connect().execute(kept, []).unwrap();
    let error = refused(&file(&start), &database(&target)).await;
    assert!(matches!(error, CopyError::OtherCopy { .. }), "{error}");
    let count = "SELECT count(*) FROM message";
    let there: i64 = target.connect().await.query_one(count, &[]).await.unwrap().get(0);
    assert_eq!(there, 0, "and nothing was added to it");
}

#[tokio::test]
async fn tables_missing_on_one_side_are_named() {
    let start = full_file().await;
    let target = Database::create().await;
    let operator = target.connect().await;
    operator
        .batch_execute("CREATE TABLE guest (id BIGINT PRIMARY KEY)")
        .await
        .unwrap();
    let error = refused(&file(&start), &database(&target)).await.to_string();
    assert!(error.contains("guest is in the target only"), "{error}");
    operator
        .batch_execute("DROP TABLE guest; ALTER TABLE person ADD COLUMN age BIGINT")
        .await
        .unwrap();
    let error = refused(&file(&start), &database(&target)).await.to_string();
    assert!(error.contains("person does not have the same columns"), "{error}");
    operator
        .batch_execute("ALTER TABLE person DROP COLUMN age")
        .await
        .unwrap();
    copied(&file(&start), &database(&target)).await;
}

#[tokio::test]
async fn invalid_rows_are_named_before_anything_is_written() {
    let start = full_file().await;
    let target = Database::create().await;
    let other = Scratch::new();
    let set = |value: &str| {
        let changed = start
            .connect()
            .execute(&format!("UPDATE message_text SET wire = {value} WHERE seq = 9"), []);
        assert_eq!(changed.unwrap(), 1);
    };
    set("'a' || char(0) || 'b'");
    let error = refused(&file(&start), &database(&target)).await.to_string();
    assert!(
        error.contains("message_text (seq 9)") && error.contains("wire has a NUL"),
        "{error}"
    );
    copied(&file(&start), &file(&other)).await;
    assert_eq!(dump(&start.connect()), dump(&other.connect()), "a file takes it");

    for (value, expected) in [
        ("x'ff'", "does not have the type of its column"),
        ("CAST(x'ff' AS TEXT)", "neither text"),
    ] {
        set(value);
        let error = refused(&file(&start), &database(&target)).await.to_string();
        assert!(
            error.contains("message_text (seq 9)") && error.contains(expected),
            "{error}"
        );
    }
    set("'mended'");
    assert!(
        !copied(&file(&start), &database(&target)).await.resumed,
        "none of them had begun"
    );
}
