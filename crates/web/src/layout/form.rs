//! Posted forms: limited in size, and accepted from our own pages only.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, header};
use countersign_hub::Hub;
use countersign_hub::http::body;
use countersign_hub::problem::Problem;
use url::form_urlencoded;

use super::page::PageError;
use super::signed_in_user::SignedInUser;

/// Size limit of a form.
pub const MAX_FORM_BYTES: usize = 256 * 1024;
/// Size limit of a form whose answer may be a long text. Percent-encoding may triple its size.
pub const MAX_LONG_FORM_BYTES: usize = 3 * 1024 * 1024 + MAX_FORM_BYTES;
const MAX_FIELDS: usize = 1000;
/// Scripts send the CSRF token in this header instead of a field.
pub const CSRF_HEADER: &str = "x-csrf";

/// The fields of a form in order; a name may occur several times.
#[derive(Debug, Default, Clone)]
pub struct FormFields(Vec<(String, String)>);

impl FormFields {
    pub fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().take(MAX_FIELDS).collect())
    }

    pub fn of(pairs: Vec<(String, String)>) -> Self {
        Self(pairs.into_iter().take(MAX_FIELDS).collect())
    }

    pub async fn read(body: Body) -> Result<Self, Problem> {
        Self::read_within(body, MAX_FORM_BYTES).await
    }

    pub async fn read_within(body: Body, max_bytes: usize) -> Result<Self, Problem> {
        Ok(Self::parse(&body::read(body, max_bytes).await?))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    pub fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns an empty text for a missing field.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }
}

/// A form posted by a signed-in user.
pub struct PostedForm {
    pub user: SignedInUser,
    pub fields: FormFields,
}

impl FromRequest<Arc<Hub>> for PostedForm {
    type Rejection = PageError;

    async fn from_request(request: Request, hub: &Arc<Hub>) -> Result<Self, PageError> {
        let (mut parts, body) = request.into_parts();
        let user = SignedInUser::from_request_parts(&mut parts, hub).await?;
        check_origin(&parts.headers)?;
        let fields = FormFields::read(body).await?;
        check_csrf(&parts.headers, &fields, &user)?;
        Ok(Self { user, fields })
    }
}

pub struct OwnerForm {
    pub user: SignedInUser,
    pub fields: FormFields,
}

impl FromRequest<Arc<Hub>> for OwnerForm {
    type Rejection = PageError;

    async fn from_request(request: Request, hub: &Arc<Hub>) -> Result<Self, PageError> {
        let PostedForm { user, fields } = PostedForm::from_request(request, hub).await?;
        if user.is_owner() {
            Ok(Self { user, fields })
        } else {
            Err(PageError::owners_only())
        }
    }
}

pub fn check_csrf(headers: &HeaderMap, fields: &FormFields, user: &SignedInUser) -> Result<(), PageError> {
    let header = headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok());
    let is_ours = header.or_else(|| fields.get("csrf")) == Some(user.csrf.as_str());
    if is_ours {
        Ok(())
    } else {
        Err(PageError::foreign_form())
    }
}

/// Checks `Sec-Fetch-Site` or `Origin`. The CSRF token is the actual protection; this check stops most foreign requests
/// earlier.
pub fn check_origin(headers: &HeaderMap) -> Result<(), PageError> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_ours = match text("sec-fetch-site") {
        Some(site) => matches!(site, "same-origin" | "none"),
        None => match (text(header::ORIGIN.as_str()), text(header::HOST.as_str())) {
            (Some(origin), Some(host)) => origin.split_once("://").is_some_and(|(_, from)| from == host),
            (None, _) | (Some(_), None) => true,
        },
    };
    if is_ours {
        Ok(())
    } else {
        Err(PageError::foreign_form())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|&(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn form_from_another_site_is_refused() {
        assert!(check_origin(&headers(&[("sec-fetch-site", "same-origin")])).is_ok());
        assert!(check_origin(&headers(&[("sec-fetch-site", "cross-site")])).is_err());
        assert!(check_origin(&headers(&[("sec-fetch-site", "same-site")])).is_err());
        assert!(check_origin(&headers(&[("origin", "http://a.example:1"), ("host", "a.example:1")])).is_ok());
        assert!(check_origin(&headers(&[("origin", "http://b.example"), ("host", "a.example")])).is_err());
        assert!(check_origin(&headers(&[("origin", "null"), ("host", "a.example")])).is_err());
        assert!(check_origin(&headers(&[("host", "a.example")])).is_ok());
    }

    #[test]
    fn fields_keep_their_order_and_repetitions() {
        let fields = FormFields::parse(b"id=1&id=2&text=a+b%26c&empty=");
        assert_eq!(fields.all("id").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(fields.text("text"), "a b&c");
        assert_eq!(fields.get("empty"), Some(""));
        assert_eq!(fields.get("absent"), None);
    }
}
