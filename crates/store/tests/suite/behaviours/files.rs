use countersign_core::message::{FileNote, Outcome};
use countersign_core::{Digest, Rejection, State, Verdict};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{ApplyOutcome, ResolveRequest};
use countersign_store::ops::message::apply::Apply;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::sweep::Purge;
use countersign_store::ops::terminal::Attachment;
use serde_json::json;

use crate::cues::*;
use crate::scene::*;

const BODIES: [&[u8]; 3] = [b"\x89PNG\0\xff", b"", b"a,b\n1,2\n"];

pub fn note(index: usize, body: &[u8]) -> FileNote {
    FileNote {
        name: format!("file {index}.bin"),
        media_type: "application/octet-stream".to_owned(),
        size: body.len() as u64,
        sha256: Digest::of(body).to_string(),
    }
}

pub fn notes() -> Vec<FileNote> {
    BODIES
        .iter()
        .enumerate()
        .map(|(index, body)| note(index, body))
        .collect()
}

pub fn bodies() -> Vec<Vec<u8>> {
    BODIES.iter().map(|body| body.to_vec()).collect()
}

pub async fn attachment(store: &Store, number: u64, index: i64) -> Option<Vec<u8>> {
    store
        .run(Attachment {
            id: message_id(number),
            index,
        })
        .await
        .unwrap()
}

async fn answer_with(store: &Store, number: u64, notes: Vec<FileNote>, files: Vec<Vec<u8>>) -> ApplyOutcome {
    let command = by_alice(Verdict::AnsweredWith {
        value: json!("see there"),
        files: notes,
    });
    store
        .run(Apply(ResolveRequest {
            files,
            ..resolve_request(&message_id(number), command)
        }))
        .await
        .unwrap()
}

pub async fn files_come_with_the_answer(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "Ship it?")).await;
    let answered = answer_with(store, 1, notes(), bodies()).await;
    let ApplyOutcome::Resolved(applied) = answered else {
        panic!("expected a resolution, got {answered:?}")
    };
    assert_eq!(applied.resolution.files, notes());
    assert_eq!(
        agent_view(store, &message_id(1)).await.state,
        State::Resolved(applied.resolution)
    );
    for (index, body) in (0..).zip(BODIES) {
        assert_eq!(attachment(store, 1, index).await.as_deref(), Some(body));
    }
    for index in [-1, 3] {
        assert_eq!(attachment(store, 1, index).await, None);
    }
    assert_eq!(attachment(store, 2, 0).await, None);
}

pub async fn an_answer_without_all_its_files_is_refused(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    created(store, cue(1, "Ship it?")).await;
    let mut shuffled = bodies();
    shuffled.swap(0, 1);
    let misfits = [
        (notes(), Vec::new()),
        (notes(), bodies()[..2].to_vec()),
        (notes()[..2].to_vec(), bodies()),
        (Vec::new(), bodies()),
        (notes(), shuffled),
    ];
    for (notes, files) in misfits {
        let refused = answer_with(store, 1, notes, files).await;
        let is_about_files = |field: &str| field == "files";
        assert!(
            matches!(&refused, ApplyOutcome::Rejected(Rejection::InvalidField { field, .. }) if is_about_files(field)),
            "{refused:?}"
        );
    }
    let unannounced = ResolveRequest {
        files: bodies(),
        ..resolve_request(&message_id(1), by_alice(Verdict::Declined))
    };
    assert!(matches!(
        store.run(Apply(unannounced)).await.unwrap(),
        ApplyOutcome::Rejected(_)
    ));
    assert_eq!(agent_view(store, &message_id(1)).await.state, State::Open);
    assert_eq!(
        store
            .run(Trail {
                subject: message_id(1).to_string()
            })
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(attachment(store, 1, 0).await, None);

    submitted(store, &Draft::ask(2)).await;
    let refused = answer_with(store, 2, notes(), bodies()).await;
    assert!(
        matches!(refused, ApplyOutcome::Rejected(_)),
        "an ask that takes no files takes none: {refused:?}"
    );
    assert_eq!(attachment(store, 2, 0).await, None);
}

pub async fn late_answer_stores_no_file(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    let mut brief = cue(1, "Ship it?");
    brief.message.expires_at = Some(at(10));
    created(store, brief).await;
    clock.set(at(11));
    let late = answer_with(store, 1, notes(), bodies()).await;
    let ApplyOutcome::Resolved(applied) = late else {
        panic!("expected the expiry, got {late:?}")
    };
    assert_eq!(
        (applied.resolution.outcome, applied.resolution.files.len()),
        (Outcome::Expired, 0)
    );
    assert_eq!(attachment(store, 1, 0).await, None);
}

pub async fn purge_deletes_the_files(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    for number in [1, 2] {
        clock.set(at(i64::try_from(number).unwrap() * 10));
        created(store, cue(number, &format!("Ship {number}?"))).await;
        answer_with(store, number, notes(), bodies()).await;
    }
    assert_eq!(
        store
            .run(Purge {
                resolved_before: at(15),
                limit: 10
            })
            .await
            .unwrap(),
        1
    );
    for index in 0..3 {
        assert_eq!(attachment(store, 1, index).await, None);
        assert!(attachment(store, 2, index).await.is_some());
    }
}
