//! Browser sessions: start, cookie and sign-out.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::auth::Token;
use countersign_hub::problem::Problem;
use countersign_hub::problem::no_randomness;
use countersign_store::ops::account::credential::{CredentialKind, EndCredential, NewSession};

use super::device_label::device_label;
use crate::layout::form::PostedForm;
use crate::layout::page::{PageError, see_other};
use crate::layout::signed_in_user::{SignedInUser, cookie_name, is_secure, session_hash};

const SESSION_TTL: Duration = Duration::from_secs(30 * 24 * 3600);

/// A session that is about to start: the token for the browser, and the row for the store.
pub struct NewBrowserSession {
    token: Token,
    pub session: NewSession,
}

impl NewBrowserSession {
    pub fn for_browser(hub: &Hub, headers: &HeaderMap) -> Result<Self, Problem> {
        let token = Token::new(CredentialKind::Session).map_err(no_randomness)?;
        let user_agent = headers
            .get(header::USER_AGENT)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let expires_at = hub.store.clock().now().plus(SESSION_TTL);
        let session = NewSession {
            hash: session_hash(hub, &token.text),
            label: device_label(user_agent),
            expires_at,
        };
        Ok(Self { token, session })
    }

    pub fn cookie(&self, hub: &Hub) -> HeaderValue {
        cookie(hub, &cookie_name(hub), &self.token.text, SESSION_TTL, "Lax")
    }
}

/// Builds a cookie. The hub makes the value, so it is always a valid header value.
pub fn cookie(hub: &Hub, name: &str, value: &str, ttl: Duration, same_site: &str) -> HeaderValue {
    let secure = if is_secure(hub) { "; Secure" } else { "" };
    let seconds = ttl.as_secs();
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite={same_site}; Max-Age={seconds}{secure}");
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

/// Ends the session that the browser had before it signed in again.
pub async fn end_previous_session(hub: &Hub, headers: &HeaderMap) -> Result<(), PageError> {
    match SignedInUser::from_headers(headers, hub).await? {
        Some(user) => Ok(end(hub, &user).await?),
        None => Ok(()),
    }
}

async fn end(hub: &Hub, user: &SignedInUser) -> Result<(), Problem> {
    let op = EndCredential {
        person: user.name.clone(),
        kind: CredentialKind::Session,
        id: user.session_id(),
        actor: user.actor().to_string(),
    };
    hub.auth.revoke(op).await?;
    Ok(())
}

/// POST /signout
pub async fn sign_out(State(hub): State<Arc<Hub>>, posted: PostedForm) -> Result<Response, PageError> {
    end(&hub, &posted.user).await?;
    let mut response = see_other("/signin");
    let gone = cookie(&hub, &cookie_name(&hub), "", Duration::ZERO, "Lax");
    response.headers_mut().append(header::SET_COOKIE, gone);
    Ok(response)
}
