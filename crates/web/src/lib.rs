//! The inbox in a browser: pages rendered on the server, live through server-sent events, usable without scripts.

mod agents;
mod assets;
mod item;
mod language;
mod layout;
mod lists;
mod pulse;
mod runs;
mod settings;
mod sign_in;
mod styleguide;
pub mod text;

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::middleware::from_fn;
use axum::routing::get;
use countersign_hub::http::route::NoteRoute;
use countersign_hub::live::LiveRenderer;
use countersign_hub::{Hub, Pages};
use layout::compression::compress_pages;
use layout::not_found::{no_such_address, no_such_method, redirects};
use layout::{events, look, page};
use lists::row;

pub const PAGES: Pages = Pages {
    add_to: add_pages,
    live: LiveRenderer {
        row: row::html,
        outcome: row::outcome_text,
    },
};

/// The pages are for people and are not part of the API description.
fn add_pages(api: Router<Arc<Hub>>) -> Router<Arc<Hub>> {
    let pages = Router::new()
        .route("/", get(async || page::see_other("/inbox")))
        .route("/inbox/assets/{hash}/{name}", get(assets::asset))
        .route("/inbox/manifest.webmanifest", get(assets::manifest))
        .route("/inbox/sw.js", get(assets::worker))
        .route("/inbox/offline", get(assets::offline))
        .route("/inbox/counts", get(page::counts))
        .merge(settings::router())
        .merge(sign_in::router())
        .merge(item::router())
        .merge(lists::router())
        .merge(agents::router())
        .merge(runs::router())
        .merge(pulse::router())
        .merge(events::router())
        .merge(look::router())
        .merge(styleguide::router())
        .merge(redirects())
        .layer(from_fn(look::with_look))
        .layer(from_fn(compress_pages))
        .layer(NoteRoute);
    api.merge(pages)
        .fallback(no_such_address.layer(from_fn(look::with_look)))
        .method_not_allowed_fallback(no_such_method.layer(from_fn(look::with_look)))
}
