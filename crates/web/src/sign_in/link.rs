//! GET and POST /signin/{token}: one-time sign-in links.

use std::sync::Arc;

use askama::Template;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::auth::{hash_token, looks_like};
use countersign_hub::http::client_addr::ClientAddr;
use countersign_hub::problem::Problem;
use countersign_store::ops::account::credential::{CredentialKind, PersonOfLink, RedeemLink};

use super::anonymous::{AnonymousForm, FormToken};
use super::session::{NewBrowserSession, end_previous_session};
use crate::language::t;
use crate::layout::filters;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render, see_other};

#[derive(Template)]
#[template(path = "sign_in_link.html")]
struct LinkPage {
    layout: PageLayout,
    csrf: String,
    person: String,
}

#[derive(Template)]
#[template(path = "sign_in_used.html")]
struct UsedPage {
    layout: PageLayout,
}

/// Opening the link only shows a button, because mail scanners and previews open links too. A link that was used
/// before says so at once.
pub async fn page(
    State(hub): State<Arc<Hub>>,
    path: Result<Path<String>, PathRejection>,
    request: PageRequest,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let token = path.map(|Path(token)| token).unwrap_or_default();
    let Some(person) = person_of(&hub, &token).await? else {
        return Ok(used(&request));
    };
    let form_token = FormToken::of(&hub, &headers)?;
    let layout = PageLayout::anonymous(&request, PageSection::SignIn, t("Sign in"));
    let page = render(
        StatusCode::OK,
        &LinkPage {
            layout,
            csrf: form_token.value.clone(),
            person,
        },
    );
    Ok(form_token.set_on(page))
}

fn used(request: &PageRequest) -> Response {
    let layout = PageLayout::anonymous(request, PageSection::SignIn, t("This link no longer works"));
    render(StatusCode::GONE, &UsedPage { layout })
}

pub async fn redeem(
    State(hub): State<Arc<Hub>>,
    ClientAddr(from): ClientAddr,
    path: Result<Path<String>, PathRejection>,
    request: PageRequest,
    posted: AnonymousForm,
) -> Result<Response, PageError> {
    // A path that is not valid UTF-8 counts as an unknown token.
    let token = path.map(|Path(token)| token).unwrap_or_default();
    let new_session = NewBrowserSession::for_browser(&hub, &posted.headers)?;
    if redeem_token(&hub, &token, &new_session).await?.is_none() {
        hub.auth.sign_in_limiter.record_miss(from).await?;
        return Ok(used(&request));
    }
    end_previous_session(&hub, &posted.headers).await?;
    let mut response = see_other("/inbox");
    response
        .headers_mut()
        .append(header::SET_COOKIE, new_session.cookie(&hub));
    Ok(response)
}

/// Redeems the link and returns its person. Made-up tokens are refused by a read, so that they cannot load the store's
/// single writer.
async fn redeem_token(hub: &Hub, token: &str, new_session: &NewBrowserSession) -> Result<Option<String>, Problem> {
    if person_of(hub, token).await?.is_none() {
        return Ok(None);
    }
    Ok(hub
        .store
        .run(RedeemLink {
            link: hash_token(token),
            session: new_session.session.clone(),
        })
        .await?)
}

/// The person whom a valid link signs in.
async fn person_of(hub: &Hub, token: &str) -> Result<Option<String>, Problem> {
    if !looks_like(CredentialKind::SignIn, token) {
        return Ok(None);
    }
    let link = hash_token(token);
    Ok(hub.store.run(PersonOfLink { link }).await?)
}
