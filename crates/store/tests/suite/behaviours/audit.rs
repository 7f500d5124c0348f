use countersign_core::{Command, Digest};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{AuditRow, json_text};
use countersign_store::ops::admin::agents::{RemoveAgent, RotateAgent};
use countersign_store::ops::admin::callbacks::PutHost;
use countersign_store::ops::admin::secrets::PutSecret;
use countersign_store::ops::message::audit::Trail;

use crate::scene::*;

pub async fn trail(store: &Store, subject: &str) -> Vec<AuditRow> {
    store
        .run(Trail {
            subject: subject.to_owned(),
        })
        .await
        .unwrap()
}

pub fn events(trail: &[AuditRow]) -> Vec<&str> {
    trail.iter().map(|row| row.entry.event.as_str()).collect()
}

/// The audit events of a person's account, in order.
pub async fn events_about(store: &Store, name: &str) -> Vec<String> {
    let trail = trail(store, &format!("human:{name}")).await;
    assert_chained(&trail);
    trail.into_iter().map(|row| row.entry.event).collect()
}

/// Recomputes every hash, and checks each entry against its predecessor.
pub fn assert_chained(trail: &[AuditRow]) {
    let mut before = None;
    for (n, row) in (1..).zip(trail) {
        assert_eq!(row.n, n, "numbered without a gap");
        assert_eq!(row.entry.prev_hash, before);
        assert_eq!(row.hash, row.entry.hash());
        before = Some(row.hash);
    }
}

pub async fn a_message_leaves_its_submission_and_its_outcome(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::ask(1)).await;
    clock.set(at(5));
    resolved(store, &id, answer("approve")).await;
    let trail = trail(store, id.as_str()).await;
    let found: Vec<_> = trail
        .iter()
        .map(|row| (row.entry.event.as_str(), row.entry.actor.as_str(), row.entry.at))
        .collect();
    assert_eq!(
        found,
        [
            ("submitted", "agent:builder", at(0)),
            ("answered", "human:alice", at(5))
        ]
    );
    assert!(trail.iter().all(|row| row.entry.subject == id.as_str()));
}

pub async fn entries_form_a_hash_chain(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    clock.set(at(11));
    let expiring = Draft {
        expires_at: Some(at(10)),
        ..Draft::ask(3)
    };
    let cases = [
        (Draft::ask(1), answer("deny")),
        (Draft::ask(2), Command::Cancel),
        (expiring, Command::Expire),
    ];
    for (draft, command) in cases {
        let id = submitted(store, &draft).await;
        resolved(store, &id, command).await;
        let trail = trail(store, id.as_str()).await;
        assert_eq!(trail.len(), 2);
        assert_chained(&trail);
    }
}

pub async fn an_entry_names_the_content_and_the_resolution(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let draft = Draft::ask(1);
    let resolution = submitted_and_resolved(store, &draft).await;
    let content_sha256 = Some(Digest::of(json_text(&draft.content()).unwrap().as_bytes()));
    let trail = trail(store, draft.id().as_str()).await;
    assert!(trail.iter().all(|row| row.entry.content_sha256 == content_sha256));
    let decided = serde_json::to_string(&resolution).unwrap();
    assert_eq!(trail[0].entry.resolution_sha256, None);
    assert_eq!(trail[1].entry.resolution_sha256, Some(Digest::of(decided.as_bytes())));
}

pub async fn operator_actions_are_chained_too(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let agent_id = BUILDER.to_owned();
    let host = HOST.to_owned();
    let actor = OWNER.to_owned();
    let put = PutHost {
        agent_id: agent_id.clone(),
        host,
        approve: true,
        actor: actor.clone(),
    };
    store.run(put).await.unwrap().expect("the agent is there");
    let name = "hook".to_owned();
    let value = "s3cret".to_owned();
    assert!(
        store
            .run(PutSecret {
                agent_id,
                name,
                value,
                actor: actor.clone()
            })
            .await
            .unwrap()
    );
    let rotation = RotateAgent {
        id: BUILDER.to_owned(),
        token_hash: hash_of("next token"),
        signing_key: "next key".to_owned(),
        overlap: std::time::Duration::ZERO,
        actor: actor.clone(),
    };
    store.run(rotation).await.unwrap().expect("the agent is there");
    assert!(
        store
            .run(RemoveAgent {
                id: BUILDER.to_owned(),
                actor
            })
            .await
            .unwrap()
    );

    let trail = trail(store, "agent:builder").await;
    assert_eq!(
        events(&trail),
        [
            "agent.added",
            "callback.approved",
            "secret.set",
            "agent.rotated",
            "agent.removed"
        ]
    );
    assert!(
        trail
            .iter()
            .all(|row| row.entry.actor == OWNER && row.entry.at == at(0))
    );
    assert_chained(&trail);
    let message = format!("{trail:?}");
    assert!(
        !message.contains("s3cret") && !message.contains("next key"),
        "no secret is told: {message}"
    );
}

pub async fn an_unknown_subject_has_no_trail(store: &Store, _clock: &ManualClock) {
    assert!(trail(store, message_id(9).as_str()).await.is_empty());
}
