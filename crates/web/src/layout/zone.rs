//! The reader's time zone: days in Pulse and in search filters begin at its midnight. Browsers do not send it, so a
//! script keeps its name in a cookie.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use jiff::tz::TimeZone;

use super::signed_in_user::cookie;

/// The scripts set it (`assets/local_time.js`).
const COOKIE: &str = "countersign_zone";

#[derive(Debug, Clone)]
pub struct ReaderZone {
    pub zone: TimeZone,
    /// Without scripts, or with a name that this machine does not have, the days are those of UTC.
    pub is_known: bool,
}

impl ReaderZone {
    fn from_headers(headers: &HeaderMap) -> Self {
        let found = cookie(headers, COOKIE).and_then(|name| TimeZone::get(name).ok());
        Self {
            is_known: found.is_some(),
            zone: found.unwrap_or(TimeZone::UTC),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ReaderZone {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::from_headers(&parts.headers))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::header;

    use super::*;

    #[test]
    fn the_zone_is_that_of_the_cookie_or_utc() {
        let zone = |cookie: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, cookie.parse().unwrap());
            let found = ReaderZone::from_headers(&headers);
            (found.zone.iana_name().unwrap_or_default().to_owned(), found.is_known)
        };
        assert_eq!(
            zone("a=b; countersign_zone=Asia/Kolkata"),
            ("Asia/Kolkata".to_owned(), true)
        );
        for odd in [
            "a=b",
            "countersign_zone=",
            "countersign_zone=Mars/Base",
            "countersign_zone=../../etc/passwd",
        ] {
            assert_eq!(zone(odd), ("UTC".to_owned(), false), "{odd}");
        }
    }
}
