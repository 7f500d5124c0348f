//! POST /signin/passkey/begin and /finish: the passkey says who it is, nobody types a name.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use countersign_hub::Hub;
use countersign_hub::auth::Peer;
use countersign_hub::body::read_json;
use countersign_hub::problem::Problem;
use countersign_store::ops::credential::StartSession;
use countersign_store::ops::passkey::{FindPasskey, UsePasskey};
use serde::Deserialize;
use serde_json::{Value, json};
use webauthn_rs::prelude::{DiscoverableAuthentication, Passkey, PublicKeyCredential};

use super::relying_party::{
    begin_ceremony, check_script, not_accepted, party, plain, refused, take_ceremony, too_late, unreadable,
};
use crate::frame::page::back;
use crate::sign_in::session::{Fresh, leave_earlier};

pub async fn begin(State(hub): State<Arc<Hub>>, Peer(from): Peer, headers: HeaderMap) -> Result<Json<Value>, Problem> {
    check_script(&headers)?;
    let party = party(&hub, &headers)?;
    hub.sign_in_attempts.by_passkey(from).await?;
    let (challenge, state) = party
        .start_discoverable_authentication()
        .map_err(|error| not_accepted(&error))?;
    let body = serde_json::to_string(&state).map_err(|error| unreadable(&error))?;
    let ceremony = begin_ceremony(&hub, None, body).await?;
    // Without the wish to appear in the field of the name: a button was pressed.
    Ok(Json(json!({"ceremony": ceremony, "publicKey": challenge.public_key})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Finish {
    ceremony: String,
    credential: PublicKeyCredential,
    #[serde(default)]
    next: String,
}

pub async fn finish(
    State(hub): State<Arc<Hub>>,
    Peer(from): Peer,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    check_script(&headers)?;
    let party = party(&hub, &headers)?;
    let Finish {
        ceremony,
        credential,
        next,
    } = read_json(body).await?;
    let Some(state) = take_ceremony(&hub, ceremony, None).await? else {
        hub.sign_in_attempts.missed(from).await?;
        return Err(too_late());
    };
    let state: DiscoverableAuthentication = serde_json::from_str(&state).map_err(|_| too_late())?;
    // The id leads to one passkey and so to one person; the signature proves that the passkey is there.
    let Some(found) = hub
        .store
        .run(FindPasskey {
            id: credential.raw_id.clone(),
        })
        .await?
    else {
        return Err(refused(
            "this hub does not know that passkey; it may have been removed here",
        ));
    };
    let mut passkey: Passkey = serde_json::from_str(&found.body).map_err(|error| unreadable(&error))?;
    let proven = party.finish_discoverable_authentication_v2(&credential, state, &passkey);
    let proven = proven.map_err(|error| not_accepted(&error))?;
    passkey.update_credential(&proven);
    let body = serde_json::to_string(&passkey).map_err(|error| unreadable(&error))?;
    let fresh = Fresh::for_browser(&hub, &headers)?;
    let is_there = hub.store.run(UsePasskey { id: found.id, body }).await?;
    if !is_there
        || !hub
            .store
            .run(StartSession {
                person: found.person,
                session: fresh.session.clone(),
            })
            .await?
    {
        return Err(refused("this passkey has just been removed"));
    }
    leave_earlier(&hub, &headers).await.map_err(plain)?;
    let cookie = [(header::SET_COOKIE, fresh.cookie(&hub))];
    Ok((cookie, Json(json!({"next": back(&next)}))).into_response())
}
