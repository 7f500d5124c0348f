//! Accounts of people: add, list, remove, and sign-in links.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::Actor;
use countersign_core::access::{Role, check_person_name};
use countersign_protocol::api::admin::{self as api, NewAccess, PeopleList, SignInLink};
use countersign_store::model::PersonSummary;
use countersign_store::ops::account::credential::{CredentialKind, NewCredential};
use countersign_store::ops::admin::AddOutcome;
use countersign_store::ops::admin::people::{AccountChange, AddPerson, ListPeople, RemovePerson};
use serde::Deserialize;

use super::tokens::default_label;
use crate::Hub;
use crate::admin::links::new_link;
use crate::auth::Token;
use crate::http::body::read_json;
use crate::http::callers::OwnerCaller;
use crate::problem::{Problem, no_randomness};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewPerson {
    name: String,
    role: Option<Role>,
    #[serde(default)]
    reuse: bool,
}

/// Adds an account whose name is checked here.
pub async fn add_person(hub: &Hub, person: AddPerson) -> Result<(), Problem> {
    check_person_name(&person.name).map_err(|error| Problem::invalid("name", error.to_string()))?;
    let name = person.name.clone();
    match hub.store.run(person).await? {
        AddOutcome::Added => Ok(()),
        AddOutcome::Exists => Err(Problem::AlreadyExists {
            message: format!("{name} already exists; `countersign person token {name}` creates another token"),
        }),
        AddOutcome::UsedBefore => Err(Problem::NameUsed {
            message: format!(
                "{name} is the name of a removed person; a new one could answer the open asks that name human:{name}. \
                 Use another name, or, if that is meant, `countersign person add {name} --reuse`"
            ),
        }),
    }
}

pub async fn add(
    State(hub): State<Arc<Hub>>,
    owner: OwnerCaller,
    body: Body,
) -> Result<(StatusCode, Json<NewAccess>), Problem> {
    let NewPerson { name, role, reuse } = read_json(body).await?;
    let role = role.unwrap_or(Role::Resolver);
    let token = Token::new(CredentialKind::Person).map_err(no_randomness)?;
    let label = default_label(&hub, CredentialKind::Person);
    let credential = NewCredential {
        hash: token.hash,
        kind: CredentialKind::Person,
        subject: name.clone(),
        label,
        expires_at: None,
    };
    let person = AddPerson {
        name: name.clone(),
        reuse,
        role,
        token: Some(credential),
        actor: owner.actor,
    };
    add_person(&hub, person).await?;
    let body = NewAccess {
        actor: Actor::human(&name).to_string(),
        name,
        role: Some(role.as_str().to_owned()),
        id: None,
        label: None,
        token: token.text,
    };
    Ok((StatusCode::CREATED, Json(body)))
}

pub async fn list(
    State(hub): State<Arc<Hub>>,
    _owner: OwnerCaller,
) -> Result<Json<PeopleList<PersonSummary>>, Problem> {
    Ok(Json(PeopleList {
        people: hub.store.run(ListPeople).await?,
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PersonRef {
    name: String,
}

pub fn no_person(name: &str) -> Problem {
    Problem::NotFound {
        message: format!("no person {name}; add them with `countersign person add {name}`"),
    }
}

pub async fn remove_person(hub: &Hub, name: &str, actor: String) -> Result<(), Problem> {
    match hub
        .auth
        .revoke(RemovePerson {
            name: name.to_owned(),
            actor,
        })
        .await?
    {
        AccountChange::Done => Ok(()),
        AccountChange::NotFound => Err(no_person(name)),
        AccountChange::LastOwner => Err(Problem::invalid(
            "name",
            "the last owner cannot be removed; add another one first",
        )),
    }
}

pub async fn remove(
    State(hub): State<Arc<Hub>>,
    owner: OwnerCaller,
    body: Body,
) -> Result<Json<api::PersonRef>, Problem> {
    let PersonRef { name } = read_json(body).await?;
    remove_person(&hub, &name, owner.actor).await?;
    Ok(Json(api::PersonRef {
        actor: Actor::human(&name).to_string(),
        name,
    }))
}

/// Creates a one-time sign-in link, which replaces the previous one of the person.
pub async fn link(State(hub): State<Arc<Hub>>, owner: OwnerCaller, body: Body) -> Result<Json<SignInLink>, Problem> {
    let PersonRef { name } = read_json(body).await?;
    let Some((url, expires_at)) = new_link(&hub, &name, &owner.actor).await? else {
        return Err(no_person(&name));
    };
    Ok(Json(SignInLink {
        actor: Actor::human(&name).to_string(),
        name,
        url,
        expires_at: expires_at.into(),
    }))
}
