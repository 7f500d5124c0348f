//! GET and POST /signin: a name and a password.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use countersign_core::access::is_person_name;
use countersign_hub::Hub;
use countersign_hub::auth::Peer;
use countersign_store::ops::credential::StartSession;
use countersign_store::ops::password::PasswordOf;

use super::address::is_loopback_number;
use super::anonymous::{Pass, StrangerPosted};
use super::session::{Fresh, leave_earlier};
use crate::frame::filters;
use crate::frame::form::Fields;
use crate::frame::page::{Asked, Failure, Here, Shell, back, render, see_other};
use crate::frame::signed_in::Visitor;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    shell: Shell,
    csrf: String,
    next: String,
    name: String,
    is_wrong: bool,
    /// Where to open the page instead, when passkeys do not work where it was opened.
    elsewhere: Option<String>,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    asked: Asked,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let query = Fields::parse(query.unwrap_or_default().as_bytes());
    let next = back(query.text("next"));
    if Visitor::from_headers(&headers, &hub).await?.is_some() {
        return Ok(see_other(next));
    }
    shown(&hub, &asked, &headers, StatusCode::OK, next, "")
}

fn shown(
    hub: &Hub,
    asked: &Asked,
    headers: &HeaderMap,
    status: StatusCode,
    next: &str,
    name: &str,
) -> Result<Response, Failure> {
    let pass = Pass::of(hub, headers)?;
    let page = SignInPage {
        shell: Shell::anonymous(asked, Here::SignIn, "Sign in"),
        csrf: pass.value.clone(),
        next: next.to_owned(),
        name: name.to_owned(),
        is_wrong: status != StatusCode::OK,
        elsewhere: elsewhere(hub, headers),
    };
    Ok(pass.put_on(render(status, &page)))
}

/// A proxy may write the host anew, so it says something only where there is none.
fn elsewhere(hub: &Hub, headers: &HeaderMap) -> Option<String> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let is_wrong = hub.config.public_url.is_none() && is_loopback_number(host);
    is_wrong.then(|| format!("{}/signin", hub.browser_url()))
}

pub async fn sign_in(
    State(hub): State<Arc<Hub>>,
    Peer(from): Peer,
    asked: Asked,
    posted: StrangerPosted,
) -> Result<Response, Failure> {
    let headers = &posted.headers;
    let fields = &posted.fields;
    let name = fields.text("name").trim();
    let next = back(fields.text("next"));
    hub.sign_in_attempts.by_password(name, from).await?;
    let stored = match is_person_name(name) {
        true => {
            hub.store
                .run(PasswordOf {
                    person: name.to_owned(),
                })
                .await?
        }
        false => None,
    };
    let is_known = stored.is_some();
    let fresh = Fresh::for_browser(&hub, headers)?;
    let is_right = hub.passwords.matches(fields.text("password"), stored).await?;
    let start = StartSession {
        person: name.to_owned(),
        session: fresh.session.clone(),
    };
    if !is_right || !hub.store.run(start).await? {
        // People type passwords into the field of the name: what is nobody's name stays out of the log.
        match is_known {
            true => tracing::warn!(person = name, %from, "a wrong password"),
            false => tracing::warn!(%from, "a sign-in under an unknown name, or one without a password"),
        }
        return shown(&hub, &asked, headers, StatusCode::UNPROCESSABLE_ENTITY, next, name);
    }
    leave_earlier(&hub, headers).await?;
    let mut response = see_other(next);
    response.headers_mut().append(header::SET_COOKIE, fresh.cookie(&hub));
    Ok(response)
}
