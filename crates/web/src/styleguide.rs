//! GET /inbox/styleguide: every component of the pages on one page, for owners.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use countersign_hub::Hub;

use crate::layout::avatar::Avatar;
use crate::layout::filters;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInOwner;

const COLOURS: [(&str, &str); 15] = [
    ("page", "the page"),
    ("surface", "cards, header, rows"),
    ("sunk", "fields, hover, badges"),
    ("ink", "text"),
    ("dim", "quiet text"),
    ("line", "lines"),
    ("edge", "borders of controls"),
    ("accent", "links, focus, main button"),
    ("accent-soft", "cursor, selection"),
    ("good", "approved, delivered"),
    ("good-soft", "its background"),
    ("bad", "denied, failed, urgent"),
    ("bad-soft", "its background"),
    ("warn", "ends soon, waits long"),
    ("warn-soft", "its background"),
];
const AGENTS: [&str; 12] = [
    "deploybot",
    "coder",
    "certbot",
    "acme/onboarding",
    "research/analyst",
    "ci/nightly",
    "billing-agent",
    "support-triage",
    "release",
    "docs",
    "infra/dns",
    "claude",
];

#[derive(Template)]
#[template(path = "styleguide.html")]
struct StyleguidePage {
    layout: PageLayout,
    colours: [(&'static str, &'static str); 15],
    avatars: Vec<(&'static str, Avatar)>,
}

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/styleguide", get(styleguide))
}

async fn styleguide(
    State(hub): State<Arc<Hub>>,
    SignedInOwner(user): SignedInOwner,
    request: PageRequest,
) -> Result<Response, PageError> {
    let page = StyleguidePage {
        layout: PageLayout::of(&hub, &user, &request, PageSection::Styleguide, "Style guide").await?,
        colours: COLOURS,
        avatars: AGENTS.map(|name| (name, Avatar::of(name, name))).to_vec(),
    };
    Ok(render(StatusCode::OK, &page))
}
