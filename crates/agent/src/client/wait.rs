//! Polling for the outcome: once, or with long-polls until there is one.

use std::time::Duration;

use countersign_protocol::backoff::Backoff;
use countersign_protocol::json;
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::Client;
use super::call::{CallFailure, HubCall, HubReply, REQUEST_TIMEOUT};
use crate::error::Error;
use crate::outcome::Resolved;
use crate::ticket::Ticket;

/// The longest long-poll that a hub allows.
const MAX_POLL_TIME: Duration = Duration::from_secs(60);
/// The shortest long-poll requested after a proxy cut off longer ones.
const MIN_POLL_TIME: Duration = Duration::from_secs(5);
/// Network time allowed on top of the poll time.
const ROUND_TRIP_GRACE: Duration = Duration::from_secs(15);
/// For the last poll, after the caller's deadline.
const FINAL_POLL_TIMEOUT: Duration = Duration::from_secs(2);
/// Between two polls of a hub that does not support long-polls.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(5);

/// How long [`Client::wait`] waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitUntil {
    /// Waits without limit.
    Ended,
    /// Returns the progress known at that moment.
    Deadline(Instant),
}

/// The progress of a message.
#[derive(Debug, Clone)]
pub enum Progress {
    /// Not answered yet.
    Open,
    /// The final state of a notify.
    Delivered,
    /// The outcome of an ask or a task.
    Ended(Box<Resolved>),
}

impl WaitUntil {
    /// The long-poll time in whole seconds; `None` when less than a second is left.
    fn poll_time(self, max: Duration) -> Option<Duration> {
        let Self::Deadline(deadline) = self else {
            return Some(max);
        };
        let left = deadline.saturating_duration_since(Instant::now()).as_secs();
        (left > 0).then(|| Duration::from_secs(left).min(max))
    }

    async fn sleep(self, pause: Duration) {
        let wake = Instant::now() + pause;
        sleep_until(match self {
            Self::Ended => wake,
            Self::Deadline(deadline) => wake.min(deadline),
        })
        .await;
    }
}

impl Client {
    /// Polls once, without waiting.
    pub async fn look(&self, ticket: &Ticket) -> Result<Progress, Error> {
        self.pull(ticket, Duration::ZERO, REQUEST_TIMEOUT)
            .await
            .map_err(CallFailure::into_error)
    }

    /// Waits until the message has ended or the deadline has passed. Drop the future to stop waiting; the outcome stays
    /// with the hub. An unreachable hub is retried for as long as [`Client::giving_up_after`] says.
    pub async fn wait(&self, ticket: &Ticket, until: WaitUntil) -> Result<Progress, Error> {
        let mut idle = Backoff::new(self.first_pause(), MAX_POLL_INTERVAL);
        let mut silence = Silence::new(self);
        let mut max_poll_time = MAX_POLL_TIME;
        while let Some(poll_time) = until.poll_time(max_poll_time) {
            let polled_at = Instant::now();
            match self.pull_until(ticket, poll_time, until).await {
                Ok(Progress::Open) => {
                    silence.reset();
                    if polled_at.elapsed() < poll_time / 2 {
                        until.sleep(idle.pause()).await;
                    } else {
                        idle.reset();
                    }
                }
                Ok(progress @ (Progress::Delivered | Progress::Ended(_))) => return Ok(progress),
                Err(CallFailure::Final(error)) => return Err(error),
                Err(CallFailure::Passing { error, retry_after }) => {
                    max_poll_time = max_poll_time.min(shorter_poll_time(polled_at.elapsed()));
                    until.sleep(silence.next_pause(error, retry_after)?).await;
                }
            }
        }
        self.final_poll(ticket, until, silence.hub_replied).await
    }

    /// Polls a last time after the deadline. If that fails, a message that was open earlier still counts as open.
    async fn final_poll(&self, ticket: &Ticket, until: WaitUntil, was_open: bool) -> Result<Progress, Error> {
        until.sleep(MAX_POLL_TIME).await;
        match self.pull(ticket, Duration::ZERO, FINAL_POLL_TIMEOUT).await {
            Ok(progress) => Ok(progress),
            Err(CallFailure::Passing { .. }) if was_open => Ok(Progress::Open),
            Err(failure) => Err(failure.into_error()),
        }
    }

    async fn pull_until(
        &self,
        ticket: &Ticket,
        poll_time: Duration,
        until: WaitUntil,
    ) -> Result<Progress, CallFailure> {
        let pull = self.pull(ticket, poll_time, poll_time + ROUND_TRIP_GRACE);
        let WaitUntil::Deadline(deadline) = until else {
            return pull.await;
        };
        match timeout_at(deadline, pull).await {
            Ok(result) => result,
            Err(_) => {
                let error = Error::Unreachable(format!("the hub at {} did not answer in time", self.origin()));
                Err(CallFailure::Passing {
                    error,
                    retry_after: None,
                })
            }
        }
    }

    pub(super) async fn pull(
        &self,
        ticket: &Ticket,
        poll_time: Duration,
        timeout: Duration,
    ) -> Result<Progress, CallFailure> {
        let call = HubCall {
            timeout,
            ..self.pull_call(ticket, poll_time)?
        };
        Ok(progress(&self.call(&call).await?, ticket)?)
    }

    /// A GET of the ticket's poll address, with only `wait` added.
    pub(super) fn pull_call(&self, ticket: &Ticket, poll_time: Duration) -> Result<HubCall, Error> {
        let Some(poll_url) = &ticket.poll_url else {
            return Err(Error::invalid(
                "poll_url",
                "is not known yet: send the message again to learn it",
            ));
        };
        let mut url = self.poll_address(poll_url)?;
        if !poll_time.is_zero() {
            url.query_pairs_mut()
                .append_pair("wait", &poll_time.as_secs().to_string());
        }
        Ok(HubCall::get(url))
    }
}

/// Halves the poll time after a proxy cut a long-poll off, so that the next one ends before the proxy's timeout.
fn shorter_poll_time(cut_after: Duration) -> Duration {
    let half = Duration::from_secs(cut_after.as_secs() / 2);
    if cut_after < MIN_POLL_TIME {
        MAX_POLL_TIME
    } else {
        half.max(MIN_POLL_TIME)
    }
}

/// Measures how long the hub has not replied.
struct Silence {
    since: Instant,
    backoff: Backoff,
    give_up_after: Duration,
    hub_replied: bool,
}

impl Silence {
    fn new(client: &Client) -> Self {
        Self {
            since: Instant::now(),
            backoff: client.backoff(),
            give_up_after: client.give_up_after(),
            hub_replied: false,
        }
    }

    fn reset(&mut self) {
        (self.since, self.hub_replied) = (Instant::now(), true);
        self.backoff.reset();
    }

    fn next_pause(&mut self, error: Error, retry_after: Option<Duration>) -> Result<Duration, Error> {
        let pause = self.backoff.pause().max(retry_after.unwrap_or_default());
        if self.since.elapsed().saturating_add(pause) > self.give_up_after {
            Err(error)
        } else {
            Ok(pause)
        }
    }
}

pub(super) fn progress(reply: &HubReply, ticket: &Ticket) -> Result<Progress, Error> {
    match reply.status {
        200 => read(&reply.body, ticket),
        404 => Err(Error::NotFound),
        410 => Err(Error::Gone),
        status => Err(Error::refused(status, &reply.body)),
    }
}

fn read(body: &[u8], ticket: &Ticket) -> Result<Progress, Error> {
    let message = json::parse(body).map_err(|error| Error::unexpected(format!("the message: {error}")))?;
    if message.get("id").and_then(Value::as_str) != ticket.message_id.as_deref() {
        return Err(Error::unexpected("a different message than the one requested"));
    }
    match message.get("status").and_then(Value::as_str) {
        Some("open") => return Ok(Progress::Open),
        Some("delivered") => return Ok(Progress::Delivered),
        Some(_) => {}
        None => return Err(Error::unexpected("a message without a `status`")),
    }
    let text = std::str::from_utf8(body).unwrap_or_default();
    let response = json::raw_field(text, "response").ok().flatten();
    let response = response.ok_or_else(|| Error::unexpected("an ended message without a `response`"))?;
    let mut resolved = Resolved::from_response(response.get().as_bytes())?;
    if ticket.message_id.as_ref() != Some(&resolved.message_id) {
        return Err(Error::unexpected("the outcome of a different message"));
    }
    resolved.idempotency_key = message
        .get("idempotency_key")
        .and_then(Value::as_str)
        .map(str::to_owned);
    Ok(Progress::Ended(Box::new(resolved)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_poll_time_ends_before_the_deadline() {
        let left =
            |millis| WaitUntil::Deadline(Instant::now() + Duration::from_millis(millis)).poll_time(MAX_POLL_TIME);
        assert_eq!(left(0), None);
        assert_eq!(left(900), None);
        assert_eq!(left(7_990), Some(Duration::from_secs(7)));
        assert_eq!(left(3_600_000), Some(MAX_POLL_TIME));
        assert_eq!(
            WaitUntil::Ended.poll_time(Duration::from_secs(15)),
            Some(Duration::from_secs(15))
        );
    }

    #[test]
    fn the_poll_time_of_a_cut_off_poll_is_halved_and_a_refused_connection_changes_nothing() {
        let seconds = Duration::from_secs;
        assert_eq!(shorter_poll_time(Duration::from_millis(3)), MAX_POLL_TIME);
        assert_eq!(shorter_poll_time(seconds(31)), seconds(15));
        assert_eq!(shorter_poll_time(seconds(6)), MIN_POLL_TIME);
        assert!(shorter_poll_time(MAX_POLL_TIME + ROUND_TRIP_GRACE) < MAX_POLL_TIME);
    }
}
