//! `cueme cue`: asks, and waits for the answer.

use std::process::ExitCode;
use std::time::Instant;

use countersign_protocol::hap::{CueEnvelope, CueKind};

use super::join;
use crate::args::Flags;
use crate::failure::Failure;
use crate::print_outcome::{self, AskedCue};
use crate::session::HubSession;
use crate::setup::settings::Settings;
use crate::terminal::{out, shell, stdin};
use crate::wait;
use crate::wire::{AcceptedCue, CueRequest};

const USAGE: &str = "cueme cue <agent_id> -, with the envelope on stdin";
/// The body limit of the hub.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

pub fn run(words: &[String], flags: &Flags, started_at: Instant) -> Result<ExitCode, Failure> {
    let agent_id = check(words, flags)?;
    let envelope = stdin::envelope(CueKind::Cue)?;
    ask(agent_id, CueKind::Cue, envelope, flags, started_at)
}

/// Checks in the order of the original cueme, so that a wrong call gets the same first error.
fn check<'a>(words: &'a [String], flags: &Flags) -> Result<&'a str, Failure> {
    let agent_id = words.first().filter(|id| !id.trim().is_empty());
    let agent_id = agent_id.ok_or_else(|| Failure::usage(&format!("missing agent_id: {USAGE}")))?;
    if flags.payload {
        return Err(Failure::usage(
            "--payload is not supported: put it in a <cueme_payload> block on stdin",
        ));
    }
    match &words[1..] {
        [dash] if dash == "-" => Ok(agent_id),
        [dash, ..] if dash == "-" => Err(Failure::usage(&format!("too many arguments: {USAGE}"))),
        _ => Err(Failure::usage(&format!("the prompt comes on stdin: {USAGE}"))),
    }
}

/// Submits the cue and waits for its answer. The cue outlives this process; submitting the same envelope again finds
/// it.
pub fn ask(
    agent_id: &str,
    kind: CueKind,
    envelope: CueEnvelope,
    flags: &Flags,
    started_at: Instant,
) -> Result<ExitCode, Failure> {
    let settings = Settings::gather(flags)?;
    let body = body(agent_id, kind, &envelope)?;
    drop(envelope);
    let mut session = HubSession::new(&settings);
    let accepted = session.first_call(settings.deadline(started_at), |hub| hub.submit_cue(&body))?;
    // A long prompt does not stay in memory during the wait.
    drop(body);
    print_notices(&accepted);
    let outcome = wait::wait(&mut session, &accepted.id, settings.deadline(started_at))?;
    let asked = AskedCue {
        agent_id,
        id: &accepted.id,
        kind: Some(kind),
    };
    print_outcome::finish(&mut session, &asked, &outcome, &settings)
}

fn body(agent_id: &str, kind: CueKind, envelope: &CueEnvelope) -> Result<Vec<u8>, Failure> {
    let cue = CueRequest {
        agent_id,
        kind,
        prompt: &envelope.prompt,
        payload: envelope.payload.as_ref(),
        project_dir: &join::project_dir()?,
        terminal: shell::current(),
    };
    let body = serde_json::to_vec(&cue).map_err(|error| Failure::failed(&error.to_string()))?;
    if body.len() > MAX_BODY_BYTES {
        let message = format!(
            "the request has {} bytes, the hub accepts {MAX_BODY_BYTES}; shorten it",
            body.len()
        );
        return Err(Failure::usage(&message));
    }
    Ok(body)
}

fn print_notices(accepted: &AcceptedCue) {
    if let Some(warning) = &accepted.warning {
        out::remark(&format!("warning: {warning}"));
    }
    if accepted.attached {
        out::remark(&format!("this was asked before; waiting again for {}", accepted.id));
    }
    if !accepted.superseded.is_empty() {
        out::remark(&format!("this replaces {}", accepted.superseded.join(", ")));
    }
    match accepted.queued_behind {
        0 => {}
        1 => out::remark("one earlier request of this agent still waits for an answer"),
        more => out::remark(&format!(
            "{more} earlier requests of this agent still wait for an answer"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_line(line: &[&str], payload: bool) -> String {
        let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        match check(
            &words,
            &Flags {
                payload,
                ..Flags::default()
            },
        ) {
            Ok(agent_id) => agent_id.to_owned(),
            Err(failure) => failure.message.split(':').nth(1).unwrap_or_default().trim().to_owned(),
        }
    }

    #[test]
    fn errors_come_in_the_order_of_the_original() {
        assert_eq!(check_line(&["gavonel", "-"], false), "gavonel");
        assert_eq!(check_line(&[], true), "missing agent_id");
        assert_eq!(check_line(&["", "-"], false), "missing agent_id");
        assert_eq!(check_line(&["gavonel"], true), "--payload is not supported");
        assert_eq!(check_line(&["gavonel"], false), "the prompt comes on stdin");
        assert_eq!(check_line(&["gavonel", "hi", "-"], false), "the prompt comes on stdin");
        assert_eq!(check_line(&["gavonel", "-", "x"], false), "too many arguments");
    }

    #[test]
    fn a_request_above_the_hubs_limit_is_refused_locally() {
        let envelope = CueEnvelope {
            prompt: "\u{1}".repeat(2 * 1024 * 1024),
            payload: None,
        };
        assert_eq!(body("gavonel", CueKind::Cue, &envelope).unwrap_err().code, 2);
    }
}
