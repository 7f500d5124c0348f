//! The hub's own Ed25519 keys, published for agents that verify signatures with them.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use countersign_protocol::a2h::signature::{ed25519_from_seed, ed25519_public_key};
use countersign_protocol::api::admin::{KeysList, PublicKey};
use countersign_store::model::HubKey;
use countersign_store::ops::admin::keys::{AddHubKey, HubKeys};
use countersign_store::{Store, StoreError};
use serde::Deserialize;
use uuid::Uuid;

use super::agents;
use crate::Hub;
use crate::auth::random_key;
use crate::http::body::read_json;
use crate::http::callers::OwnerCaller;
use crate::problem::{Problem, no_randomness};

pub fn public_keys(keys: &[HubKey]) -> Result<Vec<PublicKey>, StoreError> {
    let unreadable = || StoreError::Corrupt("a hub key is not 32 bytes long".to_owned());
    let public = |key: &HubKey| {
        let seed: [u8; 32] = key.seed.as_slice().try_into().map_err(|_| unreadable())?;
        let pair = ed25519_from_seed(&seed).map_err(|_| unreadable())?;
        Ok(PublicKey {
            kid: key.kid.clone(),
            alg: "ed25519".to_owned(),
            public_key: ed25519_public_key(&pair),
            retires_at: key.retires_at.map(Into::into),
        })
    };
    keys.iter().map(public).collect()
}

fn new_key(overlap: Duration, actor: String) -> Result<AddHubKey, getrandom::Error> {
    let kid = format!("hub-{}", &Uuid::new_v4().simple().to_string()[..12]);
    Ok(AddHubKey {
        kid,
        seed: random_key()?.to_vec(),
        overlap,
        actor,
    })
}

/// Creates the hub key at the first start.
pub async fn ensure_key(store: &Store) -> anyhow::Result<()> {
    if store.run(HubKeys).await?.is_empty() {
        store.run(new_key(Duration::ZERO, "system:hub".to_owned())?).await?;
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyRotation {
    overlap_seconds: Option<u64>,
}

pub async fn rotate(State(hub): State<Arc<Hub>>, owner: OwnerCaller, body: Body) -> Result<Json<KeysList>, Problem> {
    let rotation: KeyRotation = read_json(body).await?;
    let overlap = agents::overlap(rotation.overlap_seconds)?;
    hub.store
        .run(new_key(overlap, owner.actor).map_err(no_randomness)?)
        .await?;
    let keys = hub.store.run(HubKeys).await?;
    Ok(Json(KeysList {
        keys: public_keys(&keys)?,
    }))
}
