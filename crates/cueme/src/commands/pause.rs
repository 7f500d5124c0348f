//! `cueme pause`: waits until the person says continue.

use std::process::ExitCode;
use std::time::Instant;

use countersign_protocol::hap::{CueEnvelope, CueKind};

use super::cue;
use crate::args::Flags;
use crate::failure::Failure;
use crate::terminal::stdin;

const USAGE: &str = "cueme pause <agent_id> [prompt | -]";
const PAUSED: &str = "Paused. Click Continue when you are ready.";

#[derive(Debug, PartialEq, Eq)]
enum Prompt {
    Given(String),
    OnStdin,
}

pub fn run(words: &[String], flags: &Flags, started_at: Instant) -> Result<ExitCode, Failure> {
    let (agent_id, prompt) = check(words, flags)?;
    let envelope = match prompt {
        Prompt::Given(prompt) => CueEnvelope { prompt, payload: None },
        Prompt::OnStdin => stdin::envelope(CueKind::Pause)?,
    };
    cue::ask(agent_id, CueKind::Pause, envelope, flags, started_at)
}

fn check<'a>(words: &'a [String], flags: &Flags) -> Result<(&'a str, Prompt), Failure> {
    let agent_id = words.first().filter(|id| !id.trim().is_empty());
    let agent_id = agent_id.ok_or_else(|| Failure::usage(&format!("missing agent_id: {USAGE}")))?;
    if flags.payload {
        return Err(Failure::usage("--payload is not supported: a pause has no payload"));
    }
    let prompt = match &words[1..] {
        [] => Prompt::Given(PAUSED.to_owned()),
        [dash] if dash == "-" => Prompt::OnStdin,
        [dash, ..] if dash == "-" => return Err(Failure::usage(&format!("too many arguments: {USAGE}"))),
        [empty, ..] if empty.is_empty() => Prompt::Given(PAUSED.to_owned()),
        [prompt, ..] => Prompt::Given(prompt.clone()),
    };
    Ok((agent_id, prompt))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(line: &[&str]) -> Result<Prompt, u8> {
        let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        check(&words, &Flags::default())
            .map(|(_, prompt)| prompt)
            .map_err(|failure| failure.code)
    }

    #[test]
    fn a_prompt_is_given_left_out_or_on_stdin() {
        let given = |text: &str| Ok(Prompt::Given(text.to_owned()));
        assert_eq!(prompt(&["gavonel"]), given(PAUSED));
        assert_eq!(prompt(&["gavonel", ""]), given(PAUSED));
        assert_eq!(
            prompt(&["gavonel", " <cueme_prompt> ", "more"]),
            given(" <cueme_prompt> ")
        );
        assert_eq!(prompt(&["gavonel", "-"]), Ok(Prompt::OnStdin));
        assert_eq!(prompt(&["gavonel", "-", "x"]), Err(2));
        assert_eq!(prompt(&[]), Err(2));
    }
}
