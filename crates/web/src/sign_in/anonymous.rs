//! Forms of those who are not signed in yet. There is no session to tie them to, so a random value stands both in the form
//! and in a cookie: another site can make a browser send a form here, but can neither read nor choose the two. Without
//! it, it could sign somebody in as somebody else.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::admin::no_randomness;
use countersign_hub::auth::{is_random_text, random_text};
use countersign_hub::problem::Problem;

use super::session;
use crate::frame::form::{Fields, check_origin};
use crate::frame::page::Failure;
use crate::frame::signed_in::{cookie, cookie_name};

const LIVES: Duration = Duration::from_secs(24 * 3600);

/// What the form and the cookie share.
pub struct Pass {
    pub value: String,
    cookie: HeaderValue,
}

impl Pass {
    /// The one this browser has, so that two open pages do not fight; else a new one.
    pub fn of(hub: &Hub, headers: &HeaderMap) -> Result<Self, Problem> {
        let name = pass_name(hub);
        let value = match cookie(headers, &name).filter(|held| is_random_text(held)) {
            Some(held) => held.to_owned(),
            None => random_text().map_err(no_randomness)?,
        };
        let cookie = session::cookie(hub, &name, &value, LIVES, "Strict");
        Ok(Self { value, cookie })
    }

    pub fn put_on(self, mut response: Response) -> Response {
        response.headers_mut().append(header::SET_COOKIE, self.cookie);
        response
    }
}

fn pass_name(hub: &Hub) -> String {
    format!("{}_form", cookie_name(hub))
}

pub struct StrangerPosted {
    pub headers: HeaderMap,
    pub fields: Fields,
}

impl FromRequest<Arc<Hub>> for StrangerPosted {
    type Rejection = Failure;

    async fn from_request(request: Request, hub: &Arc<Hub>) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        check_origin(&parts.headers)?;
        let fields = Fields::read(body).await?;
        let held = cookie(&parts.headers, &pass_name(hub)).filter(|held| is_random_text(held));
        if held.is_none() || held != fields.get("csrf") {
            return Err(Failure::foreign_form());
        }
        Ok(Self {
            headers: parts.headers,
            fields,
        })
    }
}
