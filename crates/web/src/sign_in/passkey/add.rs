//! POST /inbox/settings/passkeys/begin and /finish: one passkey more for whoever is signed in.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use countersign_core::Digest;
use countersign_hub::Hub;
use countersign_hub::body::read_json;
use countersign_hub::problem::Problem;
use countersign_store::ops::passkey::{AddPasskey, Adding as Answer, MOST_PASSKEYS, Passkeys};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;
use webauthn_rs::prelude::{PasskeyRegistration, RegisterPublicKeyCredential};

use super::relying_party::{
    begin_ceremony, check_script, not_accepted, party, plain, take_ceremony, too_late, unreadable,
};
use crate::frame::form::CSRF_HEADER;
use crate::frame::page::Failure;
use crate::frame::signed_in::Visitor;

const LONGEST_NAME: usize = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Begin {
    #[serde(default)]
    name: String,
}

/// What is kept between the two steps.
#[derive(Serialize, Deserialize)]
struct Adding {
    name: String,
    state: PasskeyRegistration,
}

async fn signed_in(hub: &Hub, headers: &HeaderMap) -> Result<Visitor, Problem> {
    check_script(headers)?;
    let visitor = Visitor::from_headers(headers, hub).await.map_err(plain)?;
    let visitor = visitor.ok_or_else(|| plain(Failure::SignedOut))?;
    let said = headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok());
    if said == Some(visitor.csrf.as_str()) {
        Ok(visitor)
    } else {
        Err(plain(Failure::foreign_form()))
    }
}

pub async fn begin(State(hub): State<Arc<Hub>>, headers: HeaderMap, body: Body) -> Result<Json<Value>, Problem> {
    let visitor = signed_in(&hub, &headers).await?;
    let party = party(&hub, &headers)?;
    let name = checked_name(&read_json::<Begin>(body).await?.name)?;
    let held = hub
        .store
        .run(Passkeys {
            person: visitor.name.clone(),
        })
        .await?;
    if held.len() >= MOST_PASSKEYS {
        return Err(too_many());
    }
    let known = held.into_iter().map(|passkey| passkey.id).collect();
    let handle = handle(hub.url(), &visitor.name);
    let started = party.start_passkey_registration(handle, &visitor.name, &visitor.name, Some(known));
    let (challenge, state) = started.map_err(|error| not_accepted(&error))?;
    let body = serde_json::to_string(&Adding { name, state }).map_err(|error| unreadable(&error))?;
    let ceremony = begin_ceremony(&hub, Some(visitor.name), body).await?;
    let mut options = serde_json::to_value(&challenge.public_key).map_err(|error| unreadable(&error))?;
    // A passkey that does not know whose it is could not sign in without a name; the library asks for none of this.
    options["authenticatorSelection"]["residentKey"] = "required".into();
    options["authenticatorSelection"]["requireResidentKey"] = true.into();
    Ok(Json(json!({"ceremony": ceremony, "publicKey": options})))
}

#[derive(Deserialize)]
struct Finish {
    ceremony: String,
    credential: RegisterPublicKeyCredential,
}

pub async fn finish(State(hub): State<Arc<Hub>>, headers: HeaderMap, body: Body) -> Result<Json<Value>, Problem> {
    let visitor = signed_in(&hub, &headers).await?;
    let party = party(&hub, &headers)?;
    let Finish { ceremony, credential } = read_json(body).await?;
    let kept = take_ceremony(&hub, ceremony, Some(&visitor.name))
        .await?
        .ok_or_else(too_late)?;
    let Adding { name, state } = serde_json::from_str(&kept).map_err(|_| too_late())?;
    let passkey = party
        .finish_passkey_registration(&credential, &state)
        .map_err(|error| not_accepted(&error))?;
    let body = serde_json::to_string(&passkey).map_err(|error| unreadable(&error))?;
    let op = AddPasskey {
        person: visitor.name,
        id: passkey.cred_id().clone(),
        name,
        body,
    };
    match hub.store.run(op).await? {
        Answer::Added => Ok(Json(json!({"next": "/inbox/settings"}))),
        Answer::Refused => Err(Problem::AlreadyExists {
            message: "this passkey is here already".to_owned(),
        }),
        Answer::TooMany => Err(too_many()),
    }
}

fn too_many() -> Problem {
    Problem::invalid("name", format!("{MOST_PASSKEYS} passkeys are enough; remove one first"))
}

fn checked_name(name: &str) -> Result<String, Problem> {
    match name.trim() {
        "" => Ok("Passkey".to_owned()),
        name if name.chars().any(char::is_control) => Err(Problem::invalid("name", "use plain characters")),
        name if name.chars().count() <= LONGEST_NAME => Ok(name.to_owned()),
        _ => Err(Problem::invalid(
            "name",
            format!("use at most {LONGEST_NAME} characters"),
        )),
    }
}

/// What an authenticator knows the account by. An authenticator keeps one passkey for each, so the same person on two hubs
/// of one machine needs two; and it gives no name away.
fn handle(url: &str, person: &str) -> Uuid {
    let digest = Digest::of(format!("passkey\n{url}\n{person}").as_bytes()).into_bytes();
    let mut start = [0; 16];
    start.copy_from_slice(&digest[..16]);
    uuid::Builder::from_custom_bytes(start).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_one_handle_on_each_hub() {
        let here = handle("http://127.0.0.1:7422", "owner");
        assert_eq!(here, handle("http://127.0.0.1:7422", "owner"));
        assert_ne!(here, handle("http://127.0.0.1:7423", "owner"));
        assert_ne!(here, handle("http://127.0.0.1:7422", "alice"));
    }

    #[test]
    fn a_passkey_has_a_short_name() {
        assert_eq!(checked_name("  My phone ").unwrap(), "My phone");
        assert_eq!(checked_name(" ").unwrap(), "Passkey");
        assert!(checked_name(&"x".repeat(61)).is_err());
        assert!(checked_name("a\0b").is_err());
    }
}
