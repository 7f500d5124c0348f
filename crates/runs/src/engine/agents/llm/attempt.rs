//! One round with a model: the request, its retries, and reading the streamed answer.

use std::error::Error;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use countersign_protocol::backoff::Backoff;
use countersign_protocol::retry_after;
use countersign_protocol::sse::SseParser;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use tokio::time::{Instant, timeout, timeout_at};

use super::client::{LlmEndpoint, LlmTimeouts};
use super::excerpt::excerpt;
use super::response::{LlmResponse, ResponseError};
use crate::engine::agents::context::AgentContext;

/// The response usually ends with the last event; reading its end lets the pool reuse the connection.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(50);
const REFUSAL_READ_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_REFUSAL_BYTES: usize = 16 * 1024;
/// Bytes kept of an invalid response, for the error message.
const MAX_EXCERPT_BYTES: usize = 2048;
/// A normal answer comes in thousands of small events.
const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// A server that asks for a longer pause is not retried: an early retry would only make it worse.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);
const EVENTS: &str = "text/event-stream";
const BROKE_OFF: &str = "closed the connection in the middle of its answer";

/// The request of one round.
pub struct RoundRequest {
    pub run_id: String,
    pub body: Bytes,
    pub number: u32,
    /// Byte limit of the answer.
    pub max_bytes: usize,
}

/// A failed attempt.
struct AttemptError {
    why: String,
    /// A retry may succeed.
    retryable: bool,
    /// Pause requested by the server.
    retry_after: Option<Duration>,
}

impl AttemptError {
    fn retryable(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            retryable: true,
            retry_after: None,
        }
    }

    fn permanent(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            retryable: false,
            retry_after: None,
        }
    }
}

impl LlmEndpoint {
    pub async fn round<D: AgentContext>(
        &self,
        timeouts: LlmTimeouts,
        round: RoundRequest,
        context: &mut D,
    ) -> Result<LlmResponse, String> {
        let deadline = Instant::now() + timeouts.whole;
        let answer = match timeout_at(deadline, self.attempts(timeouts, deadline, &round, context)).await {
            Ok(answer) => answer,
            Err(_) => {
                let seconds = timeouts.whole.as_secs_f64();
                Err(format!(
                    "did not finish its answer within {seconds} s (llm.timeout_seconds)"
                ))
            }
        };
        answer.map_err(|why| format!("the model endpoint {} {why}", self.url))
    }

    async fn attempts<D: AgentContext>(
        &self,
        timeouts: LlmTimeouts,
        deadline: Instant,
        round: &RoundRequest,
        context: &mut D,
    ) -> Result<LlmResponse, String> {
        let mut retry = 0;
        let mut backoff = Backoff::new(timeouts.first_retry, MAX_PAUSE);
        loop {
            let mut answer = LlmResponse::new(round.number, round.max_bytes);
            let Err(error) = self.attempt(timeouts, &round.body, &mut answer, context).await else {
                return Ok(answer);
            };
            let requested = error.retry_after.unwrap_or_default();
            let pause = backoff.pause().max(requested);
            let again = error.retryable && !answer.was_streamed && retry < timeouts.retries;
            if !again || requested > MAX_RETRY_AFTER || Instant::now() + pause >= deadline {
                let times = if retry > 0 {
                    format!(" (attempt {})", retry + 1)
                } else {
                    String::new()
                };
                return Err(format!("{}{times}", error.why));
            }
            retry += 1;
            tracing::debug!(run_id = round.run_id, url = %self.url, retry, why = error.why, "retrying a model request");
            tokio::time::sleep(pause).await;
        }
    }

    async fn attempt<D: AgentContext>(
        &self,
        timeouts: LlmTimeouts,
        body: &Bytes,
        answer: &mut LlmResponse,
        context: &mut D,
    ) -> Result<(), AttemptError> {
        let mut request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            request = request.bearer_auth(key.reveal());
        }
        let response = request.body(body.clone()).send().await.map_err(unreachable)?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        if kind(&response) == "application/json" {
            self.read_whole(timeouts, response, answer, context).await?;
        } else {
            self.listen(timeouts, response, answer, context).await?;
        }
        answer.finish(context).await;
        if answer.is_complete() {
            Ok(())
        } else {
            Err(AttemptError::retryable(BROKE_OFF))
        }
    }

    async fn listen<D: AgentContext>(
        &self,
        timeouts: LlmTimeouts,
        mut response: Response,
        answer: &mut LlmResponse,
        context: &mut D,
    ) -> Result<(), AttemptError> {
        let mut events = SseParser::new(MAX_EVENT_BYTES);
        let mut has_events = false;
        let mut beginning = Vec::new();
        let too_long = |_| AttemptError::permanent("sent an event longer than 4 MiB");
        while let Some(bytes) = next(timeouts, &mut response, answer).await? {
            beginning.extend_from_slice(&bytes[..bytes.len().min(MAX_EXCERPT_BYTES - beginning.len())]);
            for event in events.feed(&bytes).map_err(too_long)? {
                has_events = true;
                self.take(&event.data, answer, context).await?;
            }
            if answer.ended {
                // Anything after the end marker is ignored.
                return next(timeouts, &mut response, answer).await.map(drop);
            }
        }
        match events.end().map_err(too_long)? {
            Some(event) if LlmResponse::is_whole(&event.data) => self.take(&event.data, answer, context).await,
            // Cut in the middle; the caller reports it.
            Some(_) => Ok(()),
            None if has_events => Ok(()),
            None => Err(self.no_events(&response, &beginning)),
        }
    }

    /// The error for a body without events: often the page of a proxy, or a wrong path in `base_url`.
    fn no_events(&self, response: &Response, beginning: &[u8]) -> AttemptError {
        let kind = kind(response);
        if beginning.is_empty() {
            return AttemptError::retryable(format!("answered {} with an empty body", response.status()));
        }
        if kind == EVENTS {
            return AttemptError::retryable(BROKE_OFF);
        }
        let kind = if kind.is_empty() {
            String::new()
        } else {
            format!(" ({})", excerpt(kind.as_bytes(), None))
        };
        let text = excerpt(beginning, self.key.as_ref());
        AttemptError::permanent(format!(
            "sent a response that is not from a model{kind}; check base_url. It says: {text}"
        ))
    }

    /// Reads the answer of a server that does not stream.
    async fn read_whole<D: AgentContext>(
        &self,
        timeouts: LlmTimeouts,
        mut response: Response,
        answer: &mut LlmResponse,
        context: &mut D,
    ) -> Result<(), AttemptError> {
        // JSON escapes and other fields make the body longer than the text.
        let max_bytes = answer.bytes_left().saturating_mul(2).saturating_add(64 * 1024);
        let mut body = Vec::new();
        while let Some(bytes) = next(timeouts, &mut response, answer).await? {
            body.extend_from_slice(&bytes);
            if body.len() > max_bytes {
                return Err(self.bad(ResponseError::TooLong, &[]));
            }
        }
        self.take(&body, answer, context).await?;
        answer.ended = true;
        Ok(())
    }

    async fn take<D: AgentContext>(
        &self,
        data: &[u8],
        answer: &mut LlmResponse,
        context: &mut D,
    ) -> Result<(), AttemptError> {
        let taken = answer.take(data, context).await;
        taken.map_err(|bad| self.bad(bad, data))
    }

    fn bad(&self, bad: ResponseError, data: &[u8]) -> AttemptError {
        let key = self.key.as_ref();
        match bad {
            ResponseError::Error(text) => {
                AttemptError::retryable(format!("reports an error: {}", excerpt(text.as_bytes(), key)))
            }
            ResponseError::NotJson(why) => AttemptError::permanent(format!(
                "sent an answer that cannot be parsed ({why}): {}",
                excerpt(data, key)
            )),
            ResponseError::TooLong => AttemptError::permanent("sent more than 4 MiB of text"),
            ResponseError::TooManyCalls => AttemptError::permanent("called too many tools at once"),
        }
    }

    async fn refused(&self, response: Response) -> AttemptError {
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let text = excerpt(&beginning(response).await, self.key.as_ref());
        let text = if text.is_empty() { text } else { format!(": {text}") };
        let hint = if status.is_redirection() {
            " (redirects are not followed; correct base_url)"
        } else {
            ""
        };
        let retryable =
            status.is_server_error() || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
        AttemptError {
            why: format!("answered {status}{hint}{text}"),
            retryable,
            retry_after,
        }
    }
}

/// The next bytes. Before the first output only the total timeout applies, then the idle timeout, and after the end
/// marker a short one.
async fn next(
    timeouts: LlmTimeouts,
    response: &mut Response,
    answer: &LlmResponse,
) -> Result<Option<Bytes>, AttemptError> {
    let limit = match (answer.ended, answer.has_begun() || answer.is_complete()) {
        (true, _) => CLOSE_TIMEOUT,
        (false, true) => timeouts.idle,
        // The total timeout still applies.
        (false, false) => Duration::MAX,
    };
    match timeout(limit, response.chunk()).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) | Err(_) if answer.is_complete() => Ok(None),
        Ok(Err(error)) => Err(AttemptError::retryable(format!("{BROKE_OFF}: {}", cause(error)))),
        Err(_) => {
            let seconds = limit.as_secs_f64();
            Err(AttemptError::permanent(format!(
                "sent nothing for {seconds} s (llm.idle_timeout_seconds)"
            )))
        }
    }
}

/// The media type of the response, without parameters.
fn kind(response: &Response) -> String {
    let kind = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[expect(clippy::disallowed_methods, reason = "an HTTP date is in wall-clock time")]
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    retry_after::read(headers.get(RETRY_AFTER)?.to_str().ok()?, SystemTime::now())
}

/// The first bytes of an error response.
async fn beginning(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(bytes)) = response.chunk().await {
            body.extend_from_slice(&bytes);
            if body.len() >= MAX_REFUSAL_BYTES {
                break;
            }
        }
    };
    // A partial body is better than none.
    drop(timeout(REFUSAL_READ_TIMEOUT, reading).await);
    body.truncate(MAX_REFUSAL_BYTES);
    body
}

fn unreachable(error: reqwest::Error) -> AttemptError {
    if error.is_builder() {
        return AttemptError::permanent(format!("cannot be called: {}", cause(error)));
    }
    if error.is_connect() {
        return AttemptError::retryable(format!("cannot be reached: {}", cause(error)));
    }
    AttemptError::retryable(format!("did not answer: {}", cause(error)))
}

/// The text of the innermost cause; the outer errors only repeat the address.
fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn Error = &error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
