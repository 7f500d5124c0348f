//! A hub without a socket on its own store, with one caller of every kind.

use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use countersign_config::{Config, ConfigFile, Overrides};
use countersign_core::access::Role;
use countersign_hub::Hub;
use countersign_hub::admin::keys::ensure_key;
use countersign_hub::auth::{Token, new_signing_key};
use countersign_hub::delivery::Outbox;
use countersign_hub::serve::routes;
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::SignatureAlg;
use countersign_store::ops::account::credential::{CredentialKind, NewCredential};
use countersign_store::ops::admin::AddOutcome;
use countersign_store::ops::admin::agents::AddAgent;
use countersign_store::ops::admin::people::{AddPerson, AddPersonToken};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::sync::watch;
use tower::ServiceExt;

use crate::call::{Call, Reply};
use crate::document::Document;
use crate::shapes;

/// 2026-11-15T09:30:00Z
pub const START: i64 = 1_794_735_000_000;

/// The replies of all scenes: method, path and status.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<BTreeSet<(String, String, u16)>>>);

impl Seen {
    pub fn all(&self) -> BTreeSet<(String, String, u16)> {
        self.0.lock().expect("the lock is not poisoned").clone()
    }

    fn note(&self, call: &Call<'_>, status: u16) {
        let reply = (call.method.to_owned(), call.path.to_owned(), status);
        self.0.lock().expect("the lock is not poisoned").insert(reply);
    }
}

pub struct Scratch(pub PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("countersign-openapi-{}-{number}", std::process::id()));
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .expect("a directory of our own");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub struct Scene {
    pub hub: Arc<Hub>,
    pub store: Arc<Store>,
    pub clock: Arc<ManualClock>,
    pub owner: String,
    /// `human:ann`, a resolver.
    pub ann: String,
    pub viewer: String,
    /// `agent:bot`
    pub bot: String,
    /// The token of ann's terminals.
    pub terminal: String,
    /// The token of the owner's terminals.
    pub other_terminal: String,
    document: &'static Document,
    pub scratch: Scratch,
    pub stop: watch::Sender<bool>,
    router: Router,
    seen: Seen,
}

impl Scene {
    pub async fn new(seen: &Seen) -> Self {
        Self::with(seen, |_| {}).await
    }

    /// A scene with a changed configuration.
    pub async fn with(seen: &Seen, change: impl FnOnce(&mut ConfigFile)) -> Self {
        let mut file = ConfigFile::default();
        change(&mut file);
        let config = Config::resolve(file, Overrides::default()).expect("a sound configuration");
        let scratch = Scratch::new();
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(START)));
        let opened = Store::open_sqlite(&scratch.0.join("hub.db"), clock.clone());
        let store = Arc::new(opened.expect("a store"));
        ensure_key(&store).await.expect("a key");
        let (stop, stopping) = watch::channel(false);
        let outbox = Outbox::new(Arc::clone(&store), config.push).expect("an outbox");
        let hub = Hub::new(Arc::clone(&store), config, outbox, stopping).unwrap();
        hub.process.set_local_url("http://127.0.0.1:7422".to_owned());
        Self {
            owner: person(&store, "owner", Role::Owner).await,
            ann: person(&store, "ann", Role::Resolver).await,
            viewer: person(&store, "vic", Role::Viewer).await,
            bot: agent(&store, "bot").await,
            terminal: terminal(&store, "ann").await,
            other_terminal: terminal(&store, "owner").await,
            document: Document::read(),
            router: routes::api().with_state(Arc::clone(&hub)),
            hub,
            seen: seen.clone(),
            store,
            clock,
            scratch,
            stop,
        }
    }

    pub fn advance(&self, seconds: i64) {
        self.clock.set(Timestamp::from_millis(START + seconds * 1000));
    }

    /// A reply whose body is not read, so that the request stays open.
    pub async fn held(&self, call: Call<'_>) -> axum::response::Response {
        self.router
            .clone()
            .oneshot(call.request())
            .await
            .expect("the router answers")
    }

    /// Sends a call and checks the reply against the document; the request too, if it was accepted.
    pub async fn send(&self, call: Call<'_>) -> Reply {
        let response = self
            .router
            .clone()
            .oneshot(call.request())
            .await
            .expect("the router answers");
        let status = response.status();
        let headers = response.headers().clone();
        let body = response
            .into_body()
            .collect()
            .await
            .expect("a body")
            .to_bytes()
            .to_vec();
        let route = (call.method, call.path);
        self.document.check_reply(route, status.as_u16(), &headers, &body);
        if status.is_success() {
            shapes::check(route, &body);
        }
        if let Some(sent) = call.sent().filter(|_| status.is_success()) {
            self.document.check_request(route, &sent);
        }
        self.seen.note(&call, status.as_u16());
        Reply {
            status: status.as_u16(),
            headers,
            body,
        }
    }

    pub async fn expect(&self, status: u16, call: Call<'_>) -> Reply {
        let method = call.method;
        let path = call.path;
        let reply = self.send(call).await;
        assert_eq!(
            reply.status,
            status,
            "{method} {path}: {}",
            String::from_utf8_lossy(&reply.body)
        );
        reply
    }

    /// Like `expect`, but returns the JSON of the reply.
    pub async fn json(&self, status: u16, call: Call<'_>) -> Value {
        self.expect(status, call).await.json()
    }
}

async fn person(store: &Store, name: &str, role: Role) -> String {
    let token = Token::new(CredentialKind::Person).expect("randomness");
    let credential = NewCredential {
        hash: token.hash,
        kind: CredentialKind::Person,
        subject: name.to_owned(),
        label: "token".to_owned(),
        expires_at: None,
    };
    let actor = "system:hub".to_owned();
    let added = store
        .run(AddPerson {
            name: name.to_owned(),
            reuse: false,
            role,
            token: Some(credential),
            actor,
        })
        .await;
    assert_eq!(added.expect("the store works"), AddOutcome::Added);
    token.text
}

async fn terminal(store: &Store, name: &str) -> String {
    let token = Token::new(CredentialKind::Terminal).expect("randomness");
    let subject = name.to_owned();
    let label = "token".to_owned();
    let credential = NewCredential {
        hash: token.hash,
        kind: CredentialKind::Terminal,
        subject,
        label,
        expires_at: None,
    };
    let name = name.to_owned();
    let actor = "system:hub".to_owned();
    assert!(
        store
            .run(AddPersonToken {
                name,
                token: credential,
                actor
            })
            .await
            .expect("the store works")
    );
    token.text
}

async fn agent(store: &Store, id: &str) -> String {
    let token = Token::new(CredentialKind::Agent).expect("randomness");
    let agent = AddAgent {
        id: id.to_owned(),
        reuse: false,
        signature_alg: SignatureAlg::HmacSha256,
        token_hash: token.hash,
        signing_key: new_signing_key().expect("randomness"),
        actor: "system:hub".to_owned(),
    };
    assert_eq!(store.run(agent).await.expect("the store works"), AddOutcome::Added);
    token.text
}
