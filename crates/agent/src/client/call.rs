//! Requests to the hub: one attempt, or retries with backoff.

use std::error::Error as StdError;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use countersign_protocol::backoff::Backoff;
use countersign_protocol::retry_after;
use http::{HeaderMap, Method, header};
use tokio::time::Instant;
use url::Url;

use super::Client;
use crate::error::Error;

/// For requests that are not long-polls.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// A polled message holds the request and its response; the limit fits the request of a hub with generous limits.
const MAX_REPLY_BYTES: usize = 16 * 1024 * 1024;

#[derive(Debug, Clone)]
pub(crate) struct HubCall {
    pub method: Method,
    pub url: Url,
    /// Sent byte for byte on every attempt.
    pub body: Option<Bytes>,
    pub timeout: Duration,
}

impl HubCall {
    pub fn get(url: Url) -> Self {
        Self {
            method: Method::GET,
            url,
            body: None,
            timeout: REQUEST_TIMEOUT,
        }
    }

    pub fn post(url: Url, body: Bytes) -> Self {
        Self {
            method: Method::POST,
            url,
            body: Some(body),
            timeout: REQUEST_TIMEOUT,
        }
    }
}

#[derive(Debug)]
pub(crate) struct HubReply {
    pub status: u16,
    pub body: Vec<u8>,
    pub notice: Option<String>,
}

/// Why a call returned no reply.
#[derive(Debug)]
pub(crate) enum CallFailure {
    /// A retry would not help.
    Final(Error),
    /// The same request may succeed later.
    Passing {
        error: Error,
        retry_after: Option<Duration>,
    },
}

impl CallFailure {
    pub fn into_error(self) -> Error {
        match self {
            Self::Final(error) | Self::Passing { error, .. } => error,
        }
    }

    fn passing(error: Error) -> Self {
        Self::Passing {
            error,
            retry_after: None,
        }
    }
}

impl From<Error> for CallFailure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

impl Client {
    /// Retries the call until the hub accepts or rejects it. Gives up after `max_silence` without a reply. A hub that
    /// replies "try again later" gets the full `give_up_after`, because its database may be away for a moment.
    pub(crate) async fn call_with_retry(&self, call: &HubCall, max_silence: Duration) -> Result<HubReply, Error> {
        let started = Instant::now();
        let mut backoff = self.backoff();
        loop {
            let (error, retry_after) = match self.call(call).await {
                Ok(reply) => return Ok(reply),
                Err(CallFailure::Final(error)) => return Err(error),
                Err(CallFailure::Passing { error, retry_after }) => (error, retry_after),
            };
            let pause = backoff.pause().max(retry_after.unwrap_or_default());
            let hub_replied = matches!(error, Error::Refused { .. });
            let give_up_after = if hub_replied {
                self.give_up_after().max(max_silence)
            } else {
                max_silence
            };
            if started.elapsed().saturating_add(pause) > give_up_after {
                return Err(error);
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Makes one attempt. A status that asks to try again later is a failure, any other status a reply.
    pub(crate) async fn call(&self, call: &HubCall) -> Result<HubReply, CallFailure> {
        let mut request = self
            .http()
            .request(call.method.clone(), call.url.clone())
            .timeout(call.timeout);
        request = request
            .bearer_auth(self.token())
            .header(header::ACCEPT, "application/json");
        if let Some(body) = &call.body {
            request = request
                .header(header::CONTENT_TYPE, "application/json")
                .body(body.clone());
        }
        let response = request.send().await.map_err(|error| no_reply(&error, &call.url))?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = read(response, &call.url).await?;
        classify(status, &headers, body)
    }

    pub(super) fn backoff(&self) -> Backoff {
        Backoff::new(self.first_pause(), Duration::from_secs(30))
    }
}

/// The hub's remark on a message, in a header because the body of the acknowledgement is closed.
fn notice(headers: &HeaderMap) -> Option<String> {
    let text = headers.get("countersign-notice")?.to_str().ok()?;
    Some(text.to_owned())
}

fn classify(status: u16, headers: &HeaderMap, body: Vec<u8>) -> Result<HubReply, CallFailure> {
    match status {
        408 | 425 | 429 | 500..=599 => {
            // A proxy in between may have replied instead of the hub.
            let error = match Error::refused(status, &body) {
                Error::UnexpectedResponse(_) => Error::Unreachable(format!("the hub answered with status {status}")),
                refused => refused,
            };
            Err(CallFailure::Passing {
                error,
                retry_after: retry_after(headers),
            })
        }
        300..=399 => {
            let message = format!("status {status}, a redirect; use the hub's own address");
            Err(CallFailure::Final(Error::UnexpectedResponse(message)))
        }
        _ => Ok(HubReply {
            status,
            body,
            notice: notice(headers),
        }),
    }
}

#[expect(clippy::disallowed_methods, reason = "an HTTP date is in wall-clock time")]
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    retry_after::read(headers.get(header::RETRY_AFTER)?.to_str().ok()?, SystemTime::now())
}

async fn read(mut response: reqwest::Response, url: &Url) -> Result<Vec<u8>, CallFailure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| no_reply(&error, url))? {
        if body.len() + chunk.len() > MAX_REPLY_BYTES {
            return Err(Error::unexpected(format!("a reply larger than {MAX_REPLY_BYTES} bytes")).into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The error names only the origin: the rest of an address may be secret.
fn no_reply(error: &reqwest::Error, url: &Url) -> CallFailure {
    if error.is_builder() {
        return CallFailure::Final(Error::invalid(
            "token",
            "or the hub's address is not valid in an HTTP request",
        ));
    }
    let reason = if error.is_timeout() {
        "it did not answer in time".to_owned()
    } else {
        root_cause(error)
    };
    let origin = url.origin().ascii_serialization();
    CallFailure::passing(Error::Unreachable(format!(
        "the hub at {origin} cannot be reached: {reason}"
    )))
}

fn root_cause(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn classified(status: u16, body: &str) -> Result<HubReply, CallFailure> {
        let headers = HeaderMap::from_iter([(header::RETRY_AFTER, HeaderValue::from_static("3"))]);
        classify(status, &headers, body.as_bytes().to_vec())
    }

    #[test]
    fn only_temporary_failures_are_retried() {
        for status in [408, 425, 429, 500, 502, 503, 504, 599] {
            match classified(status, "<html>") {
                Err(CallFailure::Passing {
                    error: Error::Unreachable(_),
                    retry_after,
                }) => {
                    assert_eq!(retry_after, Some(Duration::from_secs(3)));
                }
                other => panic!("{status}: {other:?}"),
            }
        }
        for status in [301, 302, 307, 308] {
            assert!(
                matches!(
                    classified(status, ""),
                    Err(CallFailure::Final(Error::UnexpectedResponse(_)))
                ),
                "{status}"
            );
        }
        for status in [200, 202, 400, 401, 403, 404, 409, 410, 422] {
            assert!(
                matches!(classified(status, ""), Ok(reply) if reply.status == status),
                "{status}"
            );
        }
    }

    #[test]
    fn the_reason_of_a_busy_hub_is_kept() {
        let body = r#"{"error":{"code":"rate_limited","message":"too many open asks"}}"#;
        let error = classified(429, body).map(drop).unwrap_err().into_error();
        assert_eq!(error.to_string(), "too many open asks (rate_limited)");
    }
}
