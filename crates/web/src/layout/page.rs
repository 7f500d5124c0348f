//! The parts that all pages share: layout, headers and error pages.

use std::convert::Infallible;
use std::sync::Arc;

use askama::Template;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_core::Language;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::StoreError;
use countersign_store::model::{CountsNow, OpenCount};
use countersign_store::ops::list::{Counts, OpenFor};
use countersign_telemetry::request::{RequestId, error_id};
use url::form_urlencoded::byte_serialize;

use super::avatar::Avatar;
use super::filters;
use super::form::FormFields;
use super::look::{self, Density, Look, Theme};
use super::signed_in_user::SignedInUser;
use crate::assets;
use crate::language::{problem_text, say, t};
use crate::lists::row::person_mark;

/// Content security policy: resources come only from this hub, there are no inline scripts or styles, and scripts may
/// insert HTML only through one trusted-types policy.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types countersign";

/// Headers of every page. The referrer is kept within the hub, because without one browsers hide the origin of a form.
pub const HEADERS: [(HeaderName, HeaderValue); 7] = [
    (
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    ),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// The request for a page.
#[derive(Debug, Clone, Default)]
pub struct PageRequest {
    /// A script wants only the content, without the layout.
    pub fragment: bool,
    /// Path and query.
    pub path: String,
    pub look: Look,
}

impl PageRequest {
    pub fn from_parts(parts: &Parts) -> Self {
        let path = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        Self {
            fragment: parts.headers.contains_key("x-fragment"),
            path,
            look: look::current(),
        }
    }

    /// The parameters of the address.
    pub fn query(&self) -> FormFields {
        let query = self.path.split_once('?').map_or("", |(_, query)| query);
        FormFields::parse(query.as_bytes())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PageRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::from_parts(parts))
    }
}

/// The section of the site that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSection {
    List,
    Notices,
    Snoozed,
    History,
    Search,
    Item,
    Agents,
    Agent,
    Runs,
    Run,
    Pulse,
    Settings,
    SignIn,
    Styleguide,
}

impl PageSection {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Notices => "notices",
            Self::Snoozed => "aside",
            Self::History => "history",
            Self::Search => "search",
            Self::Item => "item",
            Self::Agents => "agents",
            Self::Agent => "agent",
            Self::Runs => "runs",
            Self::Run => "run",
            Self::Pulse => "pulse",
            Self::Settings => "settings",
            Self::SignIn => "signin",
            Self::Styleguide => "styleguide",
        }
    }
}

/// The layout around the content of a page.
pub struct PageLayout {
    pub title: String,
    pub section: PageSection,
    pub fragment: bool,
    /// Empty if no user is signed in.
    pub person: String,
    /// The user's mark in the rows, among the people who may answer; empty for a viewer.
    pub me: String,
    pub is_owner: bool,
    pub csrf: String,
    /// Open items that the user may answer; for a viewer, all open items.
    pub open: OpenCount,
    pub counts: CountsNow,
    /// The hub's clock, for browsers whose clock is wrong.
    pub now_ms: Option<i64>,
    /// The value of the search field.
    pub query: String,
    pub assets: &'static str,
    pub look: Look,
    /// The page that the forms of the header return to.
    pub path: String,
}

impl PageLayout {
    pub fn themes(&self) -> [Theme; 3] {
        Theme::ALL
    }

    pub fn densities(&self) -> [Density; 2] {
        Density::ALL
    }

    pub fn languages(&self) -> [Language; 3] {
        Language::ALL
    }

    /// The avatar of the signed-in user.
    pub fn avatar(&self) -> Avatar {
        Avatar::of(&self.person, &self.person)
    }

    pub async fn of(
        hub: &Hub,
        user: &SignedInUser,
        request: &PageRequest,
        section: PageSection,
        title: impl Into<String>,
    ) -> Result<Self, PageError> {
        let person = user.name.clone();
        let counts = hub.store.run(Counts { person }).await?;
        Ok(Self {
            person: user.name.clone(),
            me: if user.may_decide() {
                person_mark(&user.name)
            } else {
                String::new()
            },
            is_owner: user.is_owner(),
            csrf: user.csrf.clone(),
            open: open_count(hub, user, counts).await?,
            counts,
            now_ms: Some(hub.store.clock().now().as_millis()),
            ..Self::anonymous(request, section, title)
        })
    }

    pub fn modules(&self) -> impl Iterator<Item = &'static str> {
        assets::modules(self.look.language)
    }

    /// The layout without a signed-in user.
    pub fn anonymous(request: &PageRequest, section: PageSection, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            section,
            fragment: request.fragment,
            person: String::new(),
            me: String::new(),
            is_owner: false,
            csrf: String::new(),
            open: OpenCount::default(),
            counts: CountsNow::default(),
            now_ms: None,
            query: String::new(),
            assets: assets::base(),
            look: request.look,
            path: request.path.clone(),
        }
    }
}

async fn open_count(hub: &Hub, user: &SignedInUser, counts: CountsNow) -> Result<OpenCount, StoreError> {
    if !user.may_decide() {
        return Ok(OpenCount {
            counted: usize::try_from(counts.open).unwrap_or_default(),
            has_more: false,
        });
    }
    let person = user.name.clone();
    hub.store.run(OpenFor { person }).await
}

#[derive(Template)]
#[template(source = r#"{% extends "base.html" %}"#, ext = "html")]
struct CountsPage {
    layout: PageLayout,
}

/// GET /inbox/counts: a page with only the counts, for scripts.
pub async fn counts(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
) -> Result<Response, PageError> {
    if !request.fragment {
        return Ok(see_other("/inbox"));
    }
    let layout = PageLayout::of(&hub, &user, &request, PageSection::List, t("Inbox")).await?;
    Ok(render(StatusCode::OK, &CountsPage { layout }))
}

pub fn render<T: Template>(status: StatusCode, template: &T) -> Response {
    match template.render() {
        Ok(text) => (status, HEADERS, text).into_response(),
        Err(error) => {
            let id = error_id();
            tracing::error!(error_id = %id, %error, "rendering a page failed");
            Problem::Unavailable { id }.into_response()
        }
    }
}

pub fn see_other(path: &str) -> Response {
    let location = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/inbox"));
    (
        StatusCode::SEE_OTHER,
        [
            (header::LOCATION, location),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ],
    )
        .into_response()
}

/// The path a form redirects to, if it is one of our pages; else the inbox. Prevents open redirects.
pub fn back(path: &str) -> &str {
    let is_below = |page: &str| {
        path.strip_prefix(page)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
    };
    let is_ours = is_below("/inbox") || is_below("/runs");
    if is_ours && !path.contains(['\\', '\r', '\n']) {
        path
    } else {
        "/inbox"
    }
}

/// The reason why a page cannot be shown.
#[derive(Debug)]
pub enum PageError {
    Problem(Problem),
    /// No user is signed in; after the sign-in the browser continues at `next`.
    SignIn {
        next: String,
    },
    /// The session ended while the page was open.
    SignedOut,
}

impl PageError {
    pub fn owners_only() -> Self {
        Self::Problem(Problem::NotAuthorized {
            message: "only an owner may do this".to_owned(),
        })
    }

    pub fn foreign_form() -> Self {
        let message = "this form is not from one of your pages, or you have signed in again since; reload the page";
        Self::Problem(Problem::NotAuthorized {
            message: message.to_owned(),
        })
    }
}

impl From<Problem> for PageError {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<StoreError> for PageError {
    #[track_caller]
    fn from(error: StoreError) -> Self {
        Self::Problem(error.into())
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage {
    layout: PageLayout,
    status: u16,
    message: String,
    request_id: Option<RequestId>,
    signed_out: bool,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (problem, signed_out) = match self {
            Self::SignIn { next } => {
                let next: String = byte_serialize(next.as_bytes()).collect();
                return see_other(&format!("/signin?next={next}"));
            }
            Self::SignedOut => (Problem::Unauthenticated, true),
            Self::Problem(problem) => (problem, false),
        };
        let request = PageRequest {
            look: look::current(),
            ..PageRequest::default()
        };
        let layout = PageLayout::anonymous(&request, PageSection::Settings, t("Not possible"));
        let message = match &problem {
            _ if signed_out => t("You are signed out.").to_owned(),
            Problem::Unavailable { id } => say!(
                "{message} (the log has the reason under {id})",
                message = problem_text(&problem),
                id = id
            ),
            _ => problem_text(&problem),
        };
        let status = problem.status();
        let page = ProblemPage {
            layout,
            status: status.as_u16(),
            message,
            request_id: problem.request_id(),
            signed_out,
        };
        let mut response = render(status, &page);
        problem.add_headers(response.headers_mut());
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_redirects_to_our_own_pages_only() {
        assert_eq!(back("/inbox?tag=a"), "/inbox?tag=a");
        assert_eq!(back("/inbox/history"), "/inbox/history");
        assert_eq!(
            [back("/runs"), back("/runs/run-1?before=7")],
            ["/runs", "/runs/run-1?before=7"]
        );
        for foreign in [
            "//evil.example",
            "https://evil.example",
            "/inboxes",
            "/runs.example",
            "/inbox/\r\nset-cookie: a",
            "",
        ] {
            assert_eq!(back(foreign), "/inbox");
        }
    }
}
