//! Forms of anonymous users (login CSRF protection). There is no session yet, so a random value is both in the form
//! and in a cookie (double submit): another site can make a browser send a form here, but can neither read nor set the
//! value. Without this, another site could sign a person in under a different account.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::auth::{is_random_text, random_text};
use countersign_hub::http::body;
use countersign_hub::http::client_addr::ClientAddr;
use countersign_hub::limits::memory_budget::MemoryPermit;
use countersign_hub::problem::Problem;
use countersign_hub::problem::no_randomness;

use super::session;
use crate::layout::form::{FormFields, check_origin};
use crate::layout::page::PageError;
use crate::layout::signed_in_user::{cookie, cookie_name};

/// Size limit of a sign-in form: the longest name, password and `next`, percent-encoded.
const MAX_SIGN_IN_BYTES: usize = 4 * 1024;
const FORM_TOKEN_TTL: Duration = Duration::from_secs(24 * 3600);

/// The random value that the form and the cookie share.
pub struct FormToken {
    pub value: String,
    cookie: HeaderValue,
}

impl FormToken {
    /// Reuses the value of this browser, so that several open pages work, or makes a new one.
    pub fn of(hub: &Hub, headers: &HeaderMap) -> Result<Self, Problem> {
        let name = form_token_cookie(hub);
        let value = match form_token(hub, headers) {
            Some(value) => value.to_owned(),
            None => random_text().map_err(no_randomness)?,
        };
        let cookie = session::cookie(hub, &name, &value, FORM_TOKEN_TTL, "Strict");
        Ok(Self { value, cookie })
    }

    pub fn set_on(self, mut response: Response) -> Response {
        response.headers_mut().append(header::SET_COOKIE, self.cookie);
        response
    }
}

fn form_token_cookie(hub: &Hub) -> String {
    format!("{}_form", cookie_name(hub))
}

/// The value in the cookie of this browser.
fn form_token<'h>(hub: &Hub, headers: &'h HeaderMap) -> Option<&'h str> {
    cookie(headers, &form_token_cookie(hub)).filter(|value| is_random_text(value))
}

pub struct AnonymousForm {
    pub headers: HeaderMap,
    pub fields: FormFields,
    _permit: MemoryPermit,
}

impl FromRequest<Arc<Hub>> for AnonymousForm {
    type Rejection = PageError;

    async fn from_request(request: Request, hub: &Arc<Hub>) -> Result<Self, PageError> {
        let (mut parts, body) = request.into_parts();
        let Ok(address) = ClientAddr::from_request_parts(&mut parts, hub).await;
        check_origin(&parts.headers)?;
        // Without the cookie no byte of the body is read.
        let form_token = form_token(hub, &parts.headers).ok_or_else(PageError::foreign_form)?;
        let (bytes, permit) = body::read_unknown(hub, address, body, MAX_SIGN_IN_BYTES).await?;
        let fields = FormFields::parse(&bytes);
        if fields.get("csrf") != Some(form_token) {
            return Err(PageError::foreign_form());
        }
        Ok(Self {
            headers: parts.headers,
            fields,
            _permit: permit,
        })
    }
}
