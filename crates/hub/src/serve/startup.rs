//! Preparations of every start: the owner, tokens for the local user, and a sign-in link.

use std::sync::PoisonError;
use std::time::Duration;

use countersign_core::access::Role;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::account::credential::{
    CredentialKind, EndSessionsOfOtherPlace, NewCredential, ReplaceCredential,
};
use countersign_store::ops::admin::people::{AddPerson, ListPeople};

use crate::Hub;
use crate::admin::links::link_to;
use crate::auth::{OWNER, Token, local_owner_of};

pub const HUB_ACTOR: &str = "system:hub";

const SIGN_IN_LINK_TTL: Duration = Duration::from_secs(24 * 3600);

pub struct Welcome {
    pub local_url: String,
    pub started_at: Timestamp,
    pub owner_token: String,
    pub terminal_token: String,
    pub sign_in_url: String,
}

pub async fn prepare(hub: &Hub) -> anyhow::Result<Welcome> {
    if hub.store.run(ListPeople).await?.is_empty() {
        let name = OWNER.to_owned();
        let actor = HUB_ACTOR.to_owned();
        hub.store
            .run(AddPerson {
                name,
                reuse: true,
                role: Role::Owner,
                token: None,
                actor,
            })
            .await?;
    }
    end_sessions_of_other_place(hub).await?;
    let owner = local_owner_of(&hub.store.run(ListPeople).await?);
    let now = hub.store.clock().now();
    Ok(Welcome {
        local_url: hub.process.local_url().to_owned(),
        started_at: hub.process.started_at,
        owner_token: start_credential(hub, CredentialKind::Person, &owner, None).await?,
        terminal_token: start_credential(hub, CredentialKind::Terminal, &owner, None).await?,
        sign_in_url: link_to(
            hub,
            &start_credential(hub, CredentialKind::SignIn, &owner, Some(now.plus(SIGN_IN_LINK_TTL))).await?,
        ),
    })
}

/// Sessions of a hub without a public URL belong to its port and end when that changes: another program may have the old
/// port now, and browsers send it the old cookies. On a shared store several nodes have ports of their own, and sessions
/// of a port that is no longer used expire.
async fn end_sessions_of_other_place(hub: &Hub) -> anyhow::Result<()> {
    if let Some(place) = hub.process.session_place()
        && !hub.store.is_shared()
    {
        let actor = HUB_ACTOR.to_owned();
        hub.store.run(EndSessionsOfOtherPlace { place, actor }).await?;
    }
    Ok(())
}

async fn start_credential(
    hub: &Hub,
    kind: CredentialKind,
    subject: &str,
    expires_at: Option<Timestamp>,
) -> anyhow::Result<String> {
    let token = Token::new(kind)?;
    let subject = subject.to_owned();
    let label = hub.auth.start_label();
    let credential = NewCredential {
        hash: token.hash,
        kind,
        subject,
        label,
        expires_at,
    };
    hub.store.run(ReplaceCredential(credential.clone())).await?;
    // A sign-in link works once, so it is not renewed.
    if kind != CredentialKind::SignIn {
        hub.auth
            .start_credentials
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(credential);
    }
    Ok(token.text)
}
