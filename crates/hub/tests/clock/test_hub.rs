//! A hub in this process: the real router on a real SQLite file, with a manual clock.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use countersign_config::{Config, ConfigFile, Overrides};
use countersign_core::access::Role;
use countersign_hub::Hub;
use countersign_hub::auth::Token;
use countersign_hub::delivery::Outbox;
use countersign_hub::messages;
use countersign_hub::serve::routes::api;
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::clock::{Clock, ManualClock};
use countersign_store::model::SignatureAlg;
use countersign_store::ops::account::credential::{CredentialKind, NewCredential};
use countersign_store::ops::admin::AddOutcome;
use countersign_store::ops::admin::agents::AddAgent;
use countersign_store::ops::admin::people::{AddPerson, AddPersonToken};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::watch;
use tower::ServiceExt;

pub struct TestHub {
    router: Router,
    hub: Arc<Hub>,
    store: Arc<Store>,
    clock: Arc<ManualClock>,
    agent_token: String,
    stranger_token: String,
    person_token: String,
    terminal_token: String,
    directory: PathBuf,
    _stop: watch::Sender<bool>,
}

impl TestHub {
    pub async fn open() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("countersign-clock-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a private directory");
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let store = Store::open_sqlite(&directory.join("hub.db"), Arc::clone(&clock) as Arc<dyn Clock>);
        let store = Arc::new(store.expect("a store"));
        let (hub, stop) = hub_on(&store);
        Self {
            router: api().with_state(Arc::clone(&hub)),
            hub,
            agent_token: add_agent(&store, "acme/deployer").await,
            stranger_token: add_agent(&store, "stranger").await,
            person_token: add_person(&store, "alice").await,
            terminal_token: add_terminal(&store, "alice").await,
            store,
            clock,
            directory,
            _stop: stop,
        }
    }

    /// Restarts the hub: a new one on the same store, with empty memory.
    pub fn restart(&mut self) {
        (self.hub, self._stop) = hub_on(&self.store);
        self.router = api().with_state(Arc::clone(&self.hub));
    }

    /// One round of the retention timer. Returns whether it trusted the clock.
    pub async fn purge(&self, retention: Duration) -> bool {
        let doubted = messages::purge_once(&self.hub.messages, retention).await;
        doubted.expect("a working store").is_none()
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn advance(&self, time: Duration) {
        self.clock.set(self.clock.now().plus(time));
    }

    pub fn ask(&self, title: &str) -> Value {
        json!({
            "a2h_version": "0.3", "type": "ask", "created_at": "2026-11-15T12:00:00Z", "title": title,
            "agent": {"id": "acme/deployer", "run_id": "run-1", "runtime": "cli"},
            "idempotency_key": title,
            "request": {"mode": "confirm", "allowed_resolvers": ["human:alice"]},
        })
    }

    pub async fn post_message(&self, message: &Value) -> (StatusCode, Value) {
        self.call("POST", "/v1/messages", &self.agent_token, Some(message))
            .await
    }

    pub async fn submit(&self, message: &Value) -> String {
        let (status, ack) = self.post_message(message).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{ack}");
        ack["id"].as_str().expect("an id").to_owned()
    }

    pub async fn pull(&self, id: &str) -> (StatusCode, Value) {
        self.call("GET", &format!("/v1/messages/{id}"), &self.agent_token, None)
            .await
    }

    pub async fn pull_as_stranger(&self, id: &str) -> (StatusCode, Value) {
        self.call("GET", &format!("/v1/messages/{id}"), &self.stranger_token, None)
            .await
    }

    pub async fn cancel(&self, id: &str) -> (StatusCode, Value) {
        self.call("POST", &format!("/v1/messages/{id}/cancel"), &self.agent_token, None)
            .await
    }

    pub async fn resolve(&self, id: &str, body: &Value) -> (StatusCode, Value) {
        self.call(
            "POST",
            &format!("/v1/messages/{id}/resolve"),
            &self.person_token,
            Some(body),
        )
        .await
    }

    pub async fn cue(&self, body: &Value) -> Value {
        let (status, ack) = self
            .call("POST", "/v1/hap/cues", &self.terminal_token, Some(body))
            .await;
        assert_eq!(status, StatusCode::CREATED, "{ack}");
        ack
    }

    pub async fn import(&self, body: &Value) -> Value {
        let (status, ack) = self
            .call("POST", "/v1/hap/import", &self.terminal_token, Some(body))
            .await;
        assert_eq!(status, StatusCode::OK, "{ack}");
        ack
    }

    pub async fn poll(&self, id: &str, wait: u64) -> Value {
        self.call(
            "GET",
            &format!("/v1/hap/cues/{id}?wait={wait}"),
            &self.terminal_token,
            None,
        )
        .await
        .1
    }

    pub async fn uncollected(&self) -> Vec<Value> {
        let found = self
            .call("GET", "/v1/hap/agents/bamolodo/kept", &self.terminal_token, None)
            .await
            .1;
        found["kept"].as_array().expect("a list").clone()
    }

    pub async fn item(&self, id: &str) -> Value {
        self.call("GET", &format!("/v1/inbox/{id}"), &self.person_token, None)
            .await
            .1
    }

    async fn call(&self, method: &str, path: &str, token: &str, body: Option<&Value>) -> (StatusCode, Value) {
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {token}"));
        let response = self
            .router
            .clone()
            .oneshot(request.body(body).expect("a request"))
            .await
            .expect("a response");
        let status = response.status();
        let bytes = response.into_body().collect().await.expect("a body").to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }
}

impl Drop for TestHub {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.directory).ok();
    }
}

fn hub_on(store: &Arc<Store>) -> (Arc<Hub>, watch::Sender<bool>) {
    let config = Config::resolve(ConfigFile::default(), Overrides::default()).expect("defaults");
    let outbox = Outbox::new(Arc::clone(store), config.push).expect("an outbox");
    let (stop, stopping) = watch::channel(false);
    (
        Hub::new(Arc::clone(store), config, outbox, stopping).expect("a hub"),
        stop,
    )
}

async fn add_agent(store: &Store, id: &str) -> String {
    let token = Token::new(CredentialKind::Agent).expect("a token");
    let op = AddAgent {
        id: id.to_owned(),
        reuse: false,
        signature_alg: SignatureAlg::HmacSha256,
        token_hash: token.hash,
        signing_key: format!("whsec_{id}"),
        actor: "system:test".to_owned(),
    };
    assert_eq!(store.run(op).await.expect("an agent"), AddOutcome::Added);
    token.text
}

async fn add_terminal(store: &Store, name: &str) -> String {
    let token = Token::new(CredentialKind::Terminal).expect("a token");
    let subject = name.to_owned();
    let label = "test".to_owned();
    let token_of = NewCredential {
        hash: token.hash,
        kind: CredentialKind::Terminal,
        subject,
        label,
        expires_at: None,
    };
    let name = name.to_owned();
    let actor = "system:test".to_owned();
    assert!(
        store
            .run(AddPersonToken {
                name,
                token: token_of,
                actor
            })
            .await
            .expect("a person")
    );
    token.text
}

async fn add_person(store: &Store, name: &str) -> String {
    let token = Token::new(CredentialKind::Person).expect("a token");
    let subject = name.to_owned();
    let label = "test".to_owned();
    let credential = NewCredential {
        hash: token.hash,
        kind: CredentialKind::Person,
        subject,
        label,
        expires_at: None,
    };
    let name = name.to_owned();
    let actor = "system:test".to_owned();
    let op = AddPerson {
        name,
        reuse: false,
        role: Role::Resolver,
        token: Some(credential),
        actor,
    };
    assert_eq!(store.run(op).await.expect("a person"), AddOutcome::Added);
    token.text
}
