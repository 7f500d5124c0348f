//! The signed-in user: a person whose browser holds a session cookie.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::access::{Principal, Role};
use countersign_core::{Actor, Digest};
use countersign_hub::Hub;
use countersign_hub::auth::hash_session;
use countersign_telemetry::request::set_account;
use url::Url;

use super::page::{PageError, PageRequest};

pub struct SignedInUser {
    pub name: String,
    pub role: Role,
    /// The CSRF token in every form of this session.
    pub csrf: String,
    /// The hash of the session's token, as the store has it.
    pub session: [u8; 32],
}

impl SignedInUser {
    pub fn principal(&self) -> Principal {
        Principal::Person {
            name: self.name.clone(),
            role: self.role,
        }
    }

    pub fn actor(&self) -> Actor {
        Actor::human(&self.name)
    }

    pub fn is_owner(&self) -> bool {
        self.role == Role::Owner
    }

    pub fn may_decide(&self) -> bool {
        match self.role {
            Role::Owner | Role::Resolver => true,
            Role::Viewer => false,
        }
    }

    /// The id of this session in the list of sessions.
    pub fn session_id(&self) -> String {
        self.session.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    pub async fn from_headers(headers: &HeaderMap, hub: &Hub) -> Result<Option<Self>, PageError> {
        let Some(token) = cookie(headers, &cookie_name(hub)) else {
            return Ok(None);
        };
        let session = session_hash(hub, token);
        match hub.auth.credentials.session(&hub.store, session).await? {
            Some(Principal::Person { name, role }) => {
                set_account("human", &name);
                Ok(Some(Self {
                    name,
                    role,
                    csrf: csrf_of(token),
                    session,
                }))
            }
            Some(Principal::Agent { .. } | Principal::Terminal { .. }) | None => Ok(None),
        }
    }
}

pub fn session_hash(hub: &Hub, token: &str) -> [u8; 32] {
    hash_session(hub.process.session_place().as_deref(), token)
}

/// The CSRF token is derived from the session token, so it needs no storage and ends with the session.
fn csrf_of(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Digest::of(format!("csrf:{token}").as_bytes()).into_bytes())
}

/// The cookie name contains the port, because browsers share cookies between all ports of a host. It is the port of the
/// public address, so that hubs behind one address share their sessions.
pub fn cookie_name(hub: &Hub) -> String {
    let is_secure = is_secure(hub);
    if is_secure && hub.config.public_url.is_some() {
        return "__Host-countersign".to_owned();
    }
    let prefix = if is_secure { "__Host-" } else { "" };
    let port = Url::parse(hub.process.url())
        .ok()
        .and_then(|url| url.port_or_known_default())
        .unwrap_or_default();
    format!("{prefix}countersign_{port}")
}

pub fn is_secure(hub: &Hub) -> bool {
    hub.process.url().starts_with("https://")
}

pub fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(';')).find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name && !value.is_empty() && value.len() <= 512).then_some(value)
    })
}

impl FromRequestParts<Arc<Hub>> for SignedInUser {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, PageError> {
        let request = PageRequest::from_parts(parts);
        let found = Self::from_headers(&parts.headers, hub).await?;
        found.ok_or(match parts.method {
            Method::GET if !request.fragment => PageError::SignIn { next: request.path },
            _ => PageError::SignedOut,
        })
    }
}

/// A signed-in owner, for the administration pages.
pub struct SignedInOwner(pub SignedInUser);

impl FromRequestParts<Arc<Hub>> for SignedInOwner {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, PageError> {
        let user = SignedInUser::from_request_parts(parts, hub).await?;
        if user.is_owner() {
            Ok(Self(user))
        } else {
            Err(PageError::owners_only())
        }
    }
}
