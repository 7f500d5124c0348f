//! Agents as people see them: the list, and a page for each with its conversation.

mod ahead;
mod facts;
mod list;
mod names;
mod page;
mod presence_mark;
mod rename;
mod reply;
mod thread;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use countersign_hub::Hub;

pub use ahead::AheadBox;
pub use names::{KnownNames, agent_label};
pub use presence_mark::PresenceMark;

use crate::layout::page::see_other;
use crate::lists::row::encoded;

const ADDRESS: &str = "/inbox/agents";

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/inbox/agents", get(list::agents))
        .route("/inbox/agents/{id}", get(page::agent))
        .route("/inbox/agents/{id}/name", post(rename::rename))
        // The address of earlier versions.
        .route("/inbox/terminals", get(async || see_other(ADDRESS)))
        .route("/inbox/terminals/ahead", post(ahead::put))
        .route("/inbox/terminals/ahead/drop", post(ahead::drop_text))
}

/// The page of an agent.
pub fn agent_href(agent_id: &str) -> String {
    format!("{ADDRESS}/{}", encoded(agent_id))
}
