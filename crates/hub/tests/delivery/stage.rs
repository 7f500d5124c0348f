//! A store with an agent, and resolutions to deliver.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use countersign_config::{LegacyPush, PushSettings};
use countersign_core::audit::AuditRecord;
use countersign_core::delivery::Schedule;
use countersign_core::message::{Callback, CallbackCredential};
use countersign_core::question::{Ask, approve_or_deny};
use countersign_core::{Actor, Command, Content, Digest, Payload, Question, Verdict};
use countersign_hub::delivery::{DeliveryCounts, DnsLookup, Outbox, SystemLookup};
use countersign_protocol::a2h::{Agent, AuthScheme, Kind, Priority};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_store::Store;
use countersign_store::clock::{Clock, SystemClock};
use countersign_store::model::{
    ApplyOutcome, Delivery, NewMessage, ResolveRequest, SignatureAlg, Submission, json_text,
};
use countersign_store::ops::admin::AddOutcome;
use countersign_store::ops::admin::agents::AddAgent;
use countersign_store::ops::admin::callbacks::PutHost;
use countersign_store::ops::admin::secrets::PutSecret;
use countersign_store::ops::deliver::Deliveries;
use countersign_store::ops::message::apply::Apply;
use countersign_store::ops::message::submit::Submit;
use countersign_store::ops::node::RegisterNode;
use serde_json::json;
use url::Url;
use uuid::Uuid;

pub const SIGNING_KEY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OWNER: &str = "human:owner";

/// A generous timeout for busy machines; a passing test never comes near it.
pub async fn within<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(Duration::from_secs(30), future).await {
        Ok(output) => output,
        Err(_) => panic!("gave up waiting: {what}"),
    }
}

/// Settings for most tests: retries without a pause, and loopback allowed.
pub fn settings() -> PushSettings {
    PushSettings {
        legacy: LegacyPush::Negotiate,
        schedule: Schedule {
            max_attempts: 5,
            max_duration: Duration::from_secs(3600),
            first_retry: Duration::from_millis(1),
        },
        attempt_timeout: Duration::from_secs(20),
        per_host_concurrency: 4,
        allow_loopback: true,
    }
}

pub struct Stage {
    pub store: Arc<Store>,
    dir: PathBuf,
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// A requested callback: its URL, version, credential and state.
#[derive(Clone, Default)]
pub struct CallbackRequest {
    pub family: Option<&'static str>,
    pub version: Option<&'static str>,
    pub auth: Option<(AuthScheme, &'static str)>,
    pub state: Option<&'static str>,
}

impl Stage {
    pub async fn new() -> Self {
        Self::with(Arc::new(SystemClock), SignatureAlg::HmacSha256).await
    }

    pub async fn with(clock: Arc<dyn Clock>, signature_alg: SignatureAlg) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "countersign-delivery-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        let store = Arc::new(Store::open_sqlite(&dir.join("hub.db"), clock).unwrap());
        let id = "bot".to_owned();
        let signing_key = SIGNING_KEY.to_owned();
        let add = AddAgent {
            id,
            reuse: false,
            signature_alg,
            token_hash: [1; 32],
            signing_key,
            actor: OWNER.to_owned(),
        };
        assert_eq!(store.run(add).await.unwrap(), AddOutcome::Added);
        let id = store.node();
        let lease = Duration::from_secs(24 * 3600);
        store.run(RegisterNode { id, lease }).await.unwrap();
        Self { store, dir }
    }

    pub async fn approve(&self, host: &str) {
        let agent_id = "bot".to_owned();
        let host = host.to_owned();
        let actor = OWNER.to_owned();
        assert!(
            self.store
                .run(PutHost {
                    agent_id,
                    host,
                    approve: true,
                    actor
                })
                .await
                .unwrap()
                .is_ok()
        );
    }

    pub async fn secret(&self, name: &str, value: &str) {
        let agent_id = "bot".to_owned();
        let name = name.to_owned();
        let value = value.to_owned();
        assert!(
            self.store
                .run(PutSecret {
                    agent_id,
                    name,
                    value,
                    actor: OWNER.to_owned()
                })
                .await
                .unwrap()
        );
    }

    pub async fn outbox(&self, settings: PushSettings) -> Arc<Outbox> {
        self.outbox_with(settings, Arc::new(SystemLookup::default())).await
    }

    pub async fn outbox_with(&self, settings: PushSettings, lookup: Arc<dyn DnsLookup>) -> Arc<Outbox> {
        let outbox = Outbox::with_resolver(Arc::clone(&self.store), settings, lookup).unwrap();
        outbox.start().await.unwrap();
        outbox
    }

    /// An answered ask whose resolution is pushed to `url`, on an approved host.
    pub async fn oblige(&self, url: &str) -> MessageId {
        self.oblige_as(url, CallbackRequest::default()).await
    }

    pub async fn oblige_as(&self, url: &str, wish: CallbackRequest) -> MessageId {
        let host = host_of(url);
        self.approve(&host).await;
        self.resolve(self.submit(url, &host, &wish).await).await
    }

    /// An open ask with a callback.
    pub async fn submit(&self, url: &str, host: &str, wish: &CallbackRequest) -> MessageId {
        let id = MessageId::from_uuid(Uuid::now_v7());
        let now = self.store.clock().now();
        let content = json_text(&content()).unwrap();
        let auth = wish.auth.map(|(scheme, name)| CallbackCredential {
            scheme,
            reference: name.to_owned(),
        });
        let callback = Callback {
            url: url.to_owned(),
            host: host.to_owned(),
            auth,
        };
        let family = wish.family.unwrap_or("a2h");
        let version = wish.version.unwrap_or("0.3");
        let source = json!({"door": "a2h", "family": family, "version": version, "run_id": "run-1"});
        let message = NewMessage {
            id: id.clone(),
            agent_id: "bot".to_owned(),
            kind: Kind::Ask,
            rank: 1,
            received_at: now,
            expires_at: None,
            idempotency_key: None,
            source: source.to_string(),
            callback: Some(serde_json::to_string(&callback).unwrap()),
            wire: wish
                .state
                .map_or("{}".to_owned(), |state| format!("{{\"state\":{state}}}")),
            audit: AuditRecord {
                subject: id.to_string(),
                at: now,
                actor: "agent:bot".to_owned(),
                event: "submitted".to_owned(),
                content_sha256: Some(Digest::of(content.as_bytes())),
                resolution_sha256: None,
                prev_hash: None,
            },
            content: Some(content),
        };
        assert_eq!(
            self.store
                .run(Submit {
                    message,
                    max_open: i64::MAX
                })
                .await
                .unwrap(),
            Submission::Created
        );
        id
    }

    pub async fn resolve(&self, message_id: MessageId) -> MessageId {
        let actor = Actor::human("owner");
        let verdict = Verdict::Answered(json!("approve"));
        let command = Command::Resolve {
            actor,
            verdict,
            comment: None,
        };
        let resolution_id = ResolutionId::from_uuid(Uuid::new_v4());
        let request = ResolveRequest {
            message_id: message_id.clone(),
            command,
            resolution_id,
            files: Vec::new(),
        };
        let applied = self.store.run(Apply(request)).await.unwrap();
        assert!(matches!(applied, ApplyOutcome::Resolved(_)), "{applied:?}");
        message_id
    }

    pub async fn delivery(&self, id: &MessageId) -> Delivery {
        let all = self
            .store
            .run(Deliveries {
                state: None,
                limit: 10_000,
            })
            .await
            .unwrap();
        all.into_iter().find(|delivery| delivery.message_id == *id).unwrap()
    }
}

fn content() -> Content {
    let question = Question::Confirm {
        options: approve_or_deny(),
        allow_edit: false,
    };
    let ask = Ask {
        question,
        may_respond: true,
        may_decline: true,
        open_ended: false,
        may_be_empty: false,
        default_on_expire: None,
    };
    let agent = Agent {
        id: "bot".to_owned(),
        run_id: "run-1".to_owned(),
        runtime: "test".to_owned(),
        project: None,
        labels: Default::default(),
    };
    Content {
        agent,
        title: "Deploy?".to_owned(),
        body: None,
        priority: Priority::Normal,
        tags: vec![],
        context: vec![],
        sensitive: false,
        payload: Payload::Ask(ask),
        resolvers: vec![Actor::human("owner")],
    }
}

/// Waits until the outbox has settled the delivery of the test.
pub async fn counted(outbox: &Outbox, what: &str, enough: impl FnMut(&DeliveryCounts) -> bool) -> DeliveryCounts {
    *within(what, outbox.watch_counts().wait_for(enough)).await.unwrap()
}

/// The `host:port` under which a URL is approved.
pub fn host_of(url: &str) -> String {
    let url = Url::parse(url).unwrap();
    format!("{}:{}", url.host_str().unwrap(), url.port_or_known_default().unwrap())
}
