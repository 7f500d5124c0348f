//! Preparations of every start: the owner, tokens for the local user, a sign-in link, and the demo agent.

use std::sync::PoisonError;
use std::time::Duration;

use countersign_core::access::Role;
use countersign_protocol::time::Timestamp;
use countersign_store::model::SignatureAlg;
use countersign_store::ops::account::credential::{
    CredentialKind, EndSessionsOfOtherPlace, NewCredential, ReplaceCredential,
};
use countersign_store::ops::admin::agents::{AddAgent, ListAgents};
use countersign_store::ops::admin::people::{AddPerson, ListPeople};

use crate::Hub;
use crate::admin::links::link_to;
use crate::auth::{OWNER, Token, local_owner_of, new_signing_key};

const DEMO_AGENT: &str = "demo";
pub const HUB_ACTOR: &str = "system:hub";

const SIGN_IN_LINK_TTL: Duration = Duration::from_secs(24 * 3600);

pub struct Welcome {
    pub local_url: String,
    pub started_at: Timestamp,
    pub owner_token: String,
    pub terminal_token: String,
    pub sign_in_url: String,
    owner: String,
    /// `None` when the demo agent has been removed.
    demo_token: Option<String>,
}

pub async fn prepare(hub: &Hub) -> anyhow::Result<Welcome> {
    if hub.store.run(ListPeople).await?.is_empty() {
        // The owner comes last, so that an interrupted first start is repeated as a whole.
        add_demo_agent(hub).await?;
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
    let has_demo = hub
        .store
        .run(ListAgents)
        .await?
        .iter()
        .any(|agent| agent.agent_id == DEMO_AGENT);
    let demo_token = if has_demo {
        Some(start_credential(hub, CredentialKind::Agent, DEMO_AGENT, None).await?)
    } else {
        None
    };
    Ok(Welcome {
        local_url: hub.process.local_url().to_owned(),
        started_at: hub.process.started_at,
        owner_token: start_credential(hub, CredentialKind::Person, &owner, None).await?,
        terminal_token: start_credential(hub, CredentialKind::Terminal, &owner, None).await?,
        sign_in_url: link_to(
            hub,
            &start_credential(hub, CredentialKind::SignIn, &owner, Some(now.plus(SIGN_IN_LINK_TTL))).await?,
        ),
        demo_token,
        owner,
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

async fn add_demo_agent(hub: &Hub) -> anyhow::Result<()> {
    // This first token is discarded; every start creates a new one.
    let token = Token::new(CredentialKind::Agent)?;
    let op = AddAgent {
        id: DEMO_AGENT.to_owned(),
        reuse: false,
        signature_alg: SignatureAlg::HmacSha256,
        token_hash: token.hash,
        signing_key: new_signing_key()?,
        actor: HUB_ACTOR.to_owned(),
    };
    hub.store.run(op).await?;
    Ok(())
}

impl Welcome {
    pub fn text(&self, hub: &Hub) -> String {
        let mut text = format!(
            "Countersign is listening on {}\n\nSign in (works once):\n  {}\n",
            self.local_url, self.sign_in_url
        );
        if let Some(token) = &self.demo_token {
            text.push_str(&format!("\nLet an agent ask something:\n  {}\n", self.demo_line(token)));
            text.push_str(&format!(
                "\nThen answer it in the browser or a terminal:\n  {}/inbox\n",
                hub.process.browser_url()
            ));
            text.push_str("  countersign inbox\n");
        }
        text.push_str("\nCtrl-C stops the hub.\n");
        text
    }

    /// A shell command; the idempotency key has the time in it, so that every run is a new ask.
    fn demo_line(&self, token: &str) -> String {
        let url = &self.local_url;
        let owner = &self.owner;
        format!(
            r#"curl -sS {url}/v1/messages -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -d '{{"a2h_version":"0.3","type":"ask","created_at":"'$(date -u +%Y-%m-%dT%H:%M:%SZ)'","agent":{{"id":"demo","run_id":"demo","runtime":"cli"}},"title":"Ship to production?","body":"All checks are green.","idempotency_key":"demo-'$(date +%s%N)'","request":{{"mode":"confirm","allowed_resolvers":["human:{owner}"]}}}}'"#
        )
    }
}
