//! One answer of a model: asked for, again where that helps, and read as it comes.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use reqwest::{Response, StatusCode};
use tokio::time::{Instant, timeout, timeout_at};

use super::super::seam::Desk;
use super::backoff;
use super::client::{Line, Patience};
use super::excerpt::excerpt;
use super::heard::{Bad, Heard};
use super::sse::Events;

/// The end of the connection usually comes with the last word; waiting for it lets the next round use it again.
const AFTERWORD: Duration = Duration::from_millis(50);
const REFUSAL_WAIT: Duration = Duration::from_secs(5);
const REFUSAL_READ: usize = 16 * 1024;
/// Of what is no answer, as much as is worth keeping to be told.
const KEPT: usize = 2048;
const EVENTS: &str = "text/event-stream";
const BROKE_OFF: &str = "broke off in the middle of its answer";

/// What one round asks for.
pub struct Wish {
    pub body: Bytes,
    pub number: u32,
    /// How many bytes the answer may have.
    pub most: usize,
}

/// An attempt that brought no answer.
struct Trouble {
    why: String,
    /// It may go better next time.
    passing: bool,
    /// How long the server asks to be left alone.
    rest: Option<Duration>,
}

impl Trouble {
    fn passing(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            passing: true,
            rest: None,
        }
    }

    fn lasting(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            passing: false,
            rest: None,
        }
    }
}

impl Line {
    pub async fn round<D: Desk>(&self, patience: Patience, wish: Wish, desk: &mut D) -> Result<Heard, String> {
        let deadline = Instant::now() + patience.whole;
        let heard = match timeout_at(deadline, self.attempts(patience, deadline, &wish, desk)).await {
            Ok(heard) => heard,
            Err(_) => {
                let seconds = patience.whole.as_secs_f64();
                Err(format!(
                    "did not finish its answer within {seconds} s (llm.timeout_seconds)"
                ))
            }
        };
        heard.map_err(|why| format!("the model endpoint {} {why}", self.url))
    }

    async fn attempts<D: Desk>(
        &self,
        patience: Patience,
        deadline: Instant,
        wish: &Wish,
        desk: &mut D,
    ) -> Result<Heard, String> {
        let mut retry = 0;
        loop {
            let mut heard = Heard::new(wish.number, wish.most);
            let Err(trouble) = self.attempt(patience, &wish.body, &mut heard, desk).await else {
                return Ok(heard);
            };
            let again = trouble.passing && !heard.was_told && retry < patience.retries;
            let pause = again
                .then(|| backoff::pause(patience.first_retry, retry, trouble.rest))
                .flatten();
            let Some(pause) = pause.filter(|pause| Instant::now() + *pause < deadline) else {
                let times = if retry > 0 {
                    format!(" (attempt {})", retry + 1)
                } else {
                    String::new()
                };
                return Err(format!("{}{times}", trouble.why));
            };
            retry += 1;
            tracing::debug!(url = %self.url, retry, why = trouble.why, "asking a model again");
            tokio::time::sleep(pause).await;
        }
    }

    async fn attempt<D: Desk>(
        &self,
        patience: Patience,
        body: &Bytes,
        heard: &mut Heard,
        desk: &mut D,
    ) -> Result<(), Trouble> {
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
            self.read_whole(patience, response, heard, desk).await?;
        } else {
            self.listen(patience, response, heard, desk).await?;
        }
        heard.finish(desk).await;
        if heard.is_complete() {
            Ok(())
        } else {
            Err(Trouble::passing(BROKE_OFF))
        }
    }

    async fn listen<D: Desk>(
        &self,
        patience: Patience,
        mut response: Response,
        heard: &mut Heard,
        desk: &mut D,
    ) -> Result<(), Trouble> {
        let mut events = Events::default();
        let mut has_events = false;
        let mut beginning = Vec::new();
        let too_long = |_| Trouble::lasting("sent an event that has no end");
        while let Some(bytes) = next(patience, &mut response, heard).await? {
            beginning.extend_from_slice(&bytes[..bytes.len().min(KEPT - beginning.len())]);
            for data in events.feed(&bytes).map_err(too_long)? {
                has_events = true;
                self.take(&data, heard, desk).await?;
            }
            if heard.ended {
                // What comes now is the end of the connection or nothing of ours.
                return next(patience, &mut response, heard).await.map(drop);
            }
        }
        match events.end().map_err(too_long)? {
            Some(data) if Heard::is_whole(&data) => self.take(&data, heard, desk).await,
            // Cut in the middle, which is told below.
            Some(_) => Ok(()),
            None if has_events => Ok(()),
            None => Err(self.no_events(&response, &beginning)),
        }
    }

    /// What came is something else: often the page of a proxy, or of a server that has its models at another address.
    fn no_events(&self, response: &Response, beginning: &[u8]) -> Trouble {
        let kind = kind(response);
        if beginning.is_empty() {
            return Trouble::passing(format!("answered {} with nothing", response.status()));
        }
        if kind == EVENTS {
            return Trouble::passing(BROKE_OFF);
        }
        let kind = if kind.is_empty() {
            String::new()
        } else {
            format!(" ({})", excerpt(kind.as_bytes(), None))
        };
        let said = excerpt(beginning, self.key.as_ref());
        Trouble::lasting(format!(
            "sent what is no answer of a model{kind}; is base_url right? It says: {said}"
        ))
    }

    /// From a server that does not stream.
    async fn read_whole<D: Desk>(
        &self,
        patience: Patience,
        mut response: Response,
        heard: &mut Heard,
        desk: &mut D,
    ) -> Result<(), Trouble> {
        // The text in it may be escaped, and has company.
        let most = heard.left().saturating_mul(2).saturating_add(64 * 1024);
        let mut body = Vec::new();
        while let Some(bytes) = next(patience, &mut response, heard).await? {
            body.extend_from_slice(&bytes);
            if body.len() > most {
                return Err(self.bad(Bad::TooLong, &[]));
            }
        }
        self.take(&body, heard, desk).await?;
        heard.ended = true;
        Ok(())
    }

    async fn take<D: Desk>(&self, data: &[u8], heard: &mut Heard, desk: &mut D) -> Result<(), Trouble> {
        let taken = heard.take(data, desk).await;
        taken.map_err(|bad| self.bad(bad, data))
    }

    fn bad(&self, bad: Bad, data: &[u8]) -> Trouble {
        let key = self.key.as_ref();
        match bad {
            Bad::Error(text) => Trouble::passing(format!("reports an error: {}", excerpt(text.as_bytes(), key))),
            Bad::NotJson(why) => Trouble::lasting(format!(
                "sent what is no answer of a model ({why}): {}",
                excerpt(data, key)
            )),
            Bad::TooLong => Trouble::lasting("sent more than 4 MiB of text"),
            Bad::TooManyCalls => Trouble::lasting("called too many tools at once"),
        }
    }

    async fn refused(&self, response: Response) -> Trouble {
        let status = response.status();
        let rest = backoff::retry_after(response.headers());
        let said = excerpt(&beginning(response).await, self.key.as_ref());
        let said = if said.is_empty() { said } else { format!(": {said}") };
        let hint = if status.is_redirection() {
            " (redirects are not followed; correct base_url)"
        } else {
            ""
        };
        let passing =
            status.is_server_error() || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
        Trouble {
            why: format!("answered {status}{hint}{said}"),
            passing,
            rest,
        }
    }
}

/// The next bytes. Before the first word a model may think as long as it likes; after the last one nobody waits long.
async fn next(patience: Patience, response: &mut Response, heard: &Heard) -> Result<Option<Bytes>, Trouble> {
    let limit = match (heard.ended, heard.has_begun() || heard.is_complete()) {
        (true, _) => AFTERWORD,
        (false, true) => patience.idle,
        // The time-out of the whole is still there.
        (false, false) => Duration::MAX,
    };
    match timeout(limit, response.chunk()).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) | Err(_) if heard.is_complete() => Ok(None),
        Ok(Err(error)) => Err(Trouble::passing(format!("{BROKE_OFF}: {}", cause(error)))),
        Err(_) => {
            let seconds = limit.as_secs_f64();
            Err(Trouble::lasting(format!(
                "said nothing for {seconds} s (llm.idle_timeout_seconds)"
            )))
        }
    }
}

/// What it calls its answer, without parameters.
fn kind(response: &Response) -> String {
    let kind = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// What a refusal says, as far as it is worth reading.
async fn beginning(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(bytes)) = response.chunk().await {
            body.extend_from_slice(&bytes);
            if body.len() >= REFUSAL_READ {
                break;
            }
        }
    };
    // Half of it is better than nothing.
    drop(timeout(REFUSAL_WAIT, reading).await);
    body.truncate(REFUSAL_READ);
    body
}

fn unreachable(error: reqwest::Error) -> Trouble {
    if error.is_builder() {
        return Trouble::lasting(format!("cannot be asked: {}", cause(error)));
    }
    if error.is_connect() {
        return Trouble::passing(format!("cannot be reached: {}", cause(error)));
    }
    Trouble::passing(format!("did not answer: {}", cause(error)))
}

/// The innermost cause in its own words; the outer ones repeat the address.
fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn Error = &error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
