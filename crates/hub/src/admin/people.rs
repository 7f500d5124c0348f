use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::Actor;
use countersign_core::access::{Role, is_person_name};
use countersign_store::ops::admin::people::{AddPerson, AddPersonToken, Change, ListPeople, RemovePerson};
use countersign_store::ops::credential::{Kind, NewCredential};
use serde::Deserialize;
use serde_json::{Value, json};

use super::no_randomness;
use crate::app::Hub;
use crate::auth::{OwnerCaller, Token};
use crate::body::read_json;
use crate::inbox::web::sign_in::new_link;
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewPerson {
    name: String,
    role: Option<Role>,
}

pub fn check_name(name: &str) -> Result<(), Problem> {
    if is_person_name(name) {
        Ok(())
    } else {
        Err(Problem::invalid("name", "use 1 to 64 letters, digits or . _ - @ +"))
    }
}

pub fn credential(name: &str, token: &Token) -> NewCredential {
    credential_of(Kind::Person, name, token)
}

fn credential_of(kind: Kind, name: &str, token: &Token) -> NewCredential {
    NewCredential { hash: token.hash, kind, subject: name.to_owned(), label: "token".to_owned(), expires_at: None }
}

pub async fn add(
    State(hub): State<Arc<Hub>>,
    owner: OwnerCaller,
    body: Body,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let NewPerson { name, role } = read_json(body).await?;
    check_name(&name)?;
    let role = role.unwrap_or(Role::Resolver);
    let token = Token::new(Kind::Person).map_err(no_randomness)?;
    let person = AddPerson { name: name.clone(), role, token: Some(credential(&name, &token)), actor: owner.actor };
    if !hub.store.run(person).await? {
        let message = format!("{name} is there already; `countersign person token {name}` gives another token");
        return Err(Problem::AlreadyExists { message });
    }
    let body = json!({"name": name, "actor": Actor::human(&name), "role": role, "token": token.text});
    Ok((StatusCode::CREATED, Json(body)))
}

pub async fn list(State(hub): State<Arc<Hub>>, _owner: OwnerCaller) -> Result<Json<Value>, Problem> {
    Ok(Json(json!({"people": hub.store.run(ListPeople).await?})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
}

pub fn no_person(name: &str) -> Problem {
    Problem::NotFound { message: format!("no person {name}; add them with `countersign person add {name}`") }
}

pub async fn remove_person(hub: &Hub, name: &str, actor: String) -> Result<(), Problem> {
    match hub.store.run(RemovePerson { name: name.to_owned(), actor }).await? {
        Change::Done => {
            hub.credentials.clear();
            Ok(())
        }
        Change::NotThere => Err(no_person(name)),
        Change::LastOwner => Err(Problem::invalid("name", "the last owner cannot be removed; add another one first")),
    }
}

pub async fn remove(State(hub): State<Arc<Hub>>, owner: OwnerCaller, body: Body) -> Result<Json<Value>, Problem> {
    let Named { name } = read_json(body).await?;
    remove_person(&hub, &name, owner.actor).await?;
    Ok(Json(json!({"name": name, "actor": Actor::human(&name)})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewToken {
    name: String,
    /// For their terminals, where agents run, instead of for themselves.
    #[serde(default)]
    terminal: bool,
}

pub async fn token(State(hub): State<Arc<Hub>>, owner: OwnerCaller, body: Body) -> Result<Json<Value>, Problem> {
    let NewToken { name, terminal } = read_json(body).await?;
    if terminal {
        check_may_be_asked(&hub, &name).await?;
    }
    let kind = if terminal { Kind::Terminal } else { Kind::Person };
    let token = Token::new(kind).map_err(no_randomness)?;
    let op = AddPersonToken { name: name.clone(), token: credential_of(kind, &name, &token), actor: owner.actor };
    if !hub.store.run(op).await? {
        return Err(no_person(&name));
    }
    Ok(Json(json!({"name": name, "actor": Actor::human(&name), "token": token.text})))
}

/// Agents in terminals ask the one person whose token they have.
async fn check_may_be_asked(hub: &Hub, name: &str) -> Result<(), Problem> {
    let people = hub.store.run(ListPeople).await?;
    match people.iter().find(|person| person.name == name).map(|person| person.role) {
        Some(Role::Viewer) => Err(Problem::invalid("terminal", format!("{name} is a viewer and could answer nothing"))),
        Some(Role::Owner | Role::Resolver) | None => Ok(()),
    }
}

/// A one-time link for a browser, in place of the one the person was given before.
pub async fn link(State(hub): State<Arc<Hub>>, owner: OwnerCaller, body: Body) -> Result<Json<Value>, Problem> {
    let Named { name } = read_json(body).await?;
    let Some((url, expires_at)) = new_link(&hub, &name, &owner.actor).await? else { return Err(no_person(&name)) };
    Ok(Json(json!({"name": name, "actor": Actor::human(&name), "url": url, "expires_at": expires_at})))
}
