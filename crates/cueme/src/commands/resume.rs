//! `cueme resume`: waits again for what an agent asked last, without its envelope.

use std::process::ExitCode;
use std::time::Instant;

use crate::args::Flags;
use crate::failure::Failure;
use crate::finish::{self, Asked};
use crate::session::Seat;
use crate::setup::settings::Settings;
use crate::wait::{self, Waited};
use crate::wire::Status;

pub fn run(words: &[String], flags: &Flags, started_at: Instant) -> Result<ExitCode, Failure> {
    let agent_id = match words {
        [agent_id] if !agent_id.trim().is_empty() => agent_id,
        _ => {
            return Err(Failure::usage(
                "cueme resume <agent_id>: give one agent id and nothing else",
            ));
        }
    };
    let settings = Settings::gather(flags)?;
    let mut seat = Seat::new(&settings);
    let Some(current) = seat.first(None, |hub| hub.current(agent_id).map(Some).or_else(none_if_absent))? else {
        return Err(Failure::failed(&format!(
            "{agent_id} has no open request and no answer to collect; ask with `cueme cue`"
        )));
    };
    let id = current.id.clone();
    let waited = match current.status {
        Status::Open => wait::wait(&mut seat, &id, settings.deadline(started_at))?,
        Status::Answered | Status::Declined | Status::Cancelled | Status::Expired => Waited::Settled(Box::new(current)),
    };
    let asked = Asked {
        agent_id,
        id: &id,
        kind: None,
    };
    finish::finish(&mut seat, &asked, &waited, &settings)
}

fn none_if_absent<T>(error: crate::hub::HubError) -> Result<Option<T>, crate::hub::HubError> {
    if error.is_not_found() { Ok(None) } else { Err(error) }
}
