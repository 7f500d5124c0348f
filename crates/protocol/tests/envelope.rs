//! The shape of envelopes, and the fields named by refusals.

#![cfg(test)]

use countersign_protocol::a2h::{
    AskRequest, AuthScheme, CallbackMode, Envelope, EnvelopeError, EnvelopePayload, Kind, Mode, Priority, payload_hash,
};
use serde_json::{Value, json};

fn notify() -> Value {
    json!({
        "a2h_version": "0.3", "type": "notify", "created_at": "2026-06-04T15:48:30Z", "title": "Done",
        "agent": {"id": "bot/team", "run_id": "r1", "runtime": "cli"}
    })
}

fn ask() -> Value {
    let mut ask = notify();
    ask["type"] = json!("ask");
    ask["idempotency_key"] = json!("k1");
    ask["request"] = json!({"mode": "confirm"});
    ask
}

fn task() -> Value {
    let mut task = notify();
    task["type"] = json!("task");
    task["idempotency_key"] = json!("k1");
    task["action"] = json!({"instructions": "Turn it off"});
    task
}

/// The envelope with the value at this pointer replaced, or removed for `None`.
fn with(mut envelope: Value, pointer: &str, value: Option<Value>) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = envelope.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Some(value) => drop(parent.insert(key.to_owned(), value)),
        None => drop(parent.remove(key)),
    }
    envelope
}

fn refused_field(envelope: Value) -> String {
    match Envelope::from_value(envelope.clone()) {
        Err(EnvelopeError::Invalid { field, .. }) => field,
        other => panic!("{envelope}\n{other:?}"),
    }
}

fn request(payload: EnvelopePayload) -> AskRequest {
    match payload {
        EnvelopePayload::Ask(request) => request,
        other => panic!("no ask: {other:?}"),
    }
}

#[test]
fn the_required_fields_of_each_kind_are_enough() {
    let notify = Envelope::from_value(notify()).unwrap();
    assert_eq!(
        (notify.payload.kind(), notify.priority, notify.sensitive),
        (Kind::Notify, Priority::Normal, false)
    );
    assert_eq!(
        (notify.payload, notify.idempotency_key),
        (EnvelopePayload::Notify, None)
    );
    let ask = Envelope::from_value(ask()).unwrap();
    assert_eq!(
        (ask.payload.kind(), request(ask.payload).mode),
        (Kind::Ask, Mode::Confirm)
    );
    let task = Envelope::from_value(task()).unwrap().payload;
    assert_eq!(task.kind(), Kind::Task);
    let EnvelopePayload::Task(action) = task else {
        panic!("no task")
    };
    assert_eq!(
        (action.routing.section, action.instructions.as_str()),
        ("action", "Turn it off")
    );
}

#[test]
fn every_field_of_an_ask_is_read() {
    let mut full = ask();
    let more = json!({
        "body": "b", "priority": "urgent", "tags": ["x"], "state": {"any": [1]}, "client_ref": "c", "sensitive": true,
        "expires_at": "2026-06-04T17:48:30+02:00", "unknown": null,
        "context": [{"kind": "text", "text": "t"}, {"kind": "data", "data": {}, "metadata": {}},
            {"kind": "file", "file": {"uri": "https://a.example/f", "name": "f", "mime_type": "text/plain"}}],
        "agent": {"id": "a", "run_id": "r", "runtime": "github-actions", "project": "p", "labels": {"l": "v"}, "session": 1},
        "request": {"mode": "select", "options": [{"value": "a", "label": "A", "description": "d"}],
            "permissions": {"allow_edit": true, "allow_ignore": false}, "default_on_expire": "a",
            "allowed_resolvers": ["human:alice", "agent:x/y", "system:z"], "schema": {},
            "callback": {"mode": "push", "url": "https://a.example/", "auth": {"scheme": "hmac", "secret_ref": "env:S"}}}
    });
    full.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let read = Envelope::from_value(full).unwrap();
    assert_eq!(
        (read.priority, read.has_state, read.sensitive, read.context.len()),
        (Priority::Urgent, true, true, 3)
    );
    assert_eq!(
        read.expires_at.map(|at| at.to_string()).as_deref(),
        Some("2026-06-04T15:48:30.000Z")
    );
    assert_eq!(read.agent.labels["l"], "v");
    let request = request(read.payload);
    assert_eq!(request.options.unwrap()[0].description.as_deref(), Some("d"));
    assert_eq!(
        (request.permissions.allow_edit, request.permissions.allow_respond),
        (Some(true), None)
    );
    assert_eq!((request.default_on_expire, request.schema), (Some(json!("a")), None));
    assert_eq!(request.routing.section, "request");
    let callback = request.routing.callback.unwrap();
    assert_eq!(
        (callback.mode, callback.url.as_deref()),
        (CallbackMode::Push, Some("https://a.example/"))
    );
    assert_eq!(
        callback.auth.map(|auth| (auth.scheme, auth.reference)),
        Some((AuthScheme::Hmac, "env:S".to_owned()))
    );
}

#[test]
fn a_wrong_field_is_named_by_its_path() {
    let option = json!({"value": "a", "label": "A"});
    let table = [
        (notify(), "/type", None, "type"),
        (notify(), "/type", Some(json!("question")), "type"),
        (notify(), "/created_at", None, "created_at"),
        (notify(), "/created_at", Some(json!("yesterday")), "created_at"),
        (notify(), "/expires_at", Some(json!("2026-06-04")), "expires_at"),
        (notify(), "/title", Some(json!("")), "title"),
        (notify(), "/title", Some(json!("é".repeat(201))), "title"),
        (notify(), "/body", Some(json!(null)), "body"),
        (notify(), "/priority", Some(json!("High")), "priority"),
        (notify(), "/tags", Some(json!(["a", 1])), "tags[1]"),
        (notify(), "/state", Some(json!("sealed")), "state"),
        (notify(), "/sensitive", Some(json!("yes")), "sensitive"),
        (notify(), "/agent", None, "agent"),
        (notify(), "/agent", Some(json!([])), "agent"),
        (notify(), "/agent/id", Some(json!("")), "agent.id"),
        (notify(), "/agent/run_id", None, "agent.run_id"),
        (notify(), "/agent/runtime", Some(json!("toaster")), "agent.runtime"),
        (notify(), "/agent/labels", Some(json!({"a": 1})), "agent.labels.a"),
        (notify(), "/context", Some(json!({})), "context"),
        (notify(), "/context", Some(json!([1])), "context[0]"),
        (
            notify(),
            "/context",
            Some(json!([{"kind": "video"}])),
            "context[0].kind",
        ),
        (notify(), "/context", Some(json!([{"text": "t"}])), "context[0].kind"),
        (
            notify(),
            "/context",
            Some(json!([{"kind": "text", "text": 1}])),
            "context[0].text",
        ),
        (
            notify(),
            "/context",
            Some(json!([{"kind": "data", "data": []}])),
            "context[0].data",
        ),
        (
            notify(),
            "/context",
            Some(json!([{"kind": "file", "file": {}}])),
            "context[0].file.uri",
        ),
        (
            notify(),
            "/context",
            Some(json!([{"kind": "file", "file": {"uri": "x"}}])),
            "context[0].file.uri",
        ),
        (
            notify(),
            "/context",
            Some(json!([{"kind": "text", "text": "t", "metadata": 1}])),
            "context[0].metadata",
        ),
        (notify(), "/request", Some(json!({"mode": "confirm"})), "request"),
        (notify(), "/action", Some(json!({"instructions": "i"})), "action"),
        (ask(), "/request", None, "request"),
        (ask(), "/idempotency_key", None, "idempotency_key"),
        (ask(), "/action", Some(json!({"instructions": "i"})), "action"),
        (ask(), "/request/mode", None, "request.mode"),
        (ask(), "/request/options", Some(json!([option])), "request.options"),
        (
            ask(),
            "/request/options",
            Some(json!([option, {"value": 1, "label": "B"}])),
            "request.options[1].value",
        ),
        (ask(), "/request", Some(json!({"mode": "select"})), "request.options"),
        (
            ask(),
            "/request",
            Some(json!({"mode": "select", "options": []})),
            "request.options",
        ),
        (ask(), "/request", Some(json!({"mode": "input"})), "request.schema"),
        (
            ask(),
            "/request",
            Some(json!({"mode": "input", "schema": true})),
            "request.schema",
        ),
        (
            ask(),
            "/request/permissions",
            Some(json!({"allow_edit": 1})),
            "request.permissions.allow_edit",
        ),
        (
            ask(),
            "/request/default_on_expire",
            Some(json!(true)),
            "request.default_on_expire",
        ),
        (
            ask(),
            "/request/allowed_resolvers",
            Some(json!(["human:a", "alice"])),
            "request.allowed_resolvers[1]",
        ),
        (
            ask(),
            "/request/allowed_resolvers",
            Some(json!(["human:"])),
            "request.allowed_resolvers[0]",
        ),
        (
            ask(),
            "/request/allowed_resolvers",
            Some(json!(["human:a\nb"])),
            "request.allowed_resolvers[0]",
        ),
        (ask(), "/request/callback", Some(json!({})), "request.callback.mode"),
        (
            ask(),
            "/request/callback",
            Some(json!({"mode": "push"})),
            "request.callback.url",
        ),
        (
            ask(),
            "/request/callback",
            Some(json!({"mode": "pull", "url": "no"})),
            "request.callback.url",
        ),
        (task(), "/action", None, "action"),
        (task(), "/request", Some(json!({"mode": "confirm"})), "request"),
        (task(), "/action/instructions", None, "action.instructions"),
        (
            task(),
            "/action/checklist",
            Some(json!([{"done": true}])),
            "action.checklist[0].text",
        ),
        (task(), "/action/verification", Some(json!(1)), "action.verification"),
    ];
    for (envelope, pointer, value, field) in table {
        assert_eq!(
            refused_field(with(envelope, pointer, value.clone())),
            field,
            "{pointer} {value:?}"
        );
    }
    assert_eq!(refused_field(json!([])), "");
    assert_eq!(refused_field(json!(null)), "");
}

/// Each round repairs the named fault, and the next fault is named.
fn faults_in_order(mut envelope: Value, repairs: &[(&str, &str, Option<Value>)]) {
    for (field, pointer, repaired) in repairs {
        assert_eq!(refused_field(envelope.clone()), *field);
        envelope = with(envelope, pointer, repaired.clone());
    }
    assert!(Envelope::from_value(envelope.clone()).is_ok(), "{envelope}");
}

#[test]
fn the_first_of_several_faults_is_named() {
    let head = [
        ("created_at", "/created_at", Some(json!("2026-06-04T15:48:30Z"))),
        ("agent.labels", "/agent/labels", None),
        ("title", "/title", Some(json!("t"))),
        ("context", "/context", None),
        ("sensitive", "/sensitive", None),
    ];
    let broken = json!({
        "a2h_version": "0.3", "created_at": 5, "agent": {"id": "a", "run_id": "r", "runtime": "cli", "labels": 5},
        "title": 5, "context": 5, "sensitive": 5, "action": 5
    });
    let kind = ("type", "/type", Some(json!("ask")));
    let start = [
        (
            "request",
            "/request",
            Some(json!({"allowed_resolvers": 5, "callback": 5})),
        ),
        ("idempotency_key", "/idempotency_key", Some(json!("k"))),
        ("action", "/action", None),
    ];
    let end = [
        ("request.mode", "/request/mode", Some(json!("confirm"))),
        ("request.allowed_resolvers", "/request/allowed_resolvers", None),
        ("request.callback", "/request/callback", None),
    ];
    let ask: Vec<_> = [kind].into_iter().chain(start).chain(head.clone()).chain(end).collect();
    faults_in_order(broken.clone(), &ask);
    let task = with(with(broken.clone(), "/type", Some(json!("task"))), "/action", None);
    let task = with(task, "/request", Some(json!(5)));
    let start = [
        (
            "action",
            "/action",
            Some(json!({"allowed_resolvers": 5, "callback": 5})),
        ),
        ("idempotency_key", "/idempotency_key", Some(json!("k"))),
        ("request", "/request", None),
    ];
    let end = [
        ("action.instructions", "/action/instructions", Some(json!("go"))),
        ("action.allowed_resolvers", "/action/allowed_resolvers", None),
        ("action.callback", "/action/callback", None),
    ];
    let repairs: Vec<_> = start.into_iter().chain(head.clone()).chain(end).collect();
    faults_in_order(task, &repairs);
    let notify = with(with(broken, "/type", Some(json!("notify"))), "/request", Some(json!(5)));
    let start = [("request", "/request", None), ("action", "/action", None)];
    let repairs: Vec<_> = start.into_iter().chain(head).collect();
    faults_in_order(notify, &repairs);
}

#[test]
fn a_callback_names_its_secret_as_its_scheme_requires() {
    let callback = |auth: Value| {
        let callback = json!({"mode": "push", "url": "https://a.example/", "auth": auth});
        Envelope::from_value(with(ask(), "/request/callback", Some(callback)))
    };
    assert!(callback(json!({"scheme": "hmac", "secret_ref": "s"})).is_ok());
    assert!(callback(json!({"scheme": "bearer", "token_ref": "s"})).is_ok());
    assert!(callback(json!({"scheme": "apikey", "token_ref": "s"})).is_ok());
    for auth in [
        json!({}),
        json!({"scheme": "basic", "token_ref": "s"}),
        json!({"scheme": "hmac"}),
        json!({"scheme": "hmac", "token_ref": "s"}),
        json!({"scheme": "hmac", "secret_ref": "s", "token_ref": "s"}),
        json!({"scheme": "bearer"}),
        json!({"scheme": "bearer", "secret_ref": "s"}),
        json!({"scheme": "apikey", "token_ref": "s", "secret_ref": "s"}),
    ] {
        assert!(
            matches!(callback(auth.clone()), Err(EnvelopeError::Invalid { .. })),
            "{auth}"
        );
    }
}

#[test]
fn a_title_is_counted_in_characters() {
    assert!(Envelope::from_value(with(notify(), "/title", Some(json!("😀".repeat(200))))).is_ok());
}

#[test]
fn another_major_version_is_reported_first() {
    let refused = Envelope::from_value(json!({"a2h_version": "1.0"}));
    assert!(matches!(refused, Err(EnvelopeError::VersionNotSupported { .. })));
}

#[test]
fn an_error_is_a_sentence() {
    let error = Envelope::from_value(with(notify(), "/title", Some(json!(5)))).unwrap_err();
    assert_eq!(error.to_string(), "`title` must be a string, not a number");
    assert_eq!(
        Envelope::from_value(json!(5)).unwrap_err().to_string(),
        "the envelope must be a JSON object"
    );
}

#[test]
fn a_repeat_from_another_run_has_the_same_payload_hash() {
    let hash = payload_hash(&ask());
    assert_eq!(payload_hash(&with(ask(), "/agent/run_id", Some(json!("r2")))), hash);
    assert_eq!(
        payload_hash(&with(ask(), "/agent/session", Some(json!("sess_1")))),
        hash
    );
    for (pointer, value) in [
        ("/title", "Other"),
        ("/created_at", "2026-06-04T15:48:31Z"),
        ("/run_id", "r1"),
        ("/agent/id", "b"),
    ] {
        assert_ne!(
            payload_hash(&with(ask(), pointer, Some(json!(value)))),
            hash,
            "{pointer}"
        );
    }
    let mut without_run = ask();
    without_run["agent"].as_object_mut().unwrap().remove("run_id");
    let canonical = countersign_protocol::jcs::canonical(&without_run);
    assert_eq!(
        aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, canonical.as_bytes()).as_ref(),
        hash
    );
    assert_ne!(payload_hash(&json!({"agent": "text"})), payload_hash(&json!({})));
}
