//! A page: the shell around it, the headers with it, and what is shown when there is none.

use std::convert::Infallible;
use std::sync::Arc;

use askama::Template;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::StoreError;
use countersign_store::model::CountsNow;
use countersign_store::ops::list::Counts;
use url::form_urlencoded::byte_serialize;

use super::filters;
use super::signed_in::Visitor;
use crate::assets;
use crate::lists::row::mark_of;

/// Everything comes from this hub, no script or style stands in a page, and HTML is put into a page by one policy only.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types countersign";

/// Of every page. The referrer stays within the hub: without one, browsers hide where a form comes from.
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

/// How a page was asked for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// A script wants the inside of the page only.
    pub fragment: bool,
    /// Path and query.
    pub path: String,
}

impl Asked {
    pub fn from_parts(parts: &Parts) -> Self {
        let path = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        Self {
            fragment: parts.headers.contains_key("x-fragment"),
            path,
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::from_parts(parts))
    }
}

/// Where in the inbox a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Here {
    List,
    Notices,
    Aside,
    History,
    Search,
    Item,
    Terminals,
    Runs,
    Run,
    Settings,
    SignIn,
}

impl Here {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Notices => "notices",
            Self::Aside => "aside",
            Self::History => "history",
            Self::Search => "search",
            Self::Item => "item",
            Self::Terminals => "terminals",
            Self::Runs => "runs",
            Self::Run => "run",
            Self::Settings => "settings",
            Self::SignIn => "signin",
        }
    }
}

/// What stands around the content of a page.
pub struct Shell {
    pub title: String,
    pub here: Here,
    pub fragment: bool,
    /// Empty for somebody who is not signed in.
    pub person: String,
    /// How rows name the reader among those who may answer; empty for somebody who may answer nothing.
    pub me: String,
    pub is_owner: bool,
    pub csrf: String,
    pub counts: CountsNow,
    /// What the hub's clock says, for pages whose reader's clock is wrong.
    pub now_ms: Option<i64>,
    /// What the search field holds.
    pub query: String,
    pub assets: &'static str,
}

impl Shell {
    pub async fn of(
        hub: &Hub,
        visitor: &Visitor,
        asked: &Asked,
        here: Here,
        title: impl Into<String>,
    ) -> Result<Self, Failure> {
        let counts = hub
            .store
            .run(Counts {
                person: visitor.name.clone(),
            })
            .await?;
        Ok(Self {
            person: visitor.name.clone(),
            me: if visitor.may_decide() {
                mark_of(&visitor.name)
            } else {
                String::new()
            },
            is_owner: visitor.is_owner(),
            csrf: visitor.csrf.clone(),
            counts,
            now_ms: Some(hub.store.clock().now().as_millis()),
            ..Self::anonymous(asked, here, title)
        })
    }

    pub fn modules(&self) -> impl Iterator<Item = &'static str> {
        assets::modules()
    }

    /// For somebody who is not signed in.
    pub fn anonymous(asked: &Asked, here: Here, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            here,
            fragment: asked.fragment,
            person: String::new(),
            me: String::new(),
            is_owner: false,
            csrf: String::new(),
            counts: CountsNow::default(),
            now_ms: None,
            query: String::new(),
            assets: assets::base(),
        }
    }
}

#[derive(Template)]
#[template(source = r#"{% extends "base.html" %}"#, ext = "html")]
struct CountsPage {
    shell: Shell,
}

/// GET /inbox/counts: a page that says how many wait and nothing else, for scripts.
pub async fn counts(State(hub): State<Arc<Hub>>, visitor: Visitor, asked: Asked) -> Result<Response, Failure> {
    if !asked.fragment {
        return Ok(see_other("/inbox"));
    }
    let shell = Shell::of(&hub, &visitor, &asked, Here::List, "Inbox").await?;
    Ok(render(StatusCode::OK, &CountsPage { shell }))
}

pub fn render<T: Template>(status: StatusCode, template: &T) -> Response {
    match template.render() {
        Ok(text) => (status, HEADERS, text).into_response(),
        Err(error) => {
            let id = uuid::Uuid::new_v4();
            tracing::error!(%id, %error, "a page could not be rendered");
            Problem::Unavailable { id }.into_response()
        }
    }
}

pub fn see_other(path: &str) -> Response {
    let place = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/inbox"));
    (
        StatusCode::SEE_OTHER,
        [
            (header::LOCATION, place),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ],
    )
        .into_response()
}

/// Where a form wants to go back to, if that is a place of ours.
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

/// Why there is no page.
#[derive(Debug)]
pub enum Failure {
    Problem(Problem),
    /// Nobody is signed in; afterwards the reader wants to go on there.
    SignIn {
        next: String,
    },
    /// The session has ended under an open page.
    SignedOut,
}

impl Failure {
    pub fn owners_only() -> Self {
        Self::Problem(Problem::NotAuthorized {
            message: "only an owner may do this".to_owned(),
        })
    }

    pub fn foreign_form() -> Self {
        let message = "this form did not come from a page of yours, or you signed in again since; reload the page";
        Self::Problem(Problem::NotAuthorized {
            message: message.to_owned(),
        })
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Problem(error.into())
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage {
    shell: Shell,
    status: u16,
    message: String,
    signed_out: bool,
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (problem, signed_out) = match self {
            Self::SignIn { next } => {
                let next: String = byte_serialize(next.as_bytes()).collect();
                return see_other(&format!("/signin?next={next}"));
            }
            Self::SignedOut => (Problem::Unauthenticated, true),
            Self::Problem(problem) => (problem, false),
        };
        let shell = Shell::anonymous(&Asked::default(), Here::Settings, "Not possible");
        let message = match &problem {
            _ if signed_out => "You are signed out.".to_owned(),
            Problem::Unavailable { id } => format!("{} (the log has the reason under {id})", problem.message()),
            _ => problem.message(),
        };
        let status = problem.status();
        let page = ProblemPage {
            shell,
            status: status.as_u16(),
            message,
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
    fn a_form_leads_back_to_places_of_ours_only() {
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
