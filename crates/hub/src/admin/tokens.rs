//! Tokens of people and of their terminals: an owner creates, lists and revokes them.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use countersign_core::Actor;
use countersign_core::access::Role;
use countersign_protocol::api::admin::{EndedToken, ListedToken, NewAccess, TokensList};
use countersign_store::model::{CredentialSummary, PersonSummary};
use countersign_store::ops::account::credential::{
    CredentialKind, EndCredential, ListCredentials, NewCredential, id_of,
};
use countersign_store::ops::admin::people::{AddPersonToken, ListPeople};
use serde::Deserialize;

use super::people::no_person;
use crate::Hub;
use crate::auth::Token;
use crate::auth::is_start_label;
use crate::http::body::read_json;
use crate::http::callers::OwnerCaller;
use crate::http::extract::Params;
use crate::problem::{Problem, no_randomness};

const MAX_LABEL_CHARS: usize = 60;
/// The credential kinds that are shown as tokens, in list order.
pub const TOKEN_KINDS: [CredentialKind; 2] = [CredentialKind::Person, CredentialKind::Terminal];

/// The label tells a person which token to revoke. The label of start tokens is reserved, because each start replaces
/// them.
pub fn check_label(label: &str) -> Result<(), Problem> {
    if label.trim().is_empty() || label.chars().count() > MAX_LABEL_CHARS {
        return Err(Problem::invalid(
            "label",
            format!("say in 1 to {MAX_LABEL_CHARS} characters what the token is for"),
        ));
    }
    if is_start_label(label) {
        return Err(Problem::invalid(
            "label",
            "this label is reserved for the hub's own tokens; choose another one",
        ));
    }
    Ok(())
}

/// `terminal 2026-11-16`
pub fn default_label(hub: &Hub, kind: CredentialKind) -> String {
    let now = hub.store.clock().now().to_string();
    let word = if kind == CredentialKind::Terminal {
        "terminal"
    } else {
        "token"
    };
    format!("{word} {}", now.get(..10).unwrap_or_default())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewToken {
    name: String,
    /// A token for agents in the person's terminals instead of the person.
    #[serde(default)]
    terminal: bool,
    label: Option<String>,
}

pub async fn add(State(hub): State<Arc<Hub>>, owner: OwnerCaller, body: Body) -> Result<Json<NewAccess>, Problem> {
    let NewToken { name, terminal, label } = read_json(body).await?;
    let kind = if terminal {
        CredentialKind::Terminal
    } else {
        CredentialKind::Person
    };
    let label = label.unwrap_or_else(|| default_label(&hub, kind));
    check_label(&label)?;
    if terminal {
        check_can_answer(&hub, &name).await?;
    }
    let made = Token::new(kind).map_err(no_randomness)?;
    let subject = name.clone();
    let id = id_of(&made.hash);
    let token = NewCredential {
        hash: made.hash,
        kind,
        subject,
        label: label.clone(),
        expires_at: None,
    };
    if !hub
        .store
        .run(AddPersonToken {
            name: name.clone(),
            token,
            actor: owner.actor,
        })
        .await?
    {
        return Err(no_person(&name));
    }
    Ok(Json(NewAccess {
        actor: Actor::human(&name).to_string(),
        name,
        role: None,
        id: Some(id),
        label: Some(label),
        token: made.text,
    }))
}

async fn find(hub: &Hub, name: &str) -> Result<Option<PersonSummary>, Problem> {
    Ok(hub
        .store
        .run(ListPeople)
        .await?
        .into_iter()
        .find(|person| person.name == name))
}

/// Agents in terminals ask the person of their token, so that person must be able to answer.
async fn check_can_answer(hub: &Hub, name: &str) -> Result<(), Problem> {
    match find(hub, name).await?.map(|person| person.role) {
        Some(Role::Viewer) => Err(Problem::invalid(
            "terminal",
            format!("{name} is a viewer and cannot answer; agents in terminals need an owner or a resolver"),
        )),
        Some(Role::Owner | Role::Resolver) | None => Ok(()),
    }
}

#[derive(Deserialize)]
pub struct PersonFilter {
    name: String,
}

pub async fn list(
    State(hub): State<Arc<Hub>>,
    _owner: OwnerCaller,
    Params(PersonFilter { name }): Params<PersonFilter>,
) -> Result<Json<TokensList>, Problem> {
    find(&hub, &name).await?.ok_or_else(|| no_person(&name))?;
    let mut tokens = Vec::new();
    for kind in TOKEN_KINDS {
        let held = hub
            .store
            .run(ListCredentials {
                person: name.clone(),
                kind,
            })
            .await?;
        tokens.extend(held.into_iter().map(|token| shown(kind, token)));
    }
    Ok(Json(TokensList { tokens }))
}

fn shown(kind: CredentialKind, token: CredentialSummary) -> ListedToken {
    ListedToken {
        id: token.id,
        kind: kind.as_str().to_owned(),
        label: token.label,
        created_at: token.created_at.into(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenRef {
    name: String,
    id: String,
}

pub async fn end(State(hub): State<Arc<Hub>>, owner: OwnerCaller, body: Body) -> Result<Json<EndedToken>, Problem> {
    let TokenRef { name, id } = read_json(body).await?;
    end_token(&hub, &name, &id, &owner.actor).await?;
    Ok(Json(EndedToken {
        actor: Actor::human(&name).to_string(),
        name,
        id,
    }))
}

/// Revokes a token at once; connections that use it are closed.
pub async fn end_token(hub: &Hub, person: &str, id: &str, actor: &str) -> Result<(), Problem> {
    for kind in TOKEN_KINDS {
        let person = person.to_owned();
        let id = id.to_owned();
        let actor = actor.to_owned();
        if hub
            .auth
            .revoke(EndCredential {
                person,
                kind,
                id,
                actor,
            })
            .await?
        {
            return Ok(());
        }
    }
    let message = format!("{person} has no such token; it may be revoked already");
    Err(Problem::NotFound { message })
}
