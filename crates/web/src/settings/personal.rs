//! Personal settings: ways to sign in, open sessions, tokens, and preferences for the pages.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::hold::MAX_UNDO_SECONDS;
use countersign_hub::Hub;
use countersign_hub::auth::node_of_label;
use countersign_hub::problem::Problem;
use countersign_store::ops::account::credential::{CredentialKind, EndOtherSessions, ListCredentials};
use countersign_store::ops::account::passkey::Passkeys;
use countersign_store::ops::account::password::{PasswordOf, SetPassword};
use countersign_store::ops::message::hold::UndoSeconds;

use super::flash::{DoneQuery, FlashMessage};
use crate::language::t;
use crate::layout::filters;
use crate::layout::form::PostedForm;
use crate::layout::formatting::{DisplayTime, display_time};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render, see_other};
use crate::layout::signed_in_user::SignedInUser;
use crate::sign_in::device_label;
use crate::sign_in::password;
use crate::sign_in::proof::IdentityProof;

pub struct PasskeyRow {
    id: String,
    name: String,
    created_at: DisplayTime,
    used_at: Option<DisplayTime>,
}

/// A session or a token.
pub struct CredentialRow {
    id: String,
    label: String,
    created_at: DisplayTime,
    /// The session of this browser, or the token that this node makes for its own machine.
    is_this: bool,
    /// The node that made the token for its own machine, if it is another node.
    other_node: Option<String>,
}

#[derive(Template)]
#[template(path = "settings_own.html")]
struct PersonalPage {
    layout: PageLayout,
    flash: FlashMessage,
    role: &'static str,
    has_password: bool,
    passkeys: Vec<PasskeyRow>,
    proof: IdentityProof,
    sessions: Vec<CredentialRow>,
    tokens: Vec<CredentialRow>,
    terminal_tokens: Vec<CredentialRow>,
    undo_seconds: u32,
    max_undo_seconds: u32,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
    query: DoneQuery,
) -> Result<Response, PageError> {
    show(&hub, &user, &request, FlashMessage::from_query(&query)).await
}

pub async fn show(
    hub: &Hub,
    user: &SignedInUser,
    request: &PageRequest,
    flash: FlashMessage,
) -> Result<Response, PageError> {
    let person = user.name.clone();
    let page = PersonalPage {
        layout: PageLayout::of(hub, user, request, PageSection::Settings, t("Settings")).await?,
        role: user.role.as_str(),
        has_password: hub.store.run(PasswordOf { person: person.clone() }).await?.is_some(),
        passkeys: passkeys(hub, &person).await?,
        proof: IdentityProof::asked_of(hub, user).await?,
        sessions: credentials(hub, user, CredentialKind::Session).await?,
        tokens: credentials(hub, user, CredentialKind::Person).await?,
        terminal_tokens: credentials(hub, user, CredentialKind::Terminal).await?,
        undo_seconds: hub
            .store
            .run(UndoSeconds { person })
            .await?
            .unwrap_or(hub.config.undo_seconds),
        max_undo_seconds: MAX_UNDO_SECONDS,
        flash,
    };
    Ok(render(page.flash.status(), &page))
}

async fn passkeys(hub: &Hub, person: &str) -> Result<Vec<PasskeyRow>, PageError> {
    let found = hub
        .store
        .run(Passkeys {
            person: person.to_owned(),
        })
        .await?;
    let row = |passkey: countersign_store::model::Passkey| PasskeyRow {
        id: URL_SAFE_NO_PAD.encode(passkey.id),
        name: passkey.name,
        created_at: display_time(passkey.created_at),
        used_at: passkey.used_at.map(display_time),
    };
    Ok(found.into_iter().map(row).collect())
}

async fn credentials(hub: &Hub, user: &SignedInUser, kind: CredentialKind) -> Result<Vec<CredentialRow>, PageError> {
    let found = hub
        .store
        .run(ListCredentials {
            person: user.name.clone(),
            kind,
        })
        .await?;
    let this_session = user.session_id();
    let start_label = hub.auth.start_label();
    let is_token = kind != CredentialKind::Session;
    let row = |credential: countersign_store::model::CredentialSummary| CredentialRow {
        is_this: credential.id == this_session || (is_token && credential.label == start_label),
        other_node: node_of_label(&credential.label)
            .filter(|_| is_token && credential.label != start_label)
            .map(str::to_owned),
        id: credential.id,
        label: match is_token {
            true => credential.label,
            false => device_label::translated(&credential.label),
        },
        created_at: display_time(credential.created_at),
    };
    Ok(found.into_iter().map(row).collect())
}

/// Setting a new password needs the current one, and the first one a fresh sign-in, so that a borrowed browser is not
/// enough.
pub async fn set_password(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    let new = fields.text("password");
    let again = fields.text("again");
    let current = fields.text("current");
    let set = async {
        IdentityProof::check_for_password(&hub, &user, current).await?;
        if new != again {
            return Err(Problem::invalid(
                "again",
                t("the two passwords differ; type the same one twice"),
            ));
        }
        password::check_new(&user.name, new)?;
        let hash = Some(password::hash(&hub, new).await?);
        put_password(&hub, &user, hash).await
    };
    match set.await {
        Ok(()) => Ok(see_other("/inbox/settings?done=password")),
        Err(problem) => show(&hub, &user, &request, problem.into()).await,
    }
}

pub async fn remove_password(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    if let Err(problem) = password::check_current(&hub, &user, fields.text("current")).await {
        return show(&hub, &user, &request, problem.into()).await;
    }
    put_password(&hub, &user, None).await?;
    Ok(see_other("/inbox/settings?done=password-removed"))
}

/// Sets the password and ends all other sessions, because they may have signed in with the old password.
async fn put_password(hub: &Hub, user: &SignedInUser, hash: Option<String>) -> Result<(), Problem> {
    let person = user.name.clone();
    let actor = user.actor().to_string();
    let store = Arc::clone(&hub.store);
    let keep = user.session;
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
    hub.auth.revoke_with(change).await?;
    Ok(())
}
