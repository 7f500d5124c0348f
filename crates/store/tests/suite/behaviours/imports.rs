use countersign_core::message::Outcome;
use countersign_core::{Resolution, State};
use countersign_protocol::time::Timestamp;
use countersign_store::clock::{Clock, ManualClock};
use countersign_store::ops::list::History;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::pull::Pull;
use countersign_store::ops::message::sweep::Purge;
use countersign_store::ops::terminal::{ImportCue, ImportOutcome, NewCue};
use countersign_store::{Store, StoreError};
use serde_json::json;

use super::audit::assert_chained;
use super::files::{attachment, bodies, notes};
use crate::cues::*;
use crate::scene::*;

/// A cue that was asked long before this store existed.
fn old(number: u64, prompt: &str, key: &str) -> NewCue {
    let mut cue = cue(number, prompt);
    cue.message.received_at = at(-900);
    cue.message.audit.event = "imported".to_owned();
    cue.message.idempotency_key = Some(key.to_owned());
    cue
}

fn answered_at(resolved_at: Timestamp) -> Resolution {
    Resolution {
        id: resolution_id(),
        outcome: Outcome::Answered,
        defaulted: false,
        value: Some(json!("yes")),
        edited: false,
        actor: alice(),
        resolved_at,
        comment: None,
        checklist: None,
        files: notes(),
    }
}

async fn import(store: &Store, cue: NewCue, resolution: Option<Resolution>) -> ImportOutcome {
    let files = if resolution.is_some() { bodies() } else { Vec::new() };
    store
        .run(ImportCue {
            cue,
            quota: NO_QUOTA,
            resolution,
            files,
            collected: true,
        })
        .await
        .unwrap()
}

pub async fn repeated_import_is_idempotent(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    for (number, expected) in [(1, ImportOutcome::New), (2, ImportOutcome::Known(message_id(1)))] {
        assert_eq!(
            import(store, old(number, "Ship it?", "req_1"), Some(answered_at(at(-800)))).await,
            expected
        );
    }
    assert_eq!(
        import(store, old(3, "Ship that?", "req_2"), None).await,
        ImportOutcome::New
    );
    assert_eq!(
        import(store, old(4, "Ship that?", "req_2"), None).await,
        ImportOutcome::Known(message_id(3))
    );
    let history = History {
        agent_id: Some(ZOBAL.to_owned()),
        status: None,
        before: None,
        limit: 10,
    };
    assert_eq!(ids(&store.run(history).await.unwrap()), [3, 1].map(message_id));
    assert_eq!(summary(store, ZOBAL).await.expect("it joined on the way").open, 1);
}

pub async fn retention_of_imported_history_starts_at_the_import(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    import(store, old(1, "Ship it?", "req_1"), Some(answered_at(at(-800)))).await;
    let now = clock.now();
    assert_eq!(
        store
            .run(Purge {
                resolved_before: now,
                limit: 10
            })
            .await
            .unwrap(),
        0
    );
    let later = Timestamp::from_millis(now.as_millis() + 1);
    assert_eq!(
        store
            .run(Purge {
                resolved_before: later,
                limit: 10
            })
            .await
            .unwrap(),
        1
    );
}

pub async fn imported_answer_counts_as_collected(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    clock.set(at(7));
    assert!(join(store, ZOBAL, "alice").await);
    typed_ahead(store, "next").await;
    let resolution = answered_at(at(-800));
    assert_eq!(
        import(store, old(1, "Ship it?", "req_1"), Some(resolution.clone())).await,
        ImportOutcome::New
    );
    let item = viewed(store, &message_id(1)).await;
    assert_eq!((item.message.received_at, item.fetched_at), (at(-900), Some(at(-800))));
    assert_eq!(item.message.state, State::Resolved(resolution));
    for (index, body) in (0..).zip(bodies()) {
        assert_eq!(attachment(store, 1, index).await, Some(body));
    }
    let trail = store
        .run(Trail {
            subject: message_id(1).to_string(),
        })
        .await
        .unwrap();
    assert_eq!(
        (trail.len(), trail[1].entry.at),
        (2, at(7)),
        "the trail says when it came here"
    );
    assert_chained(&trail);
    assert_eq!(waiting_texts(store).await.len(), 1, "a text answers what is asked now");
    created(store, cue(2, "Ship it?"))
        .await
        .answered
        .expect("and this is asked now");

    let halved = ImportCue {
        cue: old(3, "Stop?", "req_3"),
        quota: NO_QUOTA,
        resolution: Some(answered_at(at(-700))),
        files: bodies()[..1].to_vec(),
        collected: true,
    };
    assert!(matches!(store.run(halved).await, Err(StoreError::Corrupt(_))));
    assert!(store.run(Pull(message_id(3))).await.unwrap().is_none());
}

pub async fn imported_uncollected_answer_is_kept(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    let late = ImportCue {
        cue: old(1, "Ship it?", "req_1"),
        quota: NO_QUOTA,
        resolution: Some(answered_at(at(-800))),
        files: bodies(),
        collected: false,
    };
    assert_eq!(store.run(late).await.unwrap(), ImportOutcome::New);
    assert_eq!(viewed(store, &message_id(1)).await.fetched_at, None);
    assert_eq!(attached(store, cue(2, "Ship it?")).await, message_id(1));
    assert_eq!(kept(store, "alice").await, Some(vec![message_id(1)]));
}

pub async fn imported_open_cue_is_attached_to(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    import(store, old(1, "Ship it?", "req_1"), None).await;
    assert_eq!(attached(store, cue(2, "Ship it?")).await, message_id(1));
    assert_eq!(current(store).await, Some(message_id(1)));
}

pub async fn cue_of_another_persons_agent_is_not_imported(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    assert!(join(store, ZOBAL, "alice").await);
    for (number, agent_id) in [(1, ZOBAL), (2, BUILDER)] {
        let theirs = cue_of(agent_id, "bob", number, "Ship it?");
        assert_eq!(import(store, theirs, None).await, ImportOutcome::NotYours);
        assert!(store.run(Pull(message_id(number))).await.unwrap().is_none());
    }
}
