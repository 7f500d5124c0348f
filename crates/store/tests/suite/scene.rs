//! Test fixtures: agents, messages and people. Times count from the start of a fresh store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use countersign_core::audit::AuditRecord;
use countersign_core::message::{A2hSource, Callback, Resolution, Status, Task};
use countersign_core::question::{Ask, approve_or_deny};
use countersign_core::{Actor, Command, Content, Digest, Payload, Question, Rejection, Source, Verdict};
use countersign_protocol::a2h::{Agent, CheckItem, Kind, Priority};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::model::{
    AgentView, ApplyOutcome, Cursor, DuplicateOf, InboxOrder, ListEntry, Lookup, NewMessage, PersonView,
    ResolveRequest, SignatureAlg, Submission, json_text,
};
use countersign_store::ops::admin::AddOutcome;
use countersign_store::ops::admin::agents::{AddAgent, ListAgents};
use countersign_store::ops::list::{Inbox, InboxBefore, ListFilter};
use countersign_store::ops::message::apply::Apply;
use countersign_store::ops::message::pull::{Pull, View};
use countersign_store::ops::message::submit::Submit;
use serde_json::json;

pub const BUILDER: &str = "builder";
pub const TESTER: &str = "tester";
pub const OWNER: &str = "human:owner";
pub const HOST: &str = "hooks.example:8443";
pub const NO_LIMIT: i64 = i64::MAX;

pub fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_780_000_000_000 + millis)
}

pub fn alice() -> Actor {
    Actor::human("alice")
}

pub fn ids(items: &[ListEntry]) -> Vec<MessageId> {
    items.iter().flatten().map(|item| item.message.id.clone()).collect()
}

/// The whole inbox, without a viewer.
pub fn inbox(after: Option<Cursor>, limit: i64) -> Inbox {
    Inbox {
        viewer: None,
        filter: ListFilter::default(),
        order: InboxOrder::Smart,
        waiting: Vec::new(),
        after,
        limit,
    }
}

/// The same, read backwards.
pub fn inbox_before(before: Option<Cursor>, limit: i64) -> InboxBefore {
    InboxBefore {
        viewer: None,
        filter: ListFilter::default(),
        order: InboxOrder::Smart,
        before,
        limit,
    }
}

pub fn message_id(number: u64) -> MessageId {
    format!("msg_{number:026}").parse().expect("a message id")
}

/// A new id at every call: two requests never share one.
pub fn resolution_id() -> ResolutionId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("res_{:026}", NEXT.fetch_add(1, Ordering::Relaxed))
        .parse()
        .expect("a resolution id")
}

/// A stand-in for the hash of a token: any bytes that differ per token.
pub fn hash_of(token: &str) -> [u8; 32] {
    Digest::of(token.as_bytes())
        .as_bytes()
        .try_into()
        .expect("a hash is 32 bytes long")
}

/// The rank of a priority in the inbox.
pub fn rank_of(priority: Priority) -> i64 {
    match priority {
        Priority::Urgent => 0,
        Priority::High => 1,
        Priority::Normal => 2,
        Priority::Low => 3,
    }
}

/// A message before it is serialized for the store.
#[derive(Debug, Clone)]
pub struct Draft {
    pub number: u64,
    pub agent: &'static str,
    pub payload: Payload,
    pub priority: Priority,
    pub expires_at: Option<Timestamp>,
    pub key: Option<&'static str>,
    pub variant: u8,
    pub callback: Option<Callback>,
    /// `Number …` by default.
    pub title: Option<&'static str>,
    pub body: &'static str,
    pub tags: &'static [&'static str],
    pub project: Option<&'static str>,
    pub sensitive: bool,
}

impl Draft {
    fn of(number: u64, payload: Payload) -> Self {
        Self {
            number,
            agent: BUILDER,
            payload,
            priority: Priority::Normal,
            expires_at: None,
            key: None,
            variant: 0,
            callback: None,
            title: None,
            body: "Line one\nline “two”",
            tags: &["ops"],
            project: Some("bridge"),
            sensitive: false,
        }
    }

    pub fn ask(number: u64) -> Self {
        let question = Question::Confirm {
            options: approve_or_deny(),
            allow_edit: true,
        };
        let default_on_expire = Some(json!("deny"));
        let ask = Ask {
            question,
            may_respond: true,
            may_decline: true,
            open_ended: false,
            may_be_empty: false,
            default_on_expire,
        };
        Self::of(number, Payload::Ask(ask))
    }

    pub fn task(number: u64) -> Self {
        let checklist = vec![CheckItem {
            text: "turn".to_owned(),
            done: false,
        }];
        let instructions = "Turn the key".to_owned();
        Self::of(
            number,
            Payload::Task(Task {
                instructions,
                checklist,
                verification: None,
            }),
        )
    }

    pub fn notify(number: u64) -> Self {
        Self::of(number, Payload::Notify)
    }

    /// An ask with a callback.
    pub fn pushed(number: u64) -> Self {
        Self {
            callback: Some(callback_to(HOST)),
            ..Self::ask(number)
        }
    }

    pub fn id(&self) -> MessageId {
        message_id(self.number)
    }

    pub fn content(&self) -> Content {
        let id = self.agent.to_owned();
        let run_id = "run-1".to_owned();
        let runtime = "cli".to_owned();
        let labels = BTreeMap::from([("team".to_owned(), "core".to_owned())]);
        Content {
            agent: Agent {
                id,
                run_id,
                runtime,
                project: self.project.map(str::to_owned),
                labels,
            },
            title: self
                .title
                .map_or_else(|| format!("Number {}", self.number), str::to_owned),
            body: Some(self.body.to_owned()),
            priority: self.priority,
            tags: self.tags.iter().copied().map(str::to_owned).collect(),
            context: vec![json!({"kind": "data", "data": {"cost": 0.1, "big": 9_007_199_254_740_993_u64}})],
            sensitive: self.sensitive,
            payload: self.payload.clone(),
            resolvers: vec![alice()],
        }
    }

    pub fn source(&self) -> Source {
        Source::A2h(A2hSource {
            run_id: "run-1".to_owned(),
            ..A2hSource::default()
        })
    }

    /// Formatted unlike any serializer's output: it has to come back byte for byte.
    pub fn wire(&self) -> String {
        let state = r#"{"b":1.50e0,"a":"\u00e9 é \ud83d\ude00","a":null}"#;
        format!(
            r#"{{"n":{},  "payload":{}, "state": {state}}}"#,
            self.number, self.variant
        )
    }

    /// The result of a duplicate submit under this draft's key.
    pub fn taken(&self, status: Status) -> Submission {
        Submission::Duplicate(DuplicateOf {
            id: self.id(),
            status,
            wire: self.wire(),
        })
    }

    pub fn render(&self) -> NewMessage {
        let content = json_text(&self.content()).expect("content can be written");
        let audit = AuditRecord {
            subject: self.id().to_string(),
            at: at(0),
            actor: Actor::agent(self.agent).to_string(),
            event: "submitted".to_owned(),
            content_sha256: Some(Digest::of(content.as_bytes())),
            resolution_sha256: None,
            prev_hash: None,
        };
        NewMessage {
            id: self.id(),
            agent_id: self.agent.to_owned(),
            kind: self.payload.kind(),
            rank: rank_of(self.priority),
            received_at: at(0),
            expires_at: self.expires_at,
            idempotency_key: self.key.map(str::to_owned),
            source: serde_json::to_string(&self.source()).expect("a source can be written"),
            callback: self
                .callback
                .as_ref()
                .map(|callback| serde_json::to_string(callback).expect("and a callback")),
            content: Some(content),
            wire: self.wire(),
            audit,
        }
    }
}

pub fn callback_to(host: &str) -> Callback {
    Callback {
        url: format!("https://{host}/resume"),
        host: host.to_owned(),
        auth: None,
    }
}

pub fn by_alice(verdict: Verdict) -> Command {
    Command::Resolve {
        actor: alice(),
        verdict,
        comment: None,
    }
}

pub fn answer(value: &str) -> Command {
    by_alice(Verdict::Answered(json!(value)))
}

/// The simplest command that resolves a message of this kind.
pub fn finish(kind: Kind) -> Command {
    match kind {
        Kind::Ask => answer("approve"),
        Kind::Task => by_alice(Verdict::Completed(None)),
        Kind::Notify => panic!("a notify is over when it comes"),
    }
}

/// Adds an agent, or adds it again.
pub async fn add_agent(store: &Store, id: &str) {
    let agent = AddAgent {
        id: id.to_owned(),
        reuse: true,
        signature_alg: SignatureAlg::HmacSha256,
        token_hash: hash_of(&format!("{id} token")),
        signing_key: format!("{id} key"),
        actor: OWNER.to_owned(),
    };
    assert_eq!(store.run(agent).await.unwrap(), AddOutcome::Added, "{id} is new");
}

pub async fn submit_within(store: &Store, draft: &Draft, max_open: i64) -> Submission {
    store
        .run(Submit {
            message: draft.render(),
            max_open,
        })
        .await
        .unwrap()
}

pub async fn submit(store: &Store, draft: &Draft) -> Submission {
    submit_within(store, draft, NO_LIMIT).await
}

pub async fn submitted(store: &Store, draft: &Draft) -> MessageId {
    assert_eq!(submit(store, draft).await, Submission::Created);
    draft.id()
}

pub async fn apply(store: &Store, id: &MessageId, command: Command) -> ApplyOutcome {
    store.run(Apply(resolve_request(id, command))).await.unwrap()
}

pub fn resolve_request(id: &MessageId, command: Command) -> ResolveRequest {
    ResolveRequest {
        message_id: id.clone(),
        command,
        resolution_id: resolution_id(),
        files: Vec::new(),
    }
}

pub async fn resolved(store: &Store, id: &MessageId, command: Command) -> Resolution {
    match apply(store, id, command).await {
        ApplyOutcome::Resolved(applied) => applied.resolution,
        other => panic!("expected a resolution, got {other:?}"),
    }
}

pub async fn rejected(store: &Store, id: &MessageId, command: Command) -> Rejection {
    match apply(store, id, command).await {
        ApplyOutcome::Rejected(rejection) => rejection,
        other => panic!("expected a rejection, got {other:?}"),
    }
}

/// Submits and resolves at the current time.
pub async fn submitted_and_resolved(store: &Store, draft: &Draft) -> Resolution {
    let id = submitted(store, draft).await;
    resolved(store, &id, finish(draft.payload.kind())).await
}

pub async fn agent_view(store: &Store, id: &MessageId) -> AgentView {
    match store.run(Pull(id.clone())).await.unwrap() {
        Some(Lookup::Present(view)) => view,
        other => panic!("expected a message, got {other:?}"),
    }
}

pub async fn viewed(store: &Store, id: &MessageId) -> PersonView {
    match store.run(View(id.clone())).await.unwrap() {
        Some(Lookup::Present(item)) => item,
        other => panic!("expected an item, got {other:?}"),
    }
}

/// The agent's stored count of open messages.
pub async fn open_count(store: &Store, agent: &str) -> i64 {
    let agents = store.run(ListAgents).await.unwrap();
    agents
        .iter()
        .find(|summary| summary.agent_id == agent)
        .expect("the agent is there")
        .open
}
