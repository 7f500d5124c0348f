//! Prints an outcome for the agent. The answer is acknowledged to the hub only after it was written to stdout.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use countersign_protocol::hap::CueKind;

use super::failure::Failure;
use super::session::{HubSession, OutageNotices};
use super::setup::settings::Settings;
use super::terminal::out;
use super::wait::WaitOutcome;
use super::{earlier_answers, files, json, reply};

/// Time limit for all acknowledgements together.
const ACK_TIMEOUT: Duration = Duration::from_secs(2);

/// The cue that this process waits for.
pub struct AskedCue<'a> {
    pub agent_id: &'a str,
    pub id: &'a str,
    pub kind: Option<CueKind>,
}

pub fn finish(
    session: &mut HubSession,
    asked: &AskedCue,
    outcome: &WaitOutcome,
    settings: &Settings,
) -> Result<ExitCode, Failure> {
    let saved = match outcome {
        WaitOutcome::Settled(cue) => files::save(session, cue, settings.data.as_deref())?,
        WaitOutcome::StillOpen { .. } => Vec::new(),
    };
    let earlier = earlier_answers::fetch(session, asked, outcome, settings);
    let (text, code) = if settings.json {
        (json::line(asked, outcome, &saved, &earlier), json::exit_code(outcome))
    } else {
        (
            reply::text(asked, outcome, &saved, &earlier, settings),
            ExitCode::SUCCESS,
        )
    };
    if let Err(error) = out::write(&text) {
        return Err(Failure::failed(&output_error(&error, asked, outcome)));
    }
    let until = Instant::now() + ACK_TIMEOUT;
    if let WaitOutcome::Settled(cue) = outcome {
        acknowledge(session, &cue.id, until);
    }
    for answer in &earlier {
        acknowledge(session, &answer.cue.id, until);
    }
    Ok(code)
}

fn acknowledge(session: &mut HubSession, id: &str, until: Instant) {
    if let Err(retry_error) = session.call_with_retry(Some(until), OutageNotices::Silent, |hub| hub.acknowledge(id)) {
        let error = retry_error.into_error();
        out::remark(&format!(
            "warning: the answer could not be acknowledged; the hub may deliver it again: {error}"
        ));
    }
}

fn output_error(error: &std::io::Error, asked: &AskedCue, outcome: &WaitOutcome) -> String {
    let kept = match outcome {
        WaitOutcome::Settled(_) => "the answer is kept",
        WaitOutcome::StillOpen { .. } => "the request is kept",
    };
    let agent_id = out::shell_quoted(asked.agent_id);
    format!(
        "standard output cannot be written: {error}; {kept}: run the same command again, or `cueme resume {agent_id}`"
    )
}
