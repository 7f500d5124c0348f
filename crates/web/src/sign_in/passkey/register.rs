//! POST /inbox/settings/passkeys/begin and /finish: registers a passkey for the signed-in user.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use countersign_core::Digest;
use countersign_hub::Hub;
use countersign_hub::http::body::read_json;
use countersign_hub::problem::Problem;
use countersign_store::ops::account::passkey::{AddPasskey, AddPasskeyOutcome, MAX_PASSKEYS, Passkeys};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;
use webauthn_rs::prelude::{PasskeyRegistration, RegisterPublicKeyCredential};

use super::relying_party::{
    check_script, not_accepted, passkey_unreadable, relying_party, store_ceremony, take_ceremony, to_problem, too_late,
};
use crate::language::{say, t};
use crate::layout::form::CSRF_HEADER;
use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;
use crate::sign_in::proof::IdentityProof;

const MAX_NAME_CHARS: usize = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BeginRegistration {
    #[serde(default)]
    name: String,
    /// The current password, where the page asks for it.
    #[serde(default)]
    current: String,
}

/// The ceremony state between `begin` and `finish`.
#[derive(Serialize, Deserialize)]
struct PendingRegistration {
    name: String,
    state: PasskeyRegistration,
}

async fn signed_in(hub: &Hub, headers: &HeaderMap) -> Result<SignedInUser, Problem> {
    check_script(headers)?;
    let user = SignedInUser::from_headers(headers, hub).await.map_err(to_problem)?;
    let user = user.ok_or_else(|| to_problem(PageError::SignedOut))?;
    let sent_token = headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok());
    if sent_token == Some(user.csrf.as_str()) {
        Ok(user)
    } else {
        Err(to_problem(PageError::foreign_form()))
    }
}

pub async fn begin(State(hub): State<Arc<Hub>>, headers: HeaderMap, body: Body) -> Result<Json<Value>, Problem> {
    let user = signed_in(&hub, &headers).await?;
    let relying_party = relying_party(&hub, &headers)?;
    let BeginRegistration { name, current } = read_json(body).await?;
    let name = checked_name(&name)?;
    IdentityProof::check(&hub, &user, &current).await?;
    let existing = hub
        .store
        .run(Passkeys {
            person: user.name.clone(),
        })
        .await?;
    if existing.len() >= MAX_PASSKEYS {
        return Err(too_many_passkeys());
    }
    let known = existing.into_iter().map(|passkey| passkey.id).collect();
    let user_handle = user_handle(hub.process.url(), &user.name);
    let started = relying_party.start_passkey_registration(user_handle, &user.name, &user.name, Some(known));
    let (challenge, state) = started.map_err(|error| not_accepted(&error))?;
    let body =
        serde_json::to_string(&PendingRegistration { name, state }).map_err(|error| passkey_unreadable(&error))?;
    let ceremony = store_ceremony(&hub, Some(user.name), body).await?;
    let mut options = serde_json::to_value(&challenge.public_key).map_err(|error| passkey_unreadable(&error))?;
    // Only a discoverable passkey (resident key) can sign in without a name; the library does not ask for one.
    options["authenticatorSelection"]["residentKey"] = "required".into();
    options["authenticatorSelection"]["requireResidentKey"] = true.into();
    Ok(Json(json!({"ceremony": ceremony, "publicKey": options})))
}

#[derive(Deserialize)]
struct FinishRegistration {
    ceremony: String,
    credential: RegisterPublicKeyCredential,
}

pub async fn finish(State(hub): State<Arc<Hub>>, headers: HeaderMap, body: Body) -> Result<Json<Value>, Problem> {
    let user = signed_in(&hub, &headers).await?;
    let relying_party = relying_party(&hub, &headers)?;
    let FinishRegistration { ceremony, credential } = read_json(body).await?;
    let stored = take_ceremony(&hub, ceremony, Some(&user.name))
        .await?
        .ok_or_else(too_late)?;
    let PendingRegistration { name, state } = serde_json::from_str(&stored).map_err(|_| too_late())?;
    let passkey = relying_party
        .finish_passkey_registration(&credential, &state)
        .map_err(|error| not_accepted(&error))?;
    let body = serde_json::to_string(&passkey).map_err(|error| passkey_unreadable(&error))?;
    let op = AddPasskey {
        person: user.name,
        id: passkey.cred_id().clone(),
        name,
        body,
    };
    match hub.store.run(op).await? {
        AddPasskeyOutcome::Added => Ok(Json(json!({"next": "/inbox/settings"}))),
        AddPasskeyOutcome::Refused => Err(Problem::AlreadyExists {
            message: t("this passkey is already registered").to_owned(),
        }),
        AddPasskeyOutcome::TooManyPasskeys => Err(too_many_passkeys()),
    }
}

fn too_many_passkeys() -> Problem {
    Problem::invalid(
        "name",
        say!(
            "{most} passkeys are the most a person can have; remove one first",
            most = MAX_PASSKEYS
        ),
    )
}

fn checked_name(name: &str) -> Result<String, Problem> {
    match name.trim() {
        "" => Ok("Passkey".to_owned()),
        name if name.chars().any(char::is_control) => Err(Problem::invalid("name", t("use no control characters"))),
        name if name.chars().count() <= MAX_NAME_CHARS => Ok(name.to_owned()),
        _ => Err(Problem::invalid(
            "name",
            say!("use at most {most} characters", most = MAX_NAME_CHARS),
        )),
    }
}

/// The WebAuthn user handle. An authenticator keeps one passkey per handle, so the same person needs different handles
/// on two hubs of one machine. The handle is a hash and does not reveal the name.
fn user_handle(url: &str, person: &str) -> Uuid {
    let digest = Digest::of(format!("passkey\n{url}\n{person}").as_bytes()).into_bytes();
    let mut start = [0; 16];
    start.copy_from_slice(&digest[..16]);
    uuid::Builder::from_custom_bytes(start).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_has_a_different_handle_on_each_hub() {
        let here = user_handle("http://127.0.0.1:7422", "owner");
        assert_eq!(here, user_handle("http://127.0.0.1:7422", "owner"));
        assert_ne!(here, user_handle("http://127.0.0.1:7423", "owner"));
        assert_ne!(here, user_handle("http://127.0.0.1:7422", "alice"));
    }

    #[test]
    fn passkey_name_is_checked() {
        assert_eq!(checked_name("  My phone ").unwrap(), "My phone");
        assert_eq!(checked_name(" ").unwrap(), "Passkey");
        assert!(checked_name(&"x".repeat(61)).is_err());
        assert!(checked_name("a\0b").is_err());
    }
}
