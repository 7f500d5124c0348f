//! This process's place at the hub: found at first, started if need be, and found again when the hub comes back elsewhere.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::failure::Failure;
use super::hub::{Hub, HubError};
use super::setup::locate::{AddressSource, Location};
use super::setup::settings::Settings;
use super::setup::start;
use super::terminal::out;

/// How long a first call rides out a hub that is just being restarted.
const FIRST_PATIENCE: Duration = Duration::from_secs(2);
/// And one that is there, and says that it cannot do anything yet.
const PATIENCE_WITH_A_HUB: Duration = Duration::from_secs(600);
/// A hub that starts replaces its tokens a moment before it tells the new ones.
const TOKEN_PATIENCE: Duration = Duration::from_secs(10);

pub struct Seat {
    named: Option<PathBuf>,
    may_start: bool,
    hub: Result<Hub, HubError>,
}

#[derive(Debug)]
pub enum GaveUp {
    /// The time was over; the same call may succeed later.
    InTime(HubError),
    ForGood(HubError),
}

impl GaveUp {
    pub fn error(self) -> HubError {
        match self {
            Self::InTime(error) | Self::ForGood(error) => error,
        }
    }
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        Self::failed(&error.to_string())
    }
}

impl Seat {
    pub fn new(settings: &Settings) -> Self {
        let named = settings.data.clone();
        let hub = found(named.as_deref());
        Self {
            named,
            may_start: settings.may_start,
            hub,
        }
    }

    /// The first call of a command. Where no hub runs on this machine, one is started for it.
    /// Whoever has a limit of their own waits no longer than that.
    pub fn first<T>(
        &mut self,
        deadline: Option<Instant>,
        call: impl Fn(&Hub) -> Result<T, HubError>,
    ) -> Result<T, Failure> {
        let error = match self.once(&call) {
            Ok(reply) => return Ok(reply),
            Err(error) if self.is_to_start(&error) => error,
            Err(error) if !error.may_pass(self.place()) => return Err(unstored(error)),
            Err(_) => match self.ride_out(deadline, &call) {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            },
        };
        if !self.is_to_start(&error) {
            return Err(unstored(error));
        }
        start::start(self.named.as_deref())?;
        self.find_again();
        self.ride_out(deadline, &call).map_err(unstored)
    }

    fn ride_out<T>(
        &mut self,
        deadline: Option<Instant>,
        call: impl Fn(&Hub) -> Result<T, HubError>,
    ) -> Result<T, HubError> {
        let until = Instant::now() + FIRST_PATIENCE;
        let error = match self.insist(Some(until), Remarks::Silent, &call) {
            Err(GaveUp::InTime(error)) if error.is_busy() => error,
            done => return done.map_err(GaveUp::error),
        };
        out::remark(&format!("the hub has not taken it yet: trying on ({error})"));
        let limit = until + PATIENCE_WITH_A_HUB;
        let until = deadline.map_or(limit, |deadline| deadline.min(limit));
        self.insist(Some(until), Remarks::Silent, call).map_err(GaveUp::error)
    }

    fn is_to_start(&self, error: &HubError) -> bool {
        self.may_start && self.is_here() && error.may_be_no_hub()
    }

    /// Calls until there is a reply, through restarts of the hub. Never starts one: whoever stopped it had a reason.
    pub fn insist<T>(
        &mut self,
        until: Option<Instant>,
        remarks: Remarks,
        call: impl Fn(&Hub) -> Result<T, HubError>,
    ) -> Result<T, GaveUp> {
        let mut away = Away { remarks, since: None };
        let mut strangers_since: Option<Instant> = None;
        let mut pause = Pause::new();
        loop {
            let error = match self.once(&call) {
                Ok(reply) => {
                    away.ended();
                    return Ok(reply);
                }
                Err(error) => error,
            };
            let now = Instant::now();
            let strangers = strangers_since.filter(|_| error.is_unauthenticated());
            strangers_since = error.is_unauthenticated().then_some(strangers.unwrap_or(now));
            let is_stranger = strangers.is_some_and(|since| now - since >= TOKEN_PATIENCE);
            if is_stranger || !error.may_pass(self.place()) {
                return Err(GaveUp::ForGood(error));
            }
            if until.is_some_and(|until| now >= until) {
                return Err(GaveUp::InTime(error));
            }
            away.began(&error);
            pause.take(until);
            self.find_again();
        }
    }

    fn once<T>(&self, call: impl Fn(&Hub) -> Result<T, HubError>) -> Result<T, HubError> {
        let hub = self.hub.as_ref().map_err(HubError::clone)?;
        call(hub).map_err(|error| match &hub.location().place {
            AddressSource::Environment if error.is_unauthenticated() => unknown_token(hub.location()),
            AddressSource::Environment | AddressSource::DataDirectory(_) => error,
        })
    }

    fn place(&self) -> Option<&AddressSource> {
        self.hub.as_ref().ok().map(|hub| &hub.location().place)
    }

    /// Whether the hub is one of this machine's data directories. One that was named is somebody else's to start.
    fn is_here(&self) -> bool {
        self.place() != Some(&AddressSource::Environment)
    }

    /// A restarted hub may have another port, and has another token. The connection is kept where nothing changed.
    fn find_again(&mut self) {
        let known = self.hub.as_ref().ok().map(Hub::location);
        match Location::find(self.named.as_deref()) {
            Ok(location) if Some(&location) == known => {}
            Ok(location) => self.hub = Ok(Hub::new(location)),
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

/// What the hub does not take is the caller's to change, as with an envelope that is refused here.
fn unstored(error: HubError) -> Failure {
    if error.is_invalid() {
        Failure::usage(&error.to_string())
    } else {
        error.into()
    }
}

fn found(named: Option<&Path>) -> Result<Hub, HubError> {
    Ok(Hub::new(Location::find(named)?))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remarks {
    Told,
    Silent,
}

/// One line when the hub is gone, one when it is back.
struct Away {
    remarks: Remarks,
    since: Option<Instant>,
}

impl Away {
    fn began(&mut self, error: &HubError) {
        if self.since.is_none() && self.remarks == Remarks::Told {
            out::remark(&format!(
                "the hub is away, the request is kept; waiting for it to come back ({error})"
            ));
        }
        self.since.get_or_insert_with(Instant::now);
    }

    fn ended(&self) {
        if let (Some(since), Remarks::Told) = (self.since, self.remarks) {
            out::remark(&format!("the hub is back after {} s", since.elapsed().as_secs()));
        }
    }
}

/// Longer from time to time, so that a hub which stays away costs nothing.
pub struct Pause(Duration);

impl Pause {
    const SHORTEST: Duration = Duration::from_millis(50);
    const LONGEST: Duration = Duration::from_secs(2);

    pub fn new() -> Self {
        Self(Self::SHORTEST)
    }

    pub fn take(&mut self, until: Option<Instant>) {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        sleep(self.next().min(left.unwrap_or(Self::LONGEST)));
    }

    fn next(&mut self) -> Duration {
        let next = self.0;
        self.0 = (next * 2).min(Self::LONGEST);
        next
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use ureq::http::StatusCode;

    use super::*;

    fn seat() -> Seat {
        let place = AddressSource::DataDirectory("/nonexistent/data".into());
        let location = Location {
            url: "http://127.0.0.1:1".to_owned(),
            token: "t".to_owned(),
            place,
        };
        Seat {
            named: Some("/nonexistent/data".into()),
            may_start: false,
            hub: Ok(Hub::new(location)),
        }
    }

    fn refused(status: StatusCode) -> HubError {
        HubError::Refused {
            status,
            message: "no".to_owned(),
        }
    }

    #[test]
    fn what_the_hub_refuses_is_not_tried_again() {
        let calls = Cell::new(0);
        let gave_up = seat().insist(None, Remarks::Silent, |_| -> Result<(), _> {
            calls.set(calls.get() + 1);
            Err(refused(StatusCode::NOT_FOUND))
        });
        assert!(matches!(gave_up, Err(GaveUp::ForGood(_))));
        assert_eq!(calls.get(), 1);
    }

    #[test]
    fn an_absent_hub_is_waited_for_until_the_time_is_over() {
        let until = Some(Instant::now());
        let gave_up = seat().insist(until, Remarks::Silent, |_| -> Result<(), _> {
            Err(refused(StatusCode::BAD_GATEWAY))
        });
        assert!(matches!(gave_up, Err(GaveUp::InTime(_))));
    }

    #[test]
    fn pauses_grow_up_to_two_seconds() {
        let mut pause = Pause::new();
        let pauses: Vec<u128> = std::iter::from_fn(|| Some(pause.next().as_millis())).take(8).collect();
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1600, 2000, 2000]);
    }
}
