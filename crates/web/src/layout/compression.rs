//! Compressed replies. The length of a compressed page tells how much of its text repeats. If strangers could choose a
//! part of the text and see the length, they could guess the rest: a CSRF token, or a question (BREACH). So a page is
//! compressed only if no part of it comes from the request, and a person has opened it, not another site or a script.

use std::io::Write;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

pub const GZIPPED: (HeaderName, HeaderValue) = (header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
/// All request headers that a page depends on.
pub const VARY: HeaderValue =
    HeaderValue::from_static("accept-encoding, accept-language, cookie, sec-fetch-mode, sec-fetch-site");

/// Middleware that compresses pages.
pub async fn compress_pages(request: Request, next: Next) -> Response {
    let may_compress = is_opened_by_person(&request) && accepts_gzip(request.headers());
    let response = next.run(request).await;
    if !may_compress || !is_page(&response) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(text) = to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.extend([GZIPPED]);
    Response::from_parts(parts, Body::from(gzip(&text, Compression::default())))
}

/// The request has no query, which pages repeat, and is neither from another site nor from a script: scripts load a page
/// again by themselves, also one that another site has opened.
fn is_opened_by_person(request: &Request) -> bool {
    let is = |name: &str, values: &[&str]| {
        let value = request.headers().get(name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| values.contains(&value))
    };
    request.method() == Method::GET
        && request.uri().query().is_none()
        && is("sec-fetch-mode", &["navigate"])
        && is("sec-fetch-site", &["same-origin", "none"])
}

/// A page that exists: an error page repeats the address that was not found.
fn is_page(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    response.status() == StatusCode::OK && kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}

pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(";q=").unwrap_or((coding, "1"));
        name.trim().eq_ignore_ascii_case("gzip") && weight.trim().parse().is_ok_and(|weight: f32| weight > 0.0)
    })
}

pub fn gzip(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    // Writing into memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_compressed_only_when_a_person_opens_it_without_a_query() {
        let opened = |method: &str, uri: &str, mode: &str, site: &str| {
            let request = Request::builder().method(method).uri(uri);
            let request = request.header("sec-fetch-mode", mode).header("sec-fetch-site", site);
            is_opened_by_person(&request.body(Body::empty()).unwrap())
        };
        assert!(opened("GET", "/inbox", "navigate", "same-origin"));
        assert!(opened("GET", "/inbox", "navigate", "none"));
        for site in ["same-site", "cross-site", ""] {
            assert!(!opened("GET", "/inbox", "navigate", site), "{site}");
        }
        assert!(!opened("GET", "/inbox", "cors", "same-origin"));
        assert!(!opened("GET", "/inbox/search?q=a", "navigate", "same-origin"));
        assert!(!opened("POST", "/inbox", "navigate", "same-origin"));
        assert!(!is_opened_by_person(&Request::new(Body::empty())));
    }

    #[test]
    fn gzip_is_used_only_by_clients_that_name_it() {
        let accepts = |value: &'static str| {
            accepts_gzip(&HeaderMap::from_iter([(
                header::ACCEPT_ENCODING,
                HeaderValue::from_static(value),
            )]))
        };
        for value in ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.5"] {
            assert!(accepts(value), "{value}");
        }
        for value in ["", "br", "gzip;q=0", "deflate, gzip;q=0.0", "xgzip"] {
            assert!(!accepts(value), "{value}");
        }
    }
}
