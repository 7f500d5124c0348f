//! GET and POST /signin: sign-in with name and password.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use countersign_core::access::check_person_name;
use countersign_hub::Hub;
use countersign_hub::http::client_addr::ClientAddr;
use countersign_store::ops::account::credential::StartSession;
use countersign_store::ops::account::password::PasswordOf;

use super::anonymous::{AnonymousForm, FormToken};
use super::loopback::is_loopback_ip;
use super::session::{NewBrowserSession, end_previous_session};
use crate::language::t;
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, back, render, see_other};
use crate::layout::signed_in_user::SignedInUser;

const MAX_NEXT_BYTES: usize = 512;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    layout: PageLayout,
    csrf: String,
    next: String,
    name: String,
    is_wrong: bool,
    /// The address at which passkeys work, if they do not work at this one.
    passkey_url: Option<String>,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let query = FormFields::parse(query.unwrap_or_default().as_bytes());
    let next = back(query.text("next"));
    // A page with a longer address is not returned to, because the form has to stay small.
    let next = if next.len() <= MAX_NEXT_BYTES { next } else { "/inbox" };
    if SignedInUser::from_headers(&headers, &hub).await?.is_some() {
        return Ok(see_other(next));
    }
    shown(&hub, &request, &headers, StatusCode::OK, next, "")
}

fn shown(
    hub: &Hub,
    request: &PageRequest,
    headers: &HeaderMap,
    status: StatusCode,
    next: &str,
    name: &str,
) -> Result<Response, PageError> {
    let form_token = FormToken::of(hub, headers)?;
    let page = SignInPage {
        layout: PageLayout::anonymous(request, PageSection::SignIn, t("Sign in")),
        csrf: form_token.value.clone(),
        next: next.to_owned(),
        name: name.to_owned(),
        is_wrong: status != StatusCode::OK,
        passkey_url: passkey_url(hub, headers),
    };
    Ok(form_token.set_on(render(status, &page)))
}

/// A proxy may rewrite the Host header, so it is only trusted if no `public_url` is set.
fn passkey_url(hub: &Hub, headers: &HeaderMap) -> Option<String> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let is_wrong = hub.config.public_url.is_none() && is_loopback_ip(host);
    is_wrong.then(|| format!("{}/signin", hub.process.browser_url()))
}

pub async fn sign_in(
    State(hub): State<Arc<Hub>>,
    ClientAddr(from): ClientAddr,
    request: PageRequest,
    posted: AnonymousForm,
) -> Result<Response, PageError> {
    let headers = &posted.headers;
    let fields = &posted.fields;
    let name = fields.text("name").trim();
    let next = back(fields.text("next"));
    hub.auth.sign_in_limiter.by_password(name, from).await?;
    let stored = match check_person_name(name).is_ok() {
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
    let new_session = NewBrowserSession::for_browser(&hub, headers)?;
    let is_right = hub.auth.passwords.matches(fields.text("password"), stored).await?;
    let start = StartSession {
        person: name.to_owned(),
        session: new_session.session.clone(),
    };
    if !is_right || !hub.store.run(start).await? {
        // People sometimes type a password into the name field, so unknown names stay out of the log.
        match (is_known, is_right) {
            (true, false) => tracing::warn!(person = name, %from, "sign-in failed: wrong password"),
            (true, true) => tracing::warn!(person = name, %from, "sign-in failed: the account was removed meanwhile"),
            (false, _) => tracing::warn!(%from, "sign-in failed: unknown name, or no password set"),
        }
        return shown(&hub, &request, headers, StatusCode::UNPROCESSABLE_ENTITY, next, name);
    }
    end_previous_session(&hub, headers).await?;
    let mut response = see_other(next);
    response
        .headers_mut()
        .append(header::SET_COOKIE, new_session.cookie(&hub));
    Ok(response)
}
