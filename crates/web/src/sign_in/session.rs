//! A session from its cookie to its end.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::admin::no_randomness;
use countersign_hub::auth::Token;
use countersign_hub::problem::Problem;
use countersign_store::ops::credential::{EndCredential, Kind, NewSession};

use super::device::device;
use crate::frame::form::Posted;
use crate::frame::page::{Failure, see_other};
use crate::frame::signed_in::{Visitor, cookie_name, is_secure};

const SESSION_LIVES: Duration = Duration::from_secs(30 * 24 * 3600);

/// A session that is about to start: its secret for the browser, the rest for the store.
pub struct Fresh {
    token: Token,
    pub session: NewSession,
}

impl Fresh {
    pub fn for_browser(hub: &Hub, headers: &HeaderMap) -> Result<Self, Problem> {
        let token = Token::new(Kind::Session).map_err(no_randomness)?;
        let user_agent = headers
            .get(header::USER_AGENT)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let expires_at = hub.store.clock().now().plus(SESSION_LIVES);
        let session = NewSession {
            hash: token.hash,
            label: device(user_agent),
            expires_at,
        };
        Ok(Self { token, session })
    }

    pub fn cookie(&self, hub: &Hub) -> HeaderValue {
        cookie(hub, &cookie_name(hub), &self.token.text, SESSION_LIVES, "Lax")
    }
}

/// The value is ours, so it always fits into a header.
pub fn cookie(hub: &Hub, name: &str, value: &str, lives: Duration, same_site: &str) -> HeaderValue {
    let secure = if is_secure(hub) { "; Secure" } else { "" };
    let seconds = lives.as_secs();
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite={same_site}; Max-Age={seconds}{secure}");
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

/// Who signs in anew leaves nothing of the old session behind.
pub async fn leave_earlier(hub: &Hub, headers: &HeaderMap) -> Result<(), Failure> {
    match Visitor::from_headers(headers, hub).await? {
        Some(visitor) => Ok(end(hub, &visitor).await?),
        None => Ok(()),
    }
}

async fn end(hub: &Hub, visitor: &Visitor) -> Result<(), Problem> {
    let op = EndCredential {
        person: visitor.name.clone(),
        kind: Kind::Session,
        id: visitor.session_id(),
        actor: visitor.actor().to_string(),
    };
    hub.end_credentials(op).await?;
    Ok(())
}

/// POST /signout
pub async fn sign_out(State(hub): State<Arc<Hub>>, posted: Posted) -> Result<Response, Failure> {
    end(&hub, &posted.visitor).await?;
    let mut response = see_other("/signin");
    let gone = cookie(&hub, &cookie_name(&hub), "", Duration::ZERO, "Lax");
    response.headers_mut().append(header::SET_COOKIE, gone);
    Ok(response)
}
