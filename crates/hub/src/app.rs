//! The `Hub` value with its services, and the table of all API routes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodRouter, get, post};
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::ops::account::credential::NewCredential;
use tokio::sync::watch;

use crate::auth::{CredentialCache, Passwords, RequestLimiter, SignInAttempts};
use crate::background::agent_last_seen::AgentLastSeen;
use crate::background::indexer::Indexer;
use crate::background::receipts::Receipts;
use crate::background::timers::Alarm;
use crate::cluster::Cluster;
use crate::config::Config;
use crate::cue_waiters::CueWaiters;
use crate::delivery::Outbox;
use crate::doors::{a2h, hap, runs as run_door};
use crate::health::ReadinessCache;
use crate::limits::connection_limit::ConnectionLimit;
use crate::limits::memory_budget::MemoryBudget;
use crate::live::{LiveBroadcaster, RowRenderer};
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::runs::Runs;
use crate::runs::engine::agents::Tools;
use crate::waiters::Waiters;
use crate::{address, admin, health, inbox, openapi};

/// Long-polls that the terminals of one person may hold at once.
const MAX_TERMINAL_WAITS: usize = 1000;
/// Run sockets of one person. On the hub's own machine every program without a token counts as the owner.
const MAX_RUN_SOCKETS: usize = 500;

pub struct Hub {
    pub store: Arc<Store>,
    pub config: Config,
    pub outbox: Arc<Outbox>,
    pub started_at: Timestamp,
    pub credentials: CredentialCache,
    pub passwords: Passwords,
    pub sign_in_attempts: SignInAttempts,
    pub waiters: Arc<Waiters>,
    pub news: Arc<LiveBroadcaster>,
    pub cluster: Arc<Cluster>,
    /// File with the node id of this process, for the next start on the same data directory.
    pub node_file: OnceLock<PathBuf>,
    /// Credentials that this start created for programs on this machine.
    pub start_credentials: Mutex<Vec<NewCredential>>,
    pub agent_last_seen: AgentLastSeen,
    pub cue_waiters: Arc<CueWaiters>,
    /// Limits the long-polls of terminals per person.
    pub terminal_limit: Arc<ConnectionLimit>,
    /// Limits the open run sockets per person.
    pub socket_limit: Arc<ConnectionLimit>,
    pub memory_budget: Arc<MemoryBudget>,
    pub runs: Arc<Runs>,
    pub receipts: Receipts,
    pub indexer: Indexer,
    pub expiry_alarm: Alarm,
    pub rate_limit: RequestLimiter,
    pub(crate) metrics: Metrics,
    pub readiness: ReadinessCache,
    /// Turns true when the hub stops: long-polls then return and connections drain.
    pub stopping: watch::Receiver<bool>,
    /// For work that must finish after its caller has disconnected.
    pub me: Weak<Self>,
    /// Set once the listener is bound.
    url: OnceLock<String>,
    browser_url: OnceLock<String>,
}

impl Hub {
    pub fn new(
        store: Arc<Store>,
        config: Config,
        outbox: Arc<Outbox>,
        stopping: watch::Receiver<bool>,
    ) -> anyhow::Result<Arc<Self>> {
        let started_at = store.clock().now();
        let cluster = Cluster::new(Arc::clone(&store));
        let news = LiveBroadcaster::new(started_at, stopping.clone(), Arc::clone(&cluster));
        outbox.announce_attempts_to(Arc::clone(&news));
        let runs = Arc::new(Runs::new(Tools::from_config(&config)?, config.runs.max_live));
        Ok(Arc::new_cyclic(|me| Self {
            started_at,
            rate_limit: RequestLimiter::per_minute(config.requests_per_minute, &store),
            config,
            outbox,
            credentials: CredentialCache::default(),
            passwords: Passwords::default(),
            sign_in_attempts: SignInAttempts::new(&store),
            waiters: Arc::default(),
            cue_waiters: CueWaiters::new(Arc::clone(&store), Arc::clone(&news), Arc::clone(&cluster), started_at),
            terminal_limit: ConnectionLimit::new(
                MAX_TERMINAL_WAITS,
                "terminals are already waiting in your name; stop some of them",
            ),
            socket_limit: ConnectionLimit::new(
                MAX_RUN_SOCKETS,
                "run sockets are already open in your name; close some of them",
            ),
            memory_budget: Arc::default(),
            news,
            cluster,
            node_file: OnceLock::new(),
            start_credentials: Mutex::default(),
            agent_last_seen: AgentLastSeen::default(),
            runs,
            receipts: Receipts::default(),
            indexer: Indexer::new(Arc::clone(&store)),
            expiry_alarm: Alarm::default(),
            metrics: Metrics::new(),
            readiness: ReadinessCache::default(),
            stopping,
            store,
            me: Weak::clone(me),
            url: OnceLock::new(),
            browser_url: OnceLock::new(),
        }))
    }

    /// Notes the node id in the data directory of a shared store. The next start here then knows which node is gone.
    pub fn write_node_file(&self) {
        let Some(file) = self.node_file.get() else { return };
        if let Err(error) = std::fs::write(file, self.store.node()) {
            tracing::warn!(%error, "writing the node id to the data directory failed");
        }
    }

    pub fn set_url(&self, url: String) {
        // Set once, after the listener is bound.
        drop(self.url.set(url));
    }

    /// The URL that agents and people use.
    pub fn url(&self) -> &str {
        self.config.public_url.as_deref().unwrap_or_else(|| self.local_url())
    }

    /// The URL that people open in a browser.
    pub fn browser_url(&self) -> &str {
        self.browser_url.get_or_init(|| address::browser_url(self.url()))
    }

    /// The URL of the listener itself.
    pub fn local_url(&self) -> &str {
        self.url.get().map(String::as_str).unwrap_or_default()
    }
}

/// Adds routes and keeps a list of them; a test compares the list with the API description.
#[derive(Default)]
pub struct Routes {
    router: Router<Arc<Hub>>,
    pub listed: Vec<(&'static str, &'static str)>,
}

impl Routes {
    fn get<H, T>(mut self, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Hub>>,
        T: 'static,
    {
        self.listed.push(("get", path));
        self.add(path, get(handler))
    }

    fn post<H, T>(mut self, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Hub>>,
        T: 'static,
    {
        self.listed.push(("post", path));
        self.add(path, post(handler))
    }

    fn add(mut self, path: &'static str, methods: MethodRouter<Arc<Hub>>) -> Self {
        self.router = self.router.route(path, methods);
        self
    }
}

pub fn routes() -> Routes {
    let routes = Routes::default()
        .get("/health", health::health)
        .get("/ready", health::ready)
        .get("/metrics", health::metrics)
        .get("/openapi.json", openapi::document);
    admin_routes(people_routes(terminal_routes(agent_routes(routes))))
}

fn agent_routes(routes: Routes) -> Routes {
    routes
        .get("/.well-known/a2h", a2h::discovery::a2h)
        .get("/.well-known/ma2h", a2h::discovery::ma2h)
        .get("/.well-known/ma2h-capability", a2h::discovery::ma2h)
        .post("/v1/messages", a2h::submit::submit)
        .get("/v1/messages", inbox::api::history)
        .get("/v1/messages/{id}", a2h::pull::pull)
        .post("/v1/messages/{id}/cancel", a2h::cancel::cancel)
        .post("/v1/messages/{id}/resolve", a2h::resolve::resolve)
        .post("/v1/callbacks", admin::callbacks::register)
}

fn terminal_routes(routes: Routes) -> Routes {
    routes
        .post("/v1/hap/join", hap::join::join)
        .post("/v1/hap/cues", hap::cue::cue)
        .get("/v1/hap/cues/{id}", hap::wait::wait)
        .get("/v1/hap/cues/{id}/files/{index}", hap::files::file)
        .post("/v1/hap/cues/{id}/collected", hap::ack::acknowledge)
        .get("/v1/hap/agents/{agent_id}/current", hap::current::current)
        .get("/v1/hap/agents/{agent_id}/kept", hap::uncollected::uncollected)
        .post("/v1/hap/import", hap::import::import)
}

fn people_routes(routes: Routes) -> Routes {
    routes
        .get("/v1/inbox", inbox::api::list)
        .get("/v1/inbox/aside", inbox::api::list_snoozed)
        .get("/v1/inbox/events", inbox::api::events)
        .get("/v1/inbox/{id}", inbox::api::show)
        .get("/v1/inbox/{id}/prompt", inbox::api::prompt)
        .get("/v1/inbox/{id}/files/{index}", inbox::api::file)
        .post("/v1/inbox/{id}/aside", inbox::api::snooze)
        .post("/v1/inbox/{id}/archive", inbox::api::archive)
        .post("/v1/inbox/{id}/return", inbox::api::restore)
        .get("/v1/notices", inbox::api::notices)
        .get("/v1/search", inbox::api::search)
        .get("/v1/decided", inbox::api::decided)
        .get("/v1/presets", inbox::api::presets)
        .get("/v1/terminals", inbox::api::terminals)
        .get("/v1/terminals/{agent_id}/ahead", inbox::api::list_ahead)
        .post("/v1/terminals/{agent_id}/ahead", inbox::api::type_ahead)
        .post("/v1/terminals/{agent_id}/ahead/{id}/drop", inbox::api::drop_ahead)
        .get("/v1/runs", inbox::api::list_runs)
        .get("/v1/runs/{id}", inbox::api::show_run)
        .post("/v1/runs/{id}/stop", inbox::api::stop_by_call)
}

fn admin_routes(routes: Routes) -> Routes {
    routes
        .get("/v1/admin/status", admin::status::status)
        .get("/v1/admin/agents", admin::agents::list)
        .post("/v1/admin/agents", admin::agents::add)
        .post("/v1/admin/agents/rotate", admin::agents::rotate)
        .post("/v1/admin/agents/remove", admin::agents::remove)
        .get("/v1/admin/callbacks", admin::callbacks::list)
        .post("/v1/admin/callbacks", admin::callbacks::add)
        .post("/v1/admin/callbacks/approve", admin::callbacks::approve)
        .post("/v1/admin/callbacks/remove", admin::callbacks::remove)
        .get("/v1/admin/secrets", admin::secrets::list)
        .post("/v1/admin/secrets", admin::secrets::set)
        .post("/v1/admin/secrets/remove", admin::secrets::remove)
        .get("/v1/admin/people", admin::people::list)
        .post("/v1/admin/people", admin::people::add)
        .post("/v1/admin/people/remove", admin::people::remove)
        .post("/v1/admin/people/token", admin::tokens::add)
        .get("/v1/admin/people/tokens", admin::tokens::list)
        .post("/v1/admin/people/tokens/end", admin::tokens::end)
        .post("/v1/admin/people/link", admin::people::link)
        .get("/v1/admin/deliveries", admin::deliveries::list)
        .post("/v1/admin/deliveries/retry", admin::deliveries::retry)
        .get("/v1/admin/audit", admin::status::audit)
        .post("/v1/admin/keys/rotate", admin::keys::rotate)
}

/// The pages for browsers. They are built on the hub, so the hub is given them at its start.
#[derive(Clone, Copy)]
pub struct Pages {
    /// Adds the routes of the pages, and the replies to unknown addresses.
    pub add_to: fn(Router<Arc<Hub>>) -> Router<Arc<Hub>>,
    pub row: RowRenderer,
}

/// The hub for programs: everything but the pages.
pub fn api() -> Router<Arc<Hub>> {
    routes()
        .router
        // The run socket speaks a protocol of its own and is not part of the API description.
        .route("/ws", get(run_door::upgrade))
        .fallback(async || Problem::no_address())
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
}

pub fn router(hub: Arc<Hub>, pages: Pages) -> Router {
    hub.news.render_rows_with(pages.row);
    (pages.add_to)(api()).with_state(hub)
}
