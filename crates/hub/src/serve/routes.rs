//! The table of all API routes, and the pages on top of them.

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodRouter, get, post};

use crate::Hub;
use crate::admin::{self, health, openapi};
use crate::doors::{a2h, hap, runs as run_door};
use crate::http::route::Named;
use crate::inbox;
use crate::live::LiveRenderer;
use crate::problem::Problem;

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
        self.add(path, get(Named { route: path, handler }))
    }

    fn post<H, T>(mut self, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Hub>>,
        T: 'static,
    {
        self.listed.push(("post", path));
        self.add(path, post(Named { route: path, handler }))
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
        .get("/metrics", admin::metrics::metrics)
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
        .post("/v1/inbox/{id}/undo", inbox::api::undo)
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
        .post("/v1/admin/agents/rename", admin::agents::rename)
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
    pub live: LiveRenderer,
}

/// The hub for programs: everything but the pages.
pub fn api() -> Router<Arc<Hub>> {
    routes()
        .router
        // The run socket speaks a protocol of its own and is not part of the API description.
        .route(
            "/ws",
            get(Named {
                route: "/ws",
                handler: run_door::upgrade,
            }),
        )
        .fallback(async || Problem::no_address())
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
}

pub fn router(hub: Arc<Hub>, pages: Pages) -> Router {
    hub.live.render_with(pages.live);
    (pages.add_to)(api()).with_state(hub)
}
