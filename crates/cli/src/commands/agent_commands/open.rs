//! `open`: decrypts a sealed state.

use anyhow::{Context, Result};
use countersign_agent::{SealError, open};
use countersign_client::screen;
use countersign_protocol::json;
use serde_json::Value;

use super::compose::content::is_sealed;
use super::compose::input;
use super::credentials::seal::{bound, seal_key};
use super::outcome::refused;
use crate::args::{Globals, OpenArgs};
use crate::commands::Finished;

/// The input may be a whole outcome, with an answer and a comment beside the state.
const MAX_INPUT_BYTES: u64 = 4 * 1024 * 1024;

pub fn run(args: &OpenArgs, globals: &Globals) -> Result<Finished> {
    let key = seal_key(&args.key, globals)?;
    let text = String::from_utf8(input::stdin(MAX_INPUT_BYTES)?).context("standard input is not text")?;
    let opened = token(&text).and_then(|token| open(&key, &token, bound(&args.key)));
    Ok(match opened {
        Ok(state) => Finished::ok(screen::json(&state)),
        Err(error) => refused(why(&error), &error.to_string(), globals.json),
    })
}

/// The error code for programs.
fn why(error: &SealError) -> &'static str {
    match error {
        SealError::Token(_) => "not_opened",
        SealError::NotSealed => "not_sealed",
        SealError::NotJson => "not_json",
        SealError::TooDeep => "too_deep",
        SealError::BadKey { .. } | SealError::NoKey { .. } | SealError::SameAsCallbackSecret => "bad_key",
        SealError::NoRandomness(_) => "no_randomness",
    }
}

/// The token may come alone, inside its state, or inside a whole outcome.
fn token(text: &str) -> Result<String, SealError> {
    if is_sealed(text) {
        return Ok(text.trim().to_owned());
    }
    let value = json::parse(text.as_bytes()).map_err(|_| SealError::NotSealed)?;
    let token = value
        .get("sealed")
        .or_else(|| value.pointer("/state/sealed"))
        .and_then(Value::as_str);
    token.map(str::to_owned).ok_or(SealError::NotSealed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_alone_in_a_state_or_in_an_outcome() {
        for text in [
            "A2HSEALv1.a.b.c\n",
            r#"{"sealed":"A2HSEALv1.a.b.c"}"#,
            r#"{"state":{"sealed":"A2HSEALv1.a.b.c"}}"#,
        ] {
            assert_eq!(token(text).unwrap(), "A2HSEALv1.a.b.c");
        }
        for text in ["", "{}", "plain", r#"{"state":{}}"#, r#"{"sealed":1}"#] {
            assert_eq!(token(text), Err(SealError::NotSealed), "{text}");
        }
    }
}
