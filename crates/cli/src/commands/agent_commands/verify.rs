//! `verify`: checks one pushed answer. It keeps no state, so it cannot detect replays.

use anyhow::{Context, Result};
use countersign_agent::MAX_PUSH_BYTES;
use countersign_agent::verify;
use countersign_client::screen;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::compose::input;
use super::credentials::keys;
use super::now;
use super::outcome::{OutcomeReport, outcome_line, refused};
use crate::args::{Globals, VerifyArgs};
use crate::commands::Finished;

pub async fn run(args: &VerifyArgs, globals: &Globals) -> Result<Finished> {
    let verifier = keys::verifier(&args.url, &args.keys, globals)
        .await?
        .taking_unsigned_answers();
    let headers = headers(&args.headers)?;
    // One byte over the limit is enough to refuse the push.
    let body = input::beginning_of_stdin(MAX_PUSH_BYTES as u64 + 1)?;
    let verified = match verify(&verifier, &headers, &body, args.at.unwrap_or_else(now)) {
        Ok(verified) => verified,
        Err(refusal) => return Ok(refused(refusal.code(), &refusal.to_string(), globals.json)),
    };
    if !verified.answer_signed {
        screen::print_notice("this signature covers who, when and how it ended, but not the answer and the state");
    }
    let resolved = &verified.resolved;
    if globals.json {
        return Ok(Finished::ok(
            OutcomeReport::of_outcome(resolved).with_state(resolved).line()?,
        ));
    }
    Ok(Finished::ok(format!(
        "genuine: {}\n",
        screen::escape(&outcome_line(resolved))
    )))
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let header = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .zip(HeaderValue::from_str(value).ok());
        let (name, value) = header.with_context(|| format!("--header: {name} is not a valid HTTP header"))?;
        headers.append(name, value);
    }
    Ok(headers)
}
