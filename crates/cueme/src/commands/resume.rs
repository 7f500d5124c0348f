//! `cueme resume`: waits again for the last question of an agent, without its envelope.

use std::process::ExitCode;
use std::time::Instant;

use crate::args::Flags;
use crate::failure::Failure;
use crate::print_outcome::{self, AskedCue};
use crate::session::HubSession;
use crate::setup::settings::Settings;
use crate::wait::{self, WaitOutcome};
use crate::wire::CueStatus;

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
    let mut session = HubSession::new(&settings);
    let Some(current) = session.first_call(None, |hub| hub.current(agent_id).map(Some).or_else(none_if_absent))? else {
        return Err(Failure::failed(&format!(
            "{agent_id} has no open request and no answer to collect; ask with `cueme cue`"
        )));
    };
    let id = current.id.clone();
    let outcome = match current.status {
        CueStatus::Open => wait::wait(&mut session, &id, settings.deadline(started_at))?,
        CueStatus::Answered | CueStatus::Declined | CueStatus::Cancelled | CueStatus::Expired => {
            WaitOutcome::Settled(Box::new(current))
        }
    };
    let asked = AskedCue {
        agent_id,
        id: &id,
        kind: None,
    };
    print_outcome::finish(&mut session, &asked, &outcome, &settings)
}

fn none_if_absent<T>(error: crate::client::HubError) -> Result<Option<T>, crate::client::HubError> {
    if error.is_not_found() { Ok(None) } else { Err(error) }
}
