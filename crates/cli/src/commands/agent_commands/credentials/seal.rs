//! `seal`: encrypts a state so that only the agent can read or change it.

use anyhow::{Context, Result};
use countersign_agent::{Binding, SealKey, seal, sealed_state};
use countersign_client::data_dir;
use countersign_client::screen;
use countersign_protocol::json;

use super::stored_agent::StoredAgent;
use crate::args::{Globals, SealArgs, SealFamily, SealKeyArgs};
use crate::commands::Finished;
use crate::commands::agent_commands::compose::input;
use crate::commands::agent_commands::variable;

/// Sealing adds a third to the length, and the result must fit into a state.
const MAX_STATE_BYTES: u64 = 190 * 1024;
const SEAL_KEY: &str = "COUNTERSIGN_SEAL_KEY";
/// The hub knows these secrets, so they must not be used as seal keys.
const KNOWN_TO_THE_HUB: [&str; 2] = ["COUNTERSIGN_SIGNING_KEY", "COUNTERSIGN_TOKEN"];

pub fn run(args: &SealArgs, globals: &Globals) -> Result<Finished> {
    let key = seal_key(&args.key, globals)?;
    let state = json::parse(&input::stdin(MAX_STATE_BYTES)?).context("standard input")?;
    let binding = match (bound(&args.key), args.family) {
        (Some((agent_id, idempotency_key)), _) => Binding::Own {
            agent_id,
            idempotency_key,
        },
        (None, SealFamily::A2h) => Binding::A2h,
        (None, SealFamily::Ma2h) => Binding::Ma2h,
    };
    let token = seal(&key, &state, binding)?;
    Ok(Finished::ok(if globals.json {
        screen::json(&sealed_state(&token))
    } else {
        token + "\n"
    }))
}

pub fn seal_key(args: &SealKeyArgs, globals: &Globals) -> Result<SealKey> {
    let key = match &args.key_file {
        Some(path) => SealKey::from_file(path)?,
        None => SealKey::from_env(args.key_env.as_deref().unwrap_or(SEAL_KEY))?,
    };
    let stored = data_dir::resolve(globals.data.as_deref()).map(|data| StoredAgent::signing_keys(&data));
    let known = KNOWN_TO_THE_HUB
        .iter()
        .filter_map(|name| variable(name))
        .chain(stored.unwrap_or_default());
    for value in known {
        // The text of a known key is compared too, with and without its `whsec_` prefix.
        let words = value
            .split_whitespace()
            .flat_map(|word| [word, word.trim_start_matches("whsec_")]);
        key.refuse_same_as(&words.collect::<Vec<_>>())?;
    }
    Ok(key)
}

/// The agent and the idempotency key that a seal is bound to.
pub fn bound(args: &SealKeyArgs) -> Option<(&str, &str)> {
    match args.bind.as_slice() {
        [agent_id, idempotency_key] => Some((agent_id, idempotency_key)),
        _ => None,
    }
}
