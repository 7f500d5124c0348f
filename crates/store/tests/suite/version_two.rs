//! A version 2 store: the data of version 1, and snoozed messages, settings and fetch records.

use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::account::setting::Setting;
use countersign_store::ops::list::ListSnoozed;

use crate::cues::{add_people, created, cue, typed_ahead};
use crate::scene::*;
use crate::version_one;

pub fn rows(bytes: fn(&[u8]) -> String) -> String {
    let since = format!(
        "INSERT INTO shelf (person, seq, until) VALUES ('owner', 1, {});
         INSERT INTO fetched (seq, at) VALUES (2, {});
         INSERT INTO setting (name, value) VALUES ('colour', 'blue');",
        at(100).as_millis(),
        at(6).as_millis(),
    );
    version_one::rows(bytes) + &since
}

pub async fn assert_upgraded(store: &Store, clock: &ManualClock) {
    let snoozed = store
        .run(ListSnoozed {
            person: "owner".to_owned(),
            limit: 10,
        })
        .await
        .unwrap();
    assert_eq!(
        snoozed.iter().map(|snoozed| snoozed.until).collect::<Vec<_>>(),
        [at(100)]
    );
    assert_eq!(viewed(store, &message_id(2)).await.fetched_at, Some(at(6)));
    assert_eq!(
        store
            .run(Setting {
                name: "colour".to_owned()
            })
            .await
            .unwrap()
            .as_deref(),
        Some("blue")
    );
    version_one::assert_upgraded(store, clock).await;

    // The features of the later versions work too.
    add_people(store).await;
    created(store, cue(4, "Ship it?")).await;
    typed_ahead(store, "yes").await;
    created(store, cue(5, "Ship that?"))
        .await
        .answered
        .expect("it is answered");
}
