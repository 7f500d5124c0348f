//! GET and POST /signin/{token}: a link that works once.

use std::sync::Arc;

use askama::Template;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::auth::{Peer, hash_token, looks_like};
use countersign_hub::problem::Problem;
use countersign_store::ops::credential::{Kind, LinkWorks, RedeemLink};
use countersign_store::ops::list::Counts;
use countersign_store::ops::passkey::Passkeys;
use countersign_store::ops::password::PasswordOf;

use super::anonymous::{Pass, StrangerPosted};
use super::session::{Fresh, leave_earlier};
use crate::frame::filters;
use crate::frame::page::{Asked, Failure, Here, Shell, render, see_other};

#[derive(Template)]
#[template(path = "sign_in_link.html")]
struct LinkPage {
    shell: Shell,
    csrf: String,
}

#[derive(Template)]
#[template(path = "sign_in_used.html")]
struct UsedPage {
    shell: Shell,
}

/// Opening the link does nothing yet: links are opened by scanners and previews too. The button does.
pub async fn page(State(hub): State<Arc<Hub>>, asked: Asked, headers: HeaderMap) -> Result<Response, Failure> {
    let pass = Pass::of(&hub, &headers)?;
    let shell = Shell::anonymous(&asked, Here::SignIn, "Sign in");
    let page = render(
        StatusCode::OK,
        &LinkPage {
            shell,
            csrf: pass.value.clone(),
        },
    );
    Ok(pass.put_on(page))
}

pub async fn redeem(
    State(hub): State<Arc<Hub>>,
    Peer(from): Peer,
    path: Result<Path<String>, PathRejection>,
    asked: Asked,
    posted: StrangerPosted,
) -> Result<Response, Failure> {
    // What is no text at all is no link of ours either.
    let token = path.map(|Path(token)| token).unwrap_or_default();
    let fresh = Fresh::for_browser(&hub, &posted.headers)?;
    let Some(person) = use_up(&hub, &token, &fresh).await? else {
        hub.sign_in_attempts.missed(from).await?;
        let shell = Shell::anonymous(&asked, Here::SignIn, "This link no longer works");
        return Ok(render(StatusCode::GONE, &UsedPage { shell }));
    };
    leave_earlier(&hub, &posted.headers).await?;
    let mut response = see_other(next_page(&hub, &person).await?);
    response.headers_mut().append(header::SET_COOKIE, fresh.cookie(&hub));
    Ok(response)
}

/// Whom the link stood for. The writer, whom everybody shares, is not asked about what anybody might make up.
async fn use_up(hub: &Hub, token: &str, fresh: &Fresh) -> Result<Option<String>, Problem> {
    if !looks_like(Kind::SignIn, token) {
        return Ok(None);
    }
    let link = hash_token(token);
    if !hub.store.run(LinkWorks { link }).await? {
        return Ok(None);
    }
    Ok(hub
        .store
        .run(RedeemLink {
            link,
            session: fresh.session.clone(),
        })
        .await?)
}

/// What waits comes first; where nothing does, there is time for a password.
async fn next_page(hub: &Hub, person: &str) -> Result<&'static str, Failure> {
    let waits = hub
        .store
        .run(Counts {
            person: person.to_owned(),
        })
        .await?
        .open
        > 0;
    Ok(if waits || can_come_back(hub, person).await? {
        "/inbox"
    } else {
        "/inbox/settings?welcome"
    })
}

/// Whether the person can sign in without another link.
async fn can_come_back(hub: &Hub, person: &str) -> Result<bool, Failure> {
    let person = person.to_owned();
    let has_password = hub.store.run(PasswordOf { person: person.clone() }).await?.is_some();
    Ok(has_password || !hub.store.run(Passkeys { person }).await?.is_empty())
}
