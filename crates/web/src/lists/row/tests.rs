use countersign_core::Language;
use countersign_core::envelope::read_content;
use countersign_core::message::{A2hSource, Message, Source};
use countersign_protocol::id::MessageId;
use serde_json::json;
use uuid::Uuid;

use super::parts::{MAX_TAG_BYTES, code_parts};
use super::*;

#[test]
fn person_mark_is_short_and_stable() {
    assert_eq!(person_mark("owner"), "4c102969");
    assert_eq!(person_mark(&"x".repeat(255)).len(), 8);
}

#[test]
fn row_stays_short_for_any_message() {
    let name = |number: usize| format!("{number}{}", "\u{1f980}".repeat(250));
    let wire = json!({
        "a2h_version": "0.3", "type": "ask", "created_at": "2026-01-02T03:04:05Z", "title": "Deploy?",
        "idempotency_key": "idem_1",
        "agent": {"id": "bot", "run_id": "run-1", "runtime": "cli"}, "tags": (0..64).map(name).collect::<Vec<_>>(),
        "request": {"mode": "confirm", "allowed_resolvers": (0..200).map(|n| format!("human:{}", name(n)))
            .chain(["human:owner".to_owned()]).collect::<Vec<_>>()[1..]},
    });
    let message = Message {
        id: MessageId::from_uuid(Uuid::from_u128(7)),
        received_at: Timestamp::from_millis(0),
        expires_at: None,
        state: State::Open,
        hold: None,
        rev: 1,
        source: Source::A2h(A2hSource::default()),
        callback: None,
        content: read_content(&wire.to_string()).unwrap(),
    };
    let item = PersonView {
        seq: 1,
        agent_name: message.content.agent.id.clone(),
        message,
        delivery: None,
        fetched_at: None,
    };
    let html = html(&item, Timestamp::from_millis(1000), Language::English);
    assert!(html.len() < 64 * 1024, "{}", html.len());
    assert!(
        html.contains(" · +56") && html.contains(&person_mark("owner")),
        "{html}"
    );
}

#[test]
fn joined_tags_are_limited_in_size() {
    let tags: Vec<_> = (0..64)
        .map(|number| format!("{number}{}", "\u{1f980}".repeat(250)))
        .collect();
    let joined = tags_joined(&tags);
    assert!(
        joined.len() < MAX_TAG_BYTES && joined.split(' ').count() == 2,
        "{}",
        joined.len()
    );
    assert_eq!(tags_joined(&["a".to_owned(), "two words".to_owned()]), "a two%20words");
}

#[test]
fn backticks_in_a_title_mark_code() {
    assert_eq!(
        code_parts("Run `ls -l`?"),
        [(false, "Run "), (true, "ls -l"), (false, "?")]
    );
    assert_eq!(code_parts("`a``b`"), [(true, "a"), (true, "b")]);
    for plain in ["one ` only", "``", "plain"] {
        assert_eq!(code_parts(plain), [(false, plain)]);
    }
}
