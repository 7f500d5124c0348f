//! One's own settings: how one signs in, where one is signed in, and how the pages behave here.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_hub::serve::is_per_start;
use countersign_store::ops::credential::{EndOtherSessions, Kind, ListCredentials};
use countersign_store::ops::passkey::Passkeys;
use countersign_store::ops::password::{PasswordOf, SetPassword};

use super::flash::{DoneQuery, Word};
use crate::frame::filters;
use crate::frame::form::Posted;
use crate::frame::format::{Instant, instant};
use crate::frame::page::{Asked, Failure, Here, Shell, render, see_other};
use crate::frame::signed_in::Visitor;
use crate::sign_in::password;

pub struct PasskeyRow {
    id: String,
    name: String,
    created_at: Instant,
    used_at: Option<Instant>,
}

/// A session or a token.
pub struct CredentialRow {
    id: String,
    label: String,
    created_at: Instant,
    /// In use right here: the session of this browser, or the token of the hub's own machine.
    is_this: bool,
}

#[derive(Template)]
#[template(path = "settings_own.html")]
struct OwnPage {
    shell: Shell,
    word: Word,
    role: &'static str,
    has_password: bool,
    passkeys: Vec<PasskeyRow>,
    sessions: Vec<CredentialRow>,
    tokens: Vec<CredentialRow>,
    terminal_tokens: Vec<CredentialRow>,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    visitor: Visitor,
    asked: Asked,
    query: DoneQuery,
) -> Result<Response, Failure> {
    show(&hub, &visitor, &asked, Word::from_query(&query)).await
}

pub async fn show(hub: &Hub, visitor: &Visitor, asked: &Asked, word: Word) -> Result<Response, Failure> {
    let person = visitor.name.clone();
    let page = OwnPage {
        shell: Shell::of(hub, visitor, asked, Here::Settings, "Settings").await?,
        role: visitor.role.as_str(),
        has_password: hub.store.run(PasswordOf { person: person.clone() }).await?.is_some(),
        passkeys: passkeys(hub, &person).await?,
        sessions: credentials(hub, visitor, Kind::Session).await?,
        tokens: credentials(hub, visitor, Kind::Person).await?,
        terminal_tokens: credentials(hub, visitor, Kind::Terminal).await?,
        word,
    };
    Ok(render(page.word.status(), &page))
}

async fn passkeys(hub: &Hub, person: &str) -> Result<Vec<PasskeyRow>, Failure> {
    let found = hub
        .store
        .run(Passkeys {
            person: person.to_owned(),
        })
        .await?;
    let row = |passkey: countersign_store::model::Passkey| PasskeyRow {
        id: URL_SAFE_NO_PAD.encode(passkey.id),
        name: passkey.name,
        created_at: instant(passkey.created_at),
        used_at: passkey.used_at.map(instant),
    };
    Ok(found.into_iter().map(row).collect())
}

async fn credentials(hub: &Hub, visitor: &Visitor, kind: Kind) -> Result<Vec<CredentialRow>, Failure> {
    let found = hub
        .store
        .run(ListCredentials {
            person: visitor.name.clone(),
            kind,
        })
        .await?;
    let this = visitor.session_id();
    let row = |credential: countersign_store::model::CredentialSummary| CredentialRow {
        is_this: credential.id == this || (kind != Kind::Session && is_per_start(&credential.label)),
        id: credential.id,
        label: credential.label,
        created_at: instant(credential.created_at),
    };
    Ok(found.into_iter().map(row).collect())
}

/// A borrowed browser must not be able to change the password: whoever has one must know it.
pub async fn set_password(State(hub): State<Arc<Hub>>, asked: Asked, posted: Posted) -> Result<Response, Failure> {
    let Posted { visitor, fields } = posted;
    let new = fields.text("password");
    let again = fields.text("again");
    let current = fields.text("current");
    let set = async {
        check_current(&hub, &visitor, current).await?;
        if new != again {
            return Err(Problem::invalid(
                "again",
                "the two passwords differ; type the same one twice",
            ));
        }
        password::check_new(&visitor.name, new)?;
        let hash = Some(password::hash(&hub, new).await?);
        put_password(&hub, &visitor, hash).await
    };
    match set.await {
        Ok(()) => Ok(see_other("/inbox/settings?done=password")),
        Err(problem) => show(&hub, &visitor, &asked, problem.into()).await,
    }
}

async fn check_current(hub: &Hub, visitor: &Visitor, typed: &str) -> Result<(), Problem> {
    let Some(hash) = hub
        .store
        .run(PasswordOf {
            person: visitor.name.clone(),
        })
        .await?
    else {
        return Ok(());
    };
    password::throttle(hub, visitor).await?;
    if password::verify(hub, &hash, typed).await? {
        return Ok(());
    }
    Err(Problem::invalid("current", "this is not your present password"))
}

pub async fn remove_password(State(hub): State<Arc<Hub>>, asked: Asked, posted: Posted) -> Result<Response, Failure> {
    let Posted { visitor, fields } = posted;
    if let Err(problem) = check_current(&hub, &visitor, fields.text("current")).await {
        return show(&hub, &visitor, &asked, problem.into()).await;
    }
    put_password(&hub, &visitor, None).await?;
    Ok(see_other("/inbox/settings?done=password-removed"))
}

/// Whoever came in by the old password is out again: only this browser stays signed in.
async fn put_password(hub: &Hub, visitor: &Visitor, hash: Option<String>) -> Result<(), Problem> {
    let person = visitor.name.clone();
    let actor = visitor.actor().to_string();
    let store = Arc::clone(&hub.store);
    let keep = visitor.session;
    let change = async move {
        store
            .run(SetPassword {
                person: person.clone(),
                hash,
                actor: actor.clone(),
            })
            .await?;
        store.run(EndOtherSessions { person, keep, actor }).await
    };
    hub.ending_credentials(change).await?;
    Ok(())
}
