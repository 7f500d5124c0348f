//! `cueme cue`: asks, and waits for the answer.

use std::process::ExitCode;
use std::time::Instant;

use countersign_protocol::hap::{CueEnvelope, CueKind};

use super::join;
use crate::args::Flags;
use crate::failure::Failure;
use crate::finish::{self, Asked};
use crate::session::Seat;
use crate::setup::settings::Settings;
use crate::terminal::{out, shell, stdin};
use crate::wait;
use crate::wire::{Cue, Kept};

const USAGE: &str = "cueme cue <agent_id> -, with the envelope on stdin";
/// What the hub takes in one request.
const MOST_BODY_BYTES: usize = 8 * 1024 * 1024;

pub fn run(words: &[String], flags: &Flags, started_at: Instant) -> Result<ExitCode, Failure> {
    let agent_id = check(words, flags)?;
    let envelope = stdin::envelope(CueKind::Cue)?;
    ask(agent_id, CueKind::Cue, envelope, flags, started_at)
}

/// In the original's order, so that a wrong call is told the same thing first.
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

/// Once the hub has it, it outlives this process; the same envelope again finds it.
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
    let mut seat = Seat::new(&settings);
    let kept = seat.first(settings.deadline(started_at), |hub| hub.keep(&body))?;
    // Nothing of a long prompt stays in memory while its person thinks.
    drop(body);
    tell(&kept);
    let waited = wait::wait(&mut seat, &kept.id, settings.deadline(started_at))?;
    let asked = Asked {
        agent_id,
        id: &kept.id,
        kind: Some(kind),
    };
    finish::finish(&mut seat, &asked, &waited, &settings)
}

fn body(agent_id: &str, kind: CueKind, envelope: &CueEnvelope) -> Result<Vec<u8>, Failure> {
    let cue = Cue {
        agent_id,
        kind,
        prompt: &envelope.prompt,
        payload: envelope.payload.as_ref(),
        project_dir: &join::project_dir()?,
        terminal: shell::current(),
    };
    let body = serde_json::to_vec(&cue).map_err(|error| Failure::failed(&error.to_string()))?;
    if body.len() > MOST_BODY_BYTES {
        let told = format!(
            "the request has {} bytes, and the hub takes {MOST_BODY_BYTES}; say it in fewer",
            body.len()
        );
        return Err(Failure::usage(&told));
    }
    Ok(body)
}

fn tell(kept: &Kept) {
    if let Some(warning) = &kept.warning {
        out::remark(&format!("warning: {warning}"));
    }
    if kept.attached {
        out::remark(&format!("this was asked before; waiting again for {}", kept.id));
    }
    if !kept.superseded.is_empty() {
        out::remark(&format!("this replaces {}", kept.superseded.join(", ")));
    }
    match kept.queued_behind {
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

    fn told(line: &[&str], payload: bool) -> String {
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
    fn wrong_calls_are_told_in_the_originals_order() {
        assert_eq!(told(&["gavonel", "-"], false), "gavonel");
        assert_eq!(told(&[], true), "missing agent_id");
        assert_eq!(told(&["", "-"], false), "missing agent_id");
        assert_eq!(told(&["gavonel"], true), "--payload is not supported");
        assert_eq!(told(&["gavonel"], false), "the prompt comes on stdin");
        assert_eq!(told(&["gavonel", "hi", "-"], false), "the prompt comes on stdin");
        assert_eq!(told(&["gavonel", "-", "x"], false), "too many arguments");
    }

    #[test]
    fn a_request_the_hub_would_not_take_is_refused_here() {
        let envelope = CueEnvelope {
            prompt: "\u{1}".repeat(2 * 1024 * 1024),
            payload: None,
        };
        assert_eq!(body("gavonel", CueKind::Cue, &envelope).unwrap_err().code, 2);
    }
}
