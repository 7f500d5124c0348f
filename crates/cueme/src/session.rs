//! The session of this process with its hub: locates the hub, starts one if needed, retries calls, and locates the hub
//! again after a restart at another address.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use countersign_protocol::backoff::Backoff;

use super::client::{CuemeClient, HubError};
use super::failure::Failure;
use super::setup::locate::{AddressSource, Location};
use super::setup::settings::Settings;
use super::setup::start;
use super::terminal::out;

/// Retry time of the first call while the hub restarts.
const FIRST_CALL_TIMEOUT: Duration = Duration::from_secs(2);
/// Retry time of the first call while the hub answers 503.
const BUSY_HUB_TIMEOUT: Duration = Duration::from_secs(600);
/// Retry time after a 401: a starting hub replaces its tokens a moment before it writes them to `hub.json`.
const NEW_TOKEN_TIMEOUT: Duration = Duration::from_secs(10);

pub struct HubSession {
    data_flag: Option<PathBuf>,
    may_start: bool,
    hub: Result<CuemeClient, HubError>,
}

#[derive(Debug)]
pub enum RetryError {
    /// The time limit passed; the same call may succeed later.
    TimedOut(HubError),
    Permanent(HubError),
}

impl RetryError {
    pub fn into_error(self) -> HubError {
        match self {
            Self::TimedOut(error) | Self::Permanent(error) => error,
        }
    }
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        Self::failed(&error.to_string())
    }
}

impl HubSession {
    pub fn new(settings: &Settings) -> Self {
        let data_flag = settings.data.clone();
        let hub = connect(data_flag.as_deref());
        Self {
            data_flag,
            may_start: settings.may_start,
            hub,
        }
    }

    /// The first call of a command. Starts a hub when none runs on this machine. Retries against a busy hub
    /// end at `deadline`.
    pub fn first_call<T>(
        &mut self,
        deadline: Option<Instant>,
        call: impl Fn(&CuemeClient) -> Result<T, HubError>,
    ) -> Result<T, Failure> {
        let error = match self.call_once(&call) {
            Ok(reply) => return Ok(reply),
            Err(error) if self.should_start_hub(&error) => error,
            Err(error) if !error.is_transient(self.address_source()) => return Err(first_call_failure(error)),
            Err(_) => match self.retry_first_call(deadline, &call) {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            },
        };
        if !self.should_start_hub(&error) {
            return Err(first_call_failure(error));
        }
        start::start(self.data_flag.as_deref())?;
        self.relocate();
        self.retry_first_call(deadline, &call).map_err(first_call_failure)
    }

    fn retry_first_call<T>(
        &mut self,
        deadline: Option<Instant>,
        call: impl Fn(&CuemeClient) -> Result<T, HubError>,
    ) -> Result<T, HubError> {
        let until = Instant::now() + FIRST_CALL_TIMEOUT;
        let error = match self.call_with_retry(Some(until), OutageNotices::Silent, &call) {
            Err(RetryError::TimedOut(error)) if error.is_busy() => error,
            done => return done.map_err(RetryError::into_error),
        };
        out::remark(&format!("the hub is not ready yet; retrying ({error})"));
        let limit = until + BUSY_HUB_TIMEOUT;
        let until = deadline.map_or(limit, |deadline| deadline.min(limit));
        self.call_with_retry(Some(until), OutageNotices::Silent, call)
            .map_err(RetryError::into_error)
    }

    fn should_start_hub(&self, error: &HubError) -> bool {
        self.may_start && self.is_local() && error.suggests_no_hub()
    }

    /// Retries the call until there is a reply, through restarts of the hub. Never starts a hub that was stopped
    /// meanwhile: that may have been on purpose.
    pub fn call_with_retry<T>(
        &mut self,
        until: Option<Instant>,
        notices: OutageNotices,
        call: impl Fn(&CuemeClient) -> Result<T, HubError>,
    ) -> Result<T, RetryError> {
        let mut outage = OutageReporter { notices, since: None };
        let mut rejected_since: Option<Instant> = None;
        let mut delay = RetryDelay::new();
        loop {
            let error = match self.call_once(&call) {
                Ok(reply) => {
                    outage.report_end();
                    return Ok(reply);
                }
                Err(error) => error,
            };
            let now = Instant::now();
            let rejected = rejected_since.filter(|_| error.is_unauthenticated());
            rejected_since = error.is_unauthenticated().then_some(rejected.unwrap_or(now));
            let token_is_wrong = rejected.is_some_and(|since| now - since >= NEW_TOKEN_TIMEOUT);
            if token_is_wrong || !error.is_transient(self.address_source()) {
                return Err(RetryError::Permanent(error));
            }
            if until.is_some_and(|until| now >= until) {
                return Err(RetryError::TimedOut(error));
            }
            outage.report_start(&error);
            delay.sleep(until);
            self.relocate();
        }
    }

    fn call_once<T>(&self, call: impl Fn(&CuemeClient) -> Result<T, HubError>) -> Result<T, HubError> {
        let hub = self.hub.as_ref().map_err(HubError::clone)?;
        call(hub).map_err(|error| match &hub.location().source {
            AddressSource::Environment if error.is_unauthenticated() => unknown_token(hub.location()),
            AddressSource::Environment | AddressSource::DataDirectory(_) => error,
        })
    }

    fn address_source(&self) -> Option<&AddressSource> {
        self.hub.as_ref().ok().map(|hub| &hub.location().source)
    }

    /// Whether the hub belongs to a data directory of this machine. A hub named by `COUNTERSIGN_URL` is never started
    /// here.
    fn is_local(&self) -> bool {
        self.address_source() != Some(&AddressSource::Environment)
    }

    /// Locates the hub again: after a restart its token is new and its port may be. Keeps the connection if nothing
    /// changed.
    fn relocate(&mut self) {
        let known = self.hub.as_ref().ok().map(CuemeClient::location);
        match Location::find(self.data_flag.as_deref()) {
            Ok(location) if Some(&location) == known => {}
            Ok(location) => self.hub = Ok(CuemeClient::new(location)),
            Err(error) => self.hub = Err(error.into()),
        }
    }
}

fn unknown_token(location: &Location) -> HubError {
    HubError::Setting(format!(
        "the hub at {} does not know COUNTERSIGN_TOKEN; `countersign person token NAME --terminal` makes one there",
        location.shown_url()
    ))
}

/// A request that the hub refuses as invalid counts as a usage error, like an invalid envelope.
fn first_call_failure(error: HubError) -> Failure {
    if error.is_caller_error() {
        Failure::usage(&error.to_string())
    } else {
        error.into()
    }
}

fn connect(data_flag: Option<&Path>) -> Result<CuemeClient, HubError> {
    Ok(CuemeClient::new(Location::find(data_flag)?))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutageNotices {
    Printed,
    Silent,
}

/// Prints one line when the hub becomes unreachable and one when it is back.
struct OutageReporter {
    notices: OutageNotices,
    since: Option<Instant>,
}

impl OutageReporter {
    fn report_start(&mut self, error: &HubError) {
        if self.since.is_none() && self.notices == OutageNotices::Printed {
            out::remark(&format!(
                "the hub is away, the request is kept; waiting for it to come back ({error})"
            ));
        }
        self.since.get_or_insert_with(Instant::now);
    }

    fn report_end(&self) {
        if let (Some(since), OutageNotices::Printed) = (self.since, self.notices) {
            out::remark(&format!("the hub is back after {} s", since.elapsed().as_secs()));
        }
    }
}

/// Sleeps between retries.
pub struct RetryDelay(Backoff);

impl RetryDelay {
    pub fn new() -> Self {
        Self(Backoff::new(Duration::from_millis(50), Duration::from_secs(2)))
    }

    pub fn sleep(&mut self, until: Option<Instant>) {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        sleep(self.0.pause().min(left.unwrap_or(Duration::MAX)));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use ureq::http::StatusCode;

    use super::*;

    fn session() -> HubSession {
        let source = AddressSource::DataDirectory("/nonexistent/data".into());
        let location = Location {
            url: "http://127.0.0.1:1".to_owned(),
            token: "t".to_owned(),
            source,
        };
        HubSession {
            data_flag: Some("/nonexistent/data".into()),
            may_start: false,
            hub: Ok(CuemeClient::new(location)),
        }
    }

    fn refused(status: StatusCode) -> HubError {
        HubError::Refused {
            status,
            message: "no".to_owned(),
        }
    }

    #[test]
    fn a_refused_call_is_not_retried() {
        let calls = Cell::new(0);
        let result = session().call_with_retry(None, OutageNotices::Silent, |_| -> Result<(), _> {
            calls.set(calls.get() + 1);
            Err(refused(StatusCode::NOT_FOUND))
        });
        assert!(matches!(result, Err(RetryError::Permanent(_))));
        assert_eq!(calls.get(), 1);
    }

    #[test]
    fn an_unreachable_hub_is_retried_until_the_deadline() {
        let until = Some(Instant::now());
        let result = session().call_with_retry(until, OutageNotices::Silent, |_| -> Result<(), _> {
            Err(refused(StatusCode::BAD_GATEWAY))
        });
        assert!(matches!(result, Err(RetryError::TimedOut(_))));
    }
}
