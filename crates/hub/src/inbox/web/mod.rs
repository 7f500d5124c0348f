//! The inbox in a browser: pages rendered on the server, live through server-sent events, usable without scripts.

mod aside;
mod assets;
mod batch;
mod decide;
mod events;
mod filters;
mod form;
mod history;
mod item;
mod list;
mod notices;
mod nowhere;
mod page;
pub mod row;
mod runs;
mod search;
mod settings;
pub mod sign_in;
mod terminals;
mod upload;
mod visitor;
pub(super) mod words;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use crate::app::Hub;

pub use nowhere::{no_such_address, no_such_method};

/// Pages are for people and are not part of the API description.
pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/", get(async || page::see_other("/inbox")))
        .route("/inbox/assets/{hash}/{name}", get(assets::asset))
        .route("/inbox/manifest.webmanifest", get(assets::manifest))
        .route("/inbox/sw.js", get(assets::worker))
        .route("/inbox/offline", get(assets::offline))
        .route("/inbox/counts", get(page::counts))
        .merge(settings::router())
        .merge(sign_in::router())
        .merge(item::router())
        .merge(list::router())
        .merge(notices::router())
        .merge(aside::router())
        .merge(history::router())
        .merge(search::router())
        .merge(batch::router())
        .merge(terminals::router())
        .merge(runs::router())
        .merge(events::router())
}
