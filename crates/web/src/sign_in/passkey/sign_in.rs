//! POST /signin/passkey/begin and /finish: sign-in with a discoverable passkey, without typing a name.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use countersign_hub::Hub;
use countersign_hub::http::body::{parse_json, read_unknown};
use countersign_hub::http::client_addr::ClientAddr;
use countersign_hub::problem::Problem;
use countersign_store::ops::account::credential::StartSession;
use countersign_store::ops::account::passkey::{FindPasskey, UsePasskey};
use serde::Deserialize;
use serde_json::{Value, json};
use webauthn_rs::prelude::{DiscoverableAuthentication, Passkey, PublicKeyCredential};

use super::relying_party::{
    check_script, not_accepted, passkey_unreadable, refused, relying_party, store_ceremony, take_ceremony, to_problem,
    too_late,
};
use crate::language::t;
use crate::layout::page::back;
use crate::sign_in::session::{NewBrowserSession, end_previous_session};

/// Size limit of the response of an authenticator, which has about 1 KiB.
const MAX_RESPONSE_BYTES: usize = 16 * 1024;

pub async fn begin(
    State(hub): State<Arc<Hub>>,
    ClientAddr(from): ClientAddr,
    headers: HeaderMap,
) -> Result<Json<Value>, Problem> {
    check_script(&headers)?;
    let relying_party = relying_party(&hub, &headers)?;
    hub.auth.sign_in_limiter.by_passkey(from).await?;
    let (challenge, state) = relying_party
        .start_discoverable_authentication()
        .map_err(|error| not_accepted(&error))?;
    let body = serde_json::to_string(&state).map_err(|error| passkey_unreadable(&error))?;
    let ceremony = store_ceremony(&hub, None, body).await?;
    // Without `mediation: conditional`: the person pressed a button, so no autofill in the name field is needed.
    Ok(Json(json!({"ceremony": ceremony, "publicKey": challenge.public_key})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FinishSignIn {
    ceremony: String,
    credential: PublicKeyCredential,
    #[serde(default)]
    next: String,
}

pub async fn finish(
    State(hub): State<Arc<Hub>>,
    ClientAddr(from): ClientAddr,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    check_script(&headers)?;
    let relying_party = relying_party(&hub, &headers)?;
    let (bytes, _permit) = read_unknown(&hub, ClientAddr(from), body, MAX_RESPONSE_BYTES).await?;
    let FinishSignIn {
        ceremony,
        credential,
        next,
    } = parse_json(&bytes)?;
    let Some(state) = take_ceremony(&hub, ceremony, None).await? else {
        hub.auth.sign_in_limiter.record_miss(from).await?;
        return Err(too_late());
    };
    let state: DiscoverableAuthentication = serde_json::from_str(&state).map_err(|_| too_late())?;
    // The credential id identifies one passkey and so one person; the signature proves possession of the passkey.
    let Some(found) = hub
        .store
        .run(FindPasskey {
            id: credential.raw_id.clone(),
        })
        .await?
    else {
        return Err(refused(t(
            "this hub does not know this passkey; it may have been removed",
        )));
    };
    let mut passkey: Passkey = serde_json::from_str(&found.body).map_err(|error| passkey_unreadable(&error))?;
    let proven = relying_party.finish_discoverable_authentication_v2(&credential, state, &passkey);
    let proven = proven.map_err(|error| not_accepted(&error))?;
    passkey.update_credential(&proven);
    let body = serde_json::to_string(&passkey).map_err(|error| passkey_unreadable(&error))?;
    let new_session = NewBrowserSession::for_browser(&hub, &headers)?;
    let is_there = hub.store.run(UsePasskey { id: found.id, body }).await?;
    if !is_there
        || !hub
            .store
            .run(StartSession {
                person: found.person,
                session: new_session.session.clone(),
            })
            .await?
    {
        return Err(refused(t("this passkey has just been removed")));
    }
    end_previous_session(&hub, &headers).await.map_err(to_problem)?;
    let cookie = [(header::SET_COOKIE, new_session.cookie(&hub))];
    Ok((cookie, Json(json!({"next": back(&next)}))).into_response())
}
