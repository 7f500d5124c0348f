//! Kinds of questions that no door accepts yet but the pages support, written into the store of a stopped hub.

use std::collections::BTreeMap;

use countersign_core::audit::AuditRecord;
use countersign_core::message::{A2hSource, inbox_rank};
use countersign_core::question::{Ask, Question};
use countersign_core::{Actor, Content, Digest, Payload, Source};
use countersign_protocol::a2h::{Agent, Choice, Kind, Priority};
use countersign_protocol::id::MessageId;
use countersign_store::model::{NewMessage, Submission, json_text};
use countersign_store::ops::message::submit::Submit;
use uuid::Uuid;

use crate::harness::Hub;

pub fn text() -> Question {
    Question::Text
}

pub fn many() -> Question {
    let options = ["eu", "us", "asia"].map(|value| Choice {
        value: value.to_owned(),
        label: value.to_uppercase(),
        description: None,
    });
    Question::Select {
        options: options.into(),
        allow_edit: false,
        many: true,
    }
}

/// Stops the hub, stores the questions of `agent_id`, and starts the hub again.
pub async fn ask(hub: &mut Hub, agent_id: &str, questions: Vec<(&str, Question)>) -> Vec<String> {
    hub.interrupt();
    let mut ids = Vec::new();
    {
        let store = hub.open_store().await;
        for (title, question) in questions {
            let message = message(agent_id, title, question, store.clock().now());
            ids.push(message.id.to_string());
            let submission = store
                .run(Submit {
                    message,
                    max_open: i64::MAX,
                })
                .await
                .expect("the store takes it");
            assert_eq!(submission, Submission::Created);
        }
        store.checkpoint().expect("the checkpoint succeeds");
    }
    hub.restart().await;
    ids
}

fn message(agent_id: &str, title: &str, question: Question, now: countersign_protocol::time::Timestamp) -> NewMessage {
    let id = MessageId::from_uuid(Uuid::now_v7());
    let run_id = "run-1".to_owned();
    let runtime = "cli".to_owned();
    let agent = Agent {
        id: agent_id.to_owned(),
        run_id,
        runtime,
        project: None,
        labels: BTreeMap::new(),
    };
    let ask = Ask {
        question,
        may_respond: true,
        may_decline: true,
        open_ended: false,
        may_be_empty: false,
        default_on_expire: None,
    };
    let content = Content {
        agent,
        title: title.to_owned(),
        body: None,
        priority: Priority::Normal,
        tags: vec![],
        context: vec![],
        sensitive: false,
        payload: Payload::Ask(ask),
        resolvers: vec![Actor::human("owner")],
    };
    let content = json_text(&content).expect("content can be written");
    let audit = AuditRecord {
        subject: id.to_string(),
        at: now,
        actor: Actor::agent(agent_id).to_string(),
        event: "submitted".to_owned(),
        content_sha256: Some(Digest::of(content.as_bytes())),
        resolution_sha256: None,
        prev_hash: None,
    };
    let source = Source::A2h(A2hSource::default());
    NewMessage {
        id,
        agent_id: agent_id.to_owned(),
        kind: Kind::Ask,
        rank: inbox_rank(Priority::Normal),
        received_at: now,
        expires_at: None,
        idempotency_key: None,
        source: json_text(&source).expect("a source can be written"),
        callback: None,
        content: Some(content),
        wire: "{}".to_owned(),
        audit,
    }
}
