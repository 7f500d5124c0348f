//! Copies from a file to PostgreSQL and back.

use countersign_core::State;
use countersign_store::Store;
use countersign_store::copy::SKIPPED_TABLES;
use countersign_store::model::Submission;
use countersign_store::ops::account::setting::Setting;
use countersign_store::ops::message::audit::Trail;

use super::fixtures::*;
use super::full_store::{LAST, WORD};
use crate::behaviours::audit::assert_chained;
use crate::behaviours::files::{attachment, bodies};
use crate::behaviours::search::{find, index_all};
use crate::cues::{typed_ahead, waiting_texts};
use crate::postgres::fresh::Database;
use crate::runs;
use crate::scene::*;
use crate::sqlite::fresh::Scratch;

#[tokio::test]
async fn round_trip_copy_is_identical() {
    let start = full_file().await;
    let between = Database::create().await;
    let end = Scratch::new();
    let there = copied(&file(&start), &database(&between)).await;
    assert!(
        there.tables.iter().all(|table| table.source.rows > 0),
        "nothing is missing to begin with: {there:?}"
    );
    let back = copied(&database(&between), &file(&end)).await;
    assert_eq!(there.tables, back.tables);
    assert_eq!(dump(&start.connect()), dump(&end.connect()));
}

#[tokio::test]
async fn store_can_be_copied_within_one_engine() {
    let start = full_file().await;
    let other_file = Scratch::new();
    copied(&file(&start), &file(&other_file)).await;
    assert_eq!(dump(&start.connect()), dump(&other_file.connect()));
    let one = Database::create().await;
    let other = Database::create().await;
    let there = copied(&file(&other_file), &database(&one)).await;
    assert_eq!(copied(&database(&one), &database(&other)).await.tables, there.tables);
}

#[tokio::test]
async fn empty_store_can_be_copied() {
    let start = Scratch::new();
    let between = Database::create().await;
    let end = Scratch::new();
    drop(start.open_at(&clock()).unwrap());
    assert_eq!(copied(&file(&start), &database(&between)).await.rows(), 0);
    assert_eq!(copied(&database(&between), &file(&end)).await.rows(), 0);
    add_agent(&end.open_at(&clock()).unwrap(), BUILDER).await;
}

#[tokio::test]
async fn hub_continues_on_a_copy_in_postgresql() {
    let (_start, moved) = full_database().await;
    let store = open_database(&moved).await.unwrap();
    goes_on(&store).await;
}

#[tokio::test]
async fn hub_continues_on_a_copy_in_a_file() {
    let (_start, moved) = full_database().await;
    let back = Scratch::new();
    copied(&database(&moved), &file(&back)).await;
    goes_on(&back.open_at(&clock()).unwrap()).await;
}

/// Decided messages can be read, open ones can be decided, and sequence numbers continue.
async fn goes_on(store: &Store) {
    assert!(matches!(
        agent_view(store, &message_id(2)).await.state,
        State::Resolved(_)
    ));
    assert_eq!(agent_view(store, &message_id(LAST)).await.wire, Draft::ask(LAST).wire());
    assert_eq!(attachment(store, 10, 0).await, Some(bodies()[0].clone()));
    let setting = store
        .run(Setting {
            name: "reasons".to_owned(),
        })
        .await
        .unwrap();
    assert_eq!(setting.as_deref(), Some(r#"["später"]"#));
    assert_eq!(runs::numbers(&runs::events_after(store, runs::RUN, 0).await).len(), 12);

    let last = viewed(store, &message_id(LAST)).await.seq;
    resolved(store, &message_id(LAST), answer("approve")).await;
    for subject in (1..=8)
        .chain([LAST])
        .map(|number| message_id(number).to_string())
        .chain(["hub".to_owned()])
    {
        let trail = store.run(Trail { subject }).await.unwrap();
        assert!(!trail.is_empty());
        assert_chained(&trail);
    }
    assert_eq!(
        submit(
            store,
            &Draft {
                key: Some("once"),
                ..Draft::ask(99)
            }
        )
        .await,
        taken(2)
    );
    submitted(store, &Draft::ask(LAST + 1)).await;
    assert_eq!(viewed(store, &message_id(LAST + 1)).await.seq, last + 1);

    // The second text was deleted, but its number is not reused.
    assert_eq!(waiting_texts(store).await.len(), 1);
    assert_eq!(typed_ahead(store, "a third one").await, 3);

    assert!(find(store, WORD).await.is_empty(), "the index did not come along");
    assert!(index_all(store).await > 40);
    assert_eq!(find(store, WORD).await, [message_id(LAST)]);
}

fn taken(number: u64) -> Submission {
    use countersign_core::message::{Outcome, Status};
    Draft::ask(number).taken(Status::Resolved(Outcome::Answered))
}

#[test]
fn every_skipped_table_has_a_reason() {
    assert!(
        SKIPPED_TABLES
            .iter()
            .all(|(table, reason)| !table.is_empty() && reason.len() > 10)
    );
    for kept in [
        "message",
        "message_text",
        "audit",
        "audit_head",
        "credential",
        "hub_key",
        "setting",
        "attachment",
    ] {
        assert!(SKIPPED_TABLES.iter().all(|(table, _)| *table != kept), "{kept}");
    }
}
