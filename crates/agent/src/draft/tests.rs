use std::time::Duration;

use countersign_core::limits::{Limits, check_idempotency_key};
use countersign_protocol::a2h::{
    AskRequest, AuthScheme, CallbackMode, EnvelopePayload, Family, Mode, Priority, TaskAction,
};
use proptest::prelude::*;
use serde_json::json;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_780_588_110_250);
const A2H: Version = Version {
    family: Family::A2h,
    minor: 3,
};

fn identity() -> Identity {
    Identity::new("deploybot/dev")
}

fn read(draft: &Draft) -> Envelope {
    let envelope = Envelope::from_value(json::parse(draft.bytes()).unwrap()).unwrap();
    assert_eq!(envelope.idempotency_key.as_deref(), Some(draft.idempotency_key()));
    assert_eq!(envelope.agent.id, draft.agent_id());
    assert_eq!(envelope.payload.kind(), draft.kind());
    check_as_the_hub_does(&envelope, draft);
    envelope
}

fn check_as_the_hub_does(envelope: &Envelope, draft: &Draft) {
    let content = countersign_core::envelope::content(envelope.clone());
    content.check().unwrap();
    let limits = Limits {
        max_request_bytes: 1_048_576,
        max_body_bytes: 65_536,
        max_part_bytes: 262_144,
        max_context_parts: 16,
        max_state_bytes: 262_144,
    };
    limits.check(&content, draft.bytes().len()).unwrap();
    check_idempotency_key(draft.idempotency_key()).unwrap();
}

fn request(payload: EnvelopePayload) -> AskRequest {
    match payload {
        EnvelopePayload::Ask(request) => request,
        other => panic!("no ask: {other:?}"),
    }
}

fn action(payload: EnvelopePayload) -> TaskAction {
    match payload {
        EnvelopePayload::Task(action) => action,
        other => panic!("no task: {other:?}"),
    }
}

fn fault(result: Result<Draft, Error>) -> String {
    match result {
        Err(Error::Invalid { field, .. }) => field,
        other => panic!("expected a field error, got {other:?}"),
    }
}

fn ask(ask: Ask<Unaddressed>) -> Result<Draft, Error> {
    ask.to(["human:alice"]).draft(&identity(), A2H, NOW)
}

#[test]
fn an_ask_carries_its_fields() {
    let draft = Ask::confirm_with(
        "Ship?",
        Choice::new("ship", "Ship it"),
        Choice::new("hold", "Hold").described("…"),
    )
    .body("All green.")
    .priority(Priority::High)
    .tag("deploy")
    .tag("prod")
    .context(Part::Text("diff".to_owned()))
    .context(Part::File {
        uri: "https://ci.example/1".to_owned(),
        name: None,
        mime_type: Some("a/b".to_owned()),
    })
    .sensitive(true)
    .client_ref("build 7")
    .key("ship-1.4")
    .to(["human:alice", "agent:reviewer"])
    .expires_at(NOW.plus(Duration::from_secs(7200)))
    .default_on_expire("hold")
    .callback(Callback::push("https://hooks.example/resume").authenticated(AuthScheme::Hmac, "env:SECRET"))
    .state(json!({"step": 3}))
    .no_decline()
    .draft(&identity(), A2H, NOW)
    .unwrap();
    let envelope = read(&draft);
    assert_eq!(
        (envelope.version, envelope.title.as_str(), draft.idempotency_key()),
        (A2H, "Ship?", "ship-1.4")
    );
    assert_eq!(
        (envelope.priority, envelope.tags.len(), envelope.context.len()),
        (Priority::High, 2, 2)
    );
    assert_eq!(envelope.expires_at, Some(NOW.plus(Duration::from_secs(7200))));
    assert!(envelope.sensitive && envelope.has_state);
    let request = request(envelope.payload);
    assert_eq!(request.mode, Mode::Confirm);
    assert_eq!(request.options.unwrap()[1].value, "hold");
    assert_eq!(request.permissions.allow_ignore, Some(false));
    assert_eq!(request.default_on_expire, Some(json!("hold")));
    assert_eq!(
        request.routing.allowed_resolvers.unwrap(),
        ["human:alice", "agent:reviewer"]
    );
    let callback = request.routing.callback.unwrap();
    assert_eq!(
        (callback.mode, callback.url.as_deref()),
        (CallbackMode::Push, Some("https://hooks.example/resume"))
    );
    assert_eq!(callback.auth.unwrap().reference, "env:SECRET");
}

#[test]
fn a_task_and_a_notify_carry_their_fields() {
    let task = Task::new("Swap the disk", "Bay 7")
        .checklist(["power off", "swap"])
        .verification("the LED is green");
    let draft = task
        .to_myself()
        .draft(
            &identity(),
            Version {
                family: Family::Ma2h,
                minor: 6,
            },
            NOW,
        )
        .unwrap();
    let envelope = read(&draft);
    assert_eq!(envelope.version.family, Family::Ma2h);
    let action = action(envelope.payload);
    assert_eq!((action.instructions.as_str(), action.checklist.len()), ("Bay 7", 2));
    assert_eq!(action.verification.as_deref(), Some("the LED is green"));
    assert_eq!(action.routing.allowed_resolvers.unwrap(), ["agent:deploybot/dev"]);
    let notify = Notify::new("Deployed")
        .body("1.4")
        .draft(&identity(), A2H, NOW)
        .unwrap();
    assert_eq!(read(&notify).body.as_deref(), Some("1.4"));
}

#[test]
fn a_key_is_fresh_unless_it_is_given() {
    let confirm = Ask::confirm("Ship?").to(["human:alice"]);
    let keys: Vec<String> = (0..2)
        .map(|_| {
            confirm
                .draft(&identity(), A2H, NOW)
                .unwrap()
                .idempotency_key()
                .to_owned()
        })
        .collect();
    assert_ne!(keys[0], keys[1]);
    assert_eq!(fault(ask(Ask::confirm("Ship?").key(""))), "idempotency_key");
    assert_eq!(
        fault(ask(Ask::confirm("Ship?").key("k".repeat(256)))),
        "idempotency_key"
    );
}

#[test]
fn resolvers_are_concrete() {
    let to = |names: &[&str]| {
        Ask::confirm("Ship?")
            .to(names.iter().copied())
            .draft(&identity(), A2H, NOW)
    };
    assert!(to(&["human:alice", "system:ci", "agent:a/b"]).is_ok());
    assert_eq!(fault(to(&[])), "request.allowed_resolvers");
    for wrong in [
        "alice",
        "human:",
        "human:*",
        "human:al*",
        "human: alice",
        "human:alice ",
        "robot:x",
        "human:a\nb",
    ] {
        assert_eq!(
            fault(to(&["human:bob", wrong])),
            "request.allowed_resolvers[1]",
            "{wrong}"
        );
    }
    assert_eq!(fault(to(&vec!["human:x"; 201])), "request.allowed_resolvers");
    let nobody: [&str; 0] = [];
    assert_eq!(
        fault(Task::new("t", "i").to(nobody).draft(&identity(), A2H, NOW)),
        "action.allowed_resolvers"
    );
}

#[test]
fn titles_and_options_are_checked_as_the_hub_does() {
    assert!(ask(Ask::confirm("ß".repeat(200))).is_ok());
    assert_eq!(fault(ask(Ask::confirm("ß".repeat(201)))), "title");
    assert_eq!(fault(ask(Ask::confirm(""))), "title");
    assert_eq!(fault(ask(Ask::confirm("a\0b"))), "envelope");
    assert_eq!(fault(ask(Ask::select("Which?", []))), "request.options");
    assert_eq!(
        fault(ask(Ask::select("Which?", [Choice::new("", "x")]))),
        "request.options[0].value"
    );
    let twice = [Choice::new("a", "x"), Choice::new("a", "y")];
    assert_eq!(fault(ask(Ask::select("Which?", twice))), "request.options[1].value");
    let many = (0..101).map(|n| Choice::new(n.to_string(), "x"));
    assert_eq!(fault(ask(Ask::select("Which?", many))), "request.options");
    assert_eq!(
        fault(ask(Ask::form("Fill in", Map::new()))),
        "request.schema.properties"
    );
}

#[test]
fn a_default_needs_an_expiry_and_must_be_offered() {
    let soon = NOW.plus(Duration::from_millis(1));
    let confirm = || Ask::confirm("Ship?").expires_at(soon);
    assert!(ask(confirm().default_on_expire("deny")).is_ok());
    assert_eq!(
        fault(ask(confirm().default_on_expire("hold"))),
        "request.default_on_expire"
    );
    assert_eq!(
        fault(ask(confirm().default_on_expire(true))),
        "request.default_on_expire"
    );
    assert_eq!(
        fault(ask(Ask::confirm("Ship?").default_on_expire("deny"))),
        "request.default_on_expire"
    );
    let select = Ask::select("Which?", [Choice::new("a", "A")]).expires_at(soon);
    assert_eq!(
        fault(ask(select.default_on_expire("approve"))),
        "request.default_on_expire"
    );
    let schema = json!({"properties": {"n": {"type": "number"}}})
        .as_object()
        .unwrap()
        .clone();
    let form = || Ask::form("Fill in", schema.clone()).expires_at(soon);
    assert!(ask(form().default_on_expire(json!({"n": 1}))).is_ok());
    assert_eq!(
        fault(ask(form().default_on_expire(json!({"n": "1"})))),
        "request.default_on_expire"
    );
}

#[test]
fn an_expiry_must_be_in_the_future_and_before_the_year_10000() {
    assert_eq!(fault(ask(Ask::confirm("Ship?").expires_at(NOW))), "expires_at");
    assert_eq!(
        fault(ask(Ask::confirm("Ship?").expires_at(Timestamp::from_millis(i64::MAX)))),
        "expires_at"
    );
}

#[test]
fn a_callback_must_be_signable_and_reachable() {
    let confirm = |url: &str| Ask::confirm("Ship?").callback(Callback::push(url));
    for url in ["", "hooks.example", "ftp://hooks.example/x", "mailto:a@b.example"] {
        assert_eq!(fault(ask(confirm(url))), "request.callback.url", "{url}");
    }
    let old = Version {
        family: Family::Ma2h,
        minor: 2,
    };
    let pushed = confirm("https://hooks.example/x")
        .to(["human:alice"])
        .draft(&identity(), old, NOW);
    assert_eq!(fault(pushed), "request.callback");
}

#[test]
fn the_identity_and_the_state_are_checked_too() {
    let as_agent = |identity: &Identity| Notify::new("Deployed").draft(identity, A2H, NOW);
    assert_eq!(fault(as_agent(&Identity::new(""))), "agent.id");
    assert_eq!(
        fault(as_agent(&Identity {
            runtime: "toaster".to_owned(),
            ..identity()
        })),
        "agent.runtime"
    );
    assert_eq!(
        fault(as_agent(&Identity {
            project: Some("p".repeat(256)),
            ..identity()
        })),
        "agent.project"
    );
    assert_eq!(fault(ask(Ask::confirm("Ship?").state(json!([1])))), "state");
}

/// Tests each limit, so that a hub with a lower limit is noticed.
#[test]
fn drafts_and_the_hub_share_the_same_limits() {
    let name = |length: usize| "n".repeat(length);
    let full = Ask::select(
        "Which?",
        (0..100).map(|n| Choice::new(format!("{n:0>1000}"), name(1000))),
    );
    let full = (0..64).fold(full, |ask, _| ask.tag(name(255))).key(name(255));
    let full = full
        .to(vec![format!("human:{}", name(249)); 200])
        .draft(&identity(), A2H, NOW);
    read(&full.unwrap());
    let task = |bytes: usize, items: usize| {
        let task = Task::new("t", name(bytes))
            .verification(name(bytes))
            .checklist(vec!["x"; items]);
        task.to_myself().draft(&identity(), A2H, NOW)
    };
    read(&task(65_536, 200).unwrap());
    assert_eq!(fault(task(65_537, 200)), "action.instructions");
    assert_eq!(fault(task(65_536, 201)), "action.checklist");
    let tagged = (0..65).fold(Notify::new("t"), |notify, _| notify.tag("x"));
    assert_eq!(fault(tagged.draft(&identity(), A2H, NOW)), "tags");
    assert_eq!(
        fault(Notify::new("t").tag(name(256)).draft(&identity(), A2H, NOW)),
        "tags"
    );
    assert_eq!(
        fault(ask(Ask::select("Which?", [Choice::new("v", name(1001))]))),
        "request.options[0].value"
    );
}

fn line() -> impl Strategy<Value = String> {
    "[^\\x00]{1,40}"
}

fn priority() -> impl Strategy<Value = Option<Priority>> {
    prop::option::of(prop::sample::select(vec![
        Priority::Low,
        Priority::Normal,
        Priority::High,
        Priority::Urgent,
    ]))
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        line().prop_map(Part::Text),
        (
            line(),
            any::<f64>().prop_filter("JSON knows only finite numbers", |number| number.is_finite())
        )
            .prop_map(|(key, number)| Part::Data(Map::from_iter([(key, number.into())]))),
        ("[a-z]{1,9}", prop::option::of(line())).prop_map(|(path, name)| Part::File {
            uri: format!("https://ci.example/{path}"),
            name,
            mime_type: None
        }),
    ]
}

fn question() -> impl Strategy<Value = (Ask<Unaddressed>, usize)> {
    let choices = prop::collection::hash_set(line(), 1..8);
    prop_oneof![
        line().prop_map(|title| (Ask::confirm(title), 0)),
        (line(), line(), line()).prop_map(|(title, yes, no)| {
            (
                Ask::confirm_with(title, Choice::new("yes", yes), Choice::new("no", no)),
                2,
            )
        }),
        (line(), choices).prop_map(|(title, values)| {
            let count = values.len();
            (
                Ask::select(title, values.into_iter().map(|value| Choice::new(value.clone(), value))),
                count,
            )
        }),
        (line(), prop::collection::hash_set(line(), 1..5)).prop_map(|(title, names)| {
            let fields: Map<String, Value> = names
                .into_iter()
                .map(|name| (name, json!({"type": "string"})))
                .collect();
            (
                Ask::form(title, Map::from_iter([("properties".to_owned(), fields.into())])),
                0,
            )
        }),
    ]
}

fn version() -> impl Strategy<Value = Version> {
    (prop::sample::select(Family::ALL.to_vec()), 2u32..9).prop_map(|(family, minor)| Version { family, minor })
}

proptest! {
    #[test]
    fn every_ask_is_an_envelope(
        (ask, options) in question(),
        names in prop::collection::vec("(human|agent|system):[a-z/ä]{1,20}", 1..5),
        parts in prop::collection::vec(part(), 0..4),
        (body, priority) in (prop::option::of("[^\\x00]{0,80}"), priority()),
        (version, expiry) in (version(), prop::option::of(1u64..1_000_000_000)),
    ) {
        let mut ask = parts.into_iter().fold(ask, Ask::context);
        if let Some(body) = &body {
            ask = ask.body(body);
        }
        if let Some(priority) = priority {
            ask = ask.priority(priority);
        }
        if let Some(expiry) = expiry {
            ask = ask.expires_at(NOW.plus(Duration::from_millis(expiry)));
        }
        let envelope = read(&ask.to(names.clone()).draft(&identity(), version, NOW).unwrap());
        prop_assert_eq!(envelope.version, version);
        prop_assert_eq!(envelope.body, body);
        prop_assert_eq!(envelope.priority, priority.unwrap_or(Priority::Normal));
        let request = request(envelope.payload);
        prop_assert_eq!(request.options.map_or(0, |options| options.len()), options);
        prop_assert_eq!(request.routing.allowed_resolvers, Some(names));
    }

    #[test]
    fn every_task_and_notify_is_an_envelope(
        (title, instructions, verification) in (line(), line(), prop::option::of(line())),
        items in prop::collection::vec(line(), 0..6),
        version in version(),
    ) {
        let mut task = Task::new(title.clone(), instructions.clone()).checklist(items.clone());
        if let Some(verification) = &verification {
            task = task.verification(verification);
        }
        let action = action(read(&task.to(["human:alice"]).draft(&identity(), version, NOW).unwrap()).payload);
        prop_assert_eq!(action.instructions, instructions);
        prop_assert_eq!(action.verification, verification);
        let texts: Vec<String> = action.checklist.into_iter().map(|item| item.text).collect();
        prop_assert_eq!(texts, items);
        let notify = read(&Notify::new(title.clone()).draft(&identity(), version, NOW).unwrap());
        prop_assert_eq!(notify.title, title);
    }

    /// Any input gives either a valid envelope or an error that names the field.
    #[test]
    fn any_input_gives_an_envelope_or_a_named_field(title in any::<String>(), name in any::<String>(), value in any::<String>(), at in any::<i64>()) {
        let select = Ask::select(title, [Choice::new(value.clone(), value.clone())]).key(value.clone());
        let select = select.tag(name.clone()).expires_at(Timestamp::from_millis(at)).default_on_expire(value);
        match select.to([name]).draft(&identity(), A2H, NOW) {
            Ok(draft) => drop(read(&draft)),
            Err(error) => prop_assert!(matches!(&error, Error::Invalid { field, .. } if !field.is_empty()), "{error}"),
        }
    }
}
