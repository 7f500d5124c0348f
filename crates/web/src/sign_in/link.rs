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
use countersign_store::ops::account::credential::{CredentialKind, IsLinkValid, RedeemLink};
use countersign_store::ops::account::passkey::Passkeys;
use countersign_store::ops::account::password::PasswordOf;
use countersign_store::ops::list::Counts;

use super::anonymous::{AnonymousForm, FormToken};
use super::session::{NewBrowserSession, end_previous_session};
use crate::layout::filters;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render, see_other};

#[derive(Template)]
#[template(path = "sign_in_link.html")]
struct LinkPage {
    layout: PageLayout,
    csrf: String,
}

#[derive(Template)]
#[template(path = "sign_in_used.html")]
struct UsedPage {
    layout: PageLayout,
}

/// Opening the link only shows a button, because mail scanners and previews open links too.
pub async fn page(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let form_token = FormToken::of(&hub, &headers)?;
    let layout = PageLayout::anonymous(&request, PageSection::SignIn, "Sign in");
    let page = render(
        StatusCode::OK,
        &LinkPage {
            layout,
            csrf: form_token.value.clone(),
        },
    );
    Ok(form_token.set_on(page))
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
    let Some(person) = redeem_token(&hub, &token, &new_session).await? else {
        hub.auth.sign_in_limiter.record_miss(from).await?;
        let layout = PageLayout::anonymous(&request, PageSection::SignIn, "This link no longer works");
        return Ok(render(StatusCode::GONE, &UsedPage { layout }));
    };
    end_previous_session(&hub, &posted.headers).await?;
    let mut response = see_other(next_page(&hub, &person).await?);
    response
        .headers_mut()
        .append(header::SET_COOKIE, new_session.cookie(&hub));
    Ok(response)
}

/// Redeems the link and returns its person. Made-up tokens are refused by a read, so that they cannot load the store's
/// single writer.
async fn redeem_token(hub: &Hub, token: &str, new_session: &NewBrowserSession) -> Result<Option<String>, Problem> {
    if !looks_like(CredentialKind::SignIn, token) {
        return Ok(None);
    }
    let link = hash_token(token);
    if !hub.store.run(IsLinkValid { link }).await? {
        return Ok(None);
    }
    Ok(hub
        .store
        .run(RedeemLink {
            link,
            session: new_session.session.clone(),
        })
        .await?)
}

/// The inbox if items are open; else the settings, if the person has no password or passkey yet.
async fn next_page(hub: &Hub, person: &str) -> Result<&'static str, PageError> {
    let has_open_items = hub
        .store
        .run(Counts {
            person: person.to_owned(),
        })
        .await?
        .open
        > 0;
    Ok(if has_open_items || has_other_sign_in(hub, person).await? {
        "/inbox"
    } else {
        "/inbox/settings?welcome"
    })
}

/// True if the person can sign in without another link.
async fn has_other_sign_in(hub: &Hub, person: &str) -> Result<bool, PageError> {
    let person = person.to_owned();
    let has_password = hub.store.run(PasswordOf { person: person.clone() }).await?.is_some();
    Ok(has_password || !hub.store.run(Passkeys { person }).await?.is_empty())
}
