//! One-time sign-in links.

use std::time::Duration;

use countersign_protocol::time::Timestamp;
use countersign_store::ops::account::credential::{AddLink, CredentialKind};

use crate::Hub;
use crate::auth::Token;
use crate::problem::Problem;
use crate::problem::no_randomness;

const INVITATION_TTL: Duration = Duration::from_secs(7 * 24 * 3600);

pub fn link_to(hub: &Hub, token: &str) -> String {
    format!("{}/signin/{token}", hub.process.browser_url())
}

/// A new link for an existing person, with its expiry; `None` for an unknown person. It replaces the person's earlier link.
pub async fn new_link(hub: &Hub, person: &str, actor: &str) -> Result<Option<(String, Timestamp)>, Problem> {
    let token = Token::new(CredentialKind::SignIn).map_err(no_randomness)?;
    let expires_at = hub.store.clock().now().plus(INVITATION_TTL);
    let op = AddLink {
        person: person.to_owned(),
        hash: token.hash,
        expires_at,
        actor: actor.to_owned(),
    };
    let is_known = hub.store.run(op).await?;
    Ok(is_known.then(|| (link_to(hub, &token.text), expires_at)))
}
