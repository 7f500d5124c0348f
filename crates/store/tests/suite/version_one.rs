//! A version 1 store: an open message, an answered one, and a notify whose content is read from its wire text.

use countersign_core::access::{Principal, Role};
use countersign_core::audit::AuditRecord;
use countersign_core::message::{Outcome, Resolution};
use countersign_core::{Digest, State};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::NewMessage;
use countersign_store::ops::list::{Decided, ListFilter, Notices};
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::sweep::{OldestResolved, Purge};
use serde_json::json;

use crate::behaviours::audit::assert_chained;
use crate::behaviours::credentials::authenticate;
use crate::behaviours::search::{find, index_all};
use crate::scene::*;

const WIRE: &str = r#"{"a2h_version": "0.3", "type": "notify", "created_at": "2026-06-04T15:48:30Z",
    "title": "Backup is done", "agent": {"id": "builder", "run_id": "r1", "runtime": "cli"}}"#;

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn resolution() -> Resolution {
    Resolution {
        id: "res_00000000000000000000009999".parse().expect("a resolution id"),
        outcome: Outcome::Answered,
        defaulted: false,
        value: Some(json!("approve")),
        edited: false,
        actor: alice(),
        resolved_at: at(5),
        comment: None,
        checklist: None,
        files: Vec::new(),
    }
}

/// The rows, in SQL that both engines read; only bytes use the engine's own syntax.
pub fn rows(bytes: fn(&[u8]) -> String) -> String {
    let owner = format!(
        "INSERT INTO agent (id, signature_alg, open, created_at) VALUES ('builder', 'hmac-sha256', 1, 0);
         INSERT INTO person (name, role, created_at) VALUES ('owner', 'owner', 0);
         INSERT INTO credential (hash, kind, subject, label, created_at) VALUES ({}, 'person', 'owner', 'token', 0);
         INSERT INTO resolution (body) VALUES ({});",
        bytes(&hash_of("owner token")),
        quoted(&serde_json::to_string(&resolution()).expect("a resolution can be written")),
    );
    let notify = NewMessage {
        content: None,
        wire: WIRE.to_owned(),
        ..Draft::notify(3).render()
    };
    [
        owner,
        message_rows(1, &Draft::ask(1).render(), "'open', NULL, NULL", bytes),
        message_rows(
            2,
            &Draft::ask(2).render(),
            &format!("'answered', {}, 1", at(5).as_millis()),
            bytes,
        ),
        message_rows(3, &notify, &format!("'delivered', {}, NULL", at(0).as_millis()), bytes),
        resolved_entry(&Draft::ask(2).render(), bytes),
    ]
    .concat()
}

/// The second audit entry of message 2.
fn resolved_entry(message: &NewMessage, bytes: fn(&[u8]) -> String) -> String {
    let text = serde_json::to_string(&resolution()).expect("a resolution can be written");
    let entry = AuditRecord {
        at: at(5),
        actor: alice().to_string(),
        event: "answered".to_owned(),
        resolution_sha256: Some(Digest::of(text.as_bytes())),
        prev_hash: Some(message.audit.hash()),
        ..message.audit.clone()
    };
    let digest = |digest: Option<Digest>| bytes(digest.expect("both digests are known").as_bytes());
    format!(
        "INSERT INTO audit (subject, n, prev_seq, at, actor, event, content_sha256, resolution_sha256, hash)
             VALUES ('{id}', 2, 2, {at}, '{actor}', 'answered', {content}, {resolution}, {hash});
         UPDATE message SET audit_seq = 4, audit_hash = NULL, rev = 2 WHERE seq = 2;",
        id = message.id,
        at = at(5).as_millis(),
        actor = entry.actor,
        content = digest(entry.content_sha256),
        resolution = digest(entry.resolution_sha256),
        hash = bytes(entry.hash().as_bytes()),
    )
}

/// `end` holds the status, the time it ended, and the seq of the resolution.
fn message_rows(seq: i64, message: &NewMessage, end: &str, bytes: fn(&[u8]) -> String) -> String {
    let content_sha256 = message.audit.content_sha256.expect("a submission names its content");
    format!(
        "INSERT INTO audit (subject, n, at, actor, event, content_sha256, hash)
             VALUES ('{id}', 1, {received_at}, 'agent:builder', 'submitted', {content_sha256}, {hash});
         INSERT INTO message (id, agent_id, rev, rank, received_at, audit_seq, audit_hash, source, status, resolved_at,
             resolution_seq) VALUES ('{id}', 'builder', 1, 2, {received_at}, {seq}, {hash}, {source}, {end});
         INSERT INTO message_text (seq, content, wire) VALUES ({seq}, {content}, {wire});",
        id = message.id,
        received_at = message.received_at.as_millis(),
        content_sha256 = bytes(content_sha256.as_bytes()),
        hash = bytes(message.audit.hash().as_bytes()),
        source = quoted(&message.source),
        content = message.content.as_deref().map_or("NULL".to_owned(), quoted),
        wire = quoted(&message.wire),
    )
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks the old data and the features of the later versions.
pub async fn assert_upgraded(store: &Store, clock: &ManualClock) {
    let owner = Principal::Person {
        name: "owner".to_owned(),
        role: Role::Owner,
    };
    assert_eq!(authenticate(store, "owner token").await, Some(owner));
    assert_eq!(open_count(store, BUILDER).await, 1);
    assert_eq!(agent_view(store, &message_id(1)).await.wire, Draft::ask(1).wire());
    assert_eq!(
        agent_view(store, &message_id(2)).await.state,
        State::Resolved(resolution())
    );
    assert_eq!(agent_view(store, &message_id(3)).await.wire, WIRE);
    assert_eq!(
        ids(&store.run(inbox(None, 10)).await.unwrap().items),
        [1].map(message_id)
    );
    let decided = Decided {
        filter: ListFilter::default(),
        status: None,
        before: None,
        limit: 10,
    };
    assert_eq!(ids(&store.run(decided).await.unwrap().items), [2].map(message_id));
    let notices = store
        .run(Notices {
            person: None,
            before: None,
            limit: 10,
        })
        .await
        .unwrap();
    assert_eq!(ids(&notices.items), [3].map(message_id));

    assert!(
        find(store, "number").await.is_empty(),
        "nothing is searched before its turn"
    );
    assert_eq!(index_all(store).await, 3);
    assert_eq!(find(store, "number").await, [2, 1].map(message_id));
    assert_eq!(find(store, "backup").await, [3].map(message_id));

    clock.set(at(10));
    resolved(store, &message_id(1), answer("approve")).await;
    let trail = store
        .run(Trail {
            subject: message_id(1).to_string(),
        })
        .await
        .unwrap();
    assert_eq!(trail.len(), 2);
    assert_chained(&trail);
    let content = Draft::ask(1).render().content.expect("the draft has its content");
    assert_eq!(trail[1].entry.content_sha256, Some(Digest::of(content.as_bytes())));
    assert_eq!(store.run(OldestResolved).await.unwrap(), Some(at(0)));
    assert_eq!(
        store
            .run(Purge {
                resolved_before: at(6),
                limit: 10
            })
            .await
            .unwrap(),
        2
    );
    assert_eq!(store.run(OldestResolved).await.unwrap(), Some(at(10)));
}
