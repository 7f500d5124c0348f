//! The required values of a skill: how each is asked for, and how it is checked.

use std::path::PathBuf;

use anyhow::{Result, bail};
use countersign_protocol::a2h::Kind;

use super::values;
use crate::args::{ReturnMode, SignatureAlgArg};

/// Every hub starts with this person.
pub const OWNER: &str = "human:owner";

/// The algorithm of an agent that was added without naming one.
pub const DEFAULT_ALG: &str = "hmac-sha256";

/// One required value, and its prompt.
pub struct SettingPrompt<T> {
    pub flag: &'static str,
    pub question: &'static str,
    pub default: Option<&'static str>,
    pub check: fn(&str) -> Result<T>,
}

pub const KIND: SettingPrompt<Kind> = SettingPrompt {
    flag: "ask|notify|task",
    question: "Is the skill for an ask, a notify or a task?",
    default: Some("ask"),
    check: kind,
};
pub const APP: SettingPrompt<String> = SettingPrompt {
    flag: "--app NAME",
    question: "Name of the app, as in acme",
    default: None,
    check: values::app,
};
pub const HUB: SettingPrompt<String> = SettingPrompt {
    flag: "--hub URL",
    question: "Address of the hub",
    default: Some("http://127.0.0.1:7422"),
    check: values::hub,
};
pub const AGENT: SettingPrompt<String> = SettingPrompt {
    flag: "--agent ID",
    question: "Id of the agent, as in acme/deployer",
    default: None,
    check: values::agent,
};
pub const MODE: SettingPrompt<ReturnMode> = SettingPrompt {
    flag: "--mode push|pull",
    question: "Does the outcome come by push or by pull?",
    default: Some("pull"),
    check: mode,
};
pub const CALLBACK: SettingPrompt<String> = SettingPrompt {
    flag: "--callback URL",
    question: "Address that outcomes are pushed to",
    default: None,
    check: values::callback,
};
pub const SIGNATURE_ALG: SettingPrompt<SignatureAlgArg> = SettingPrompt {
    flag: "--signature-alg hmac-sha256|ed25519",
    question: "Are pushes to this agent signed with hmac-sha256 or ed25519?",
    default: Some(DEFAULT_ALG),
    check: values::signature_alg,
};
pub const RESOLVERS: SettingPrompt<Vec<String>> = SettingPrompt {
    flag: "--to human:NAME",
    question: "Who may answer, as in human:alice human:bob",
    default: Some(OWNER),
    check: values::resolvers,
};
pub const TOKEN_ENV: SettingPrompt<String> = SettingPrompt {
    flag: "--token-env NAME",
    question: "Environment variable with the agent's token",
    default: Some("COUNTERSIGN_TOKEN"),
    check: values::variable,
};
pub const SIGNING_KEY_ENV: SettingPrompt<String> = SettingPrompt {
    flag: "--signing-key-env NAME",
    question: "Environment variable with the key that pushes are signed with",
    default: Some("COUNTERSIGN_SIGNING_KEY"),
    check: values::variable,
};
pub const SEAL_KEY_ENV: SettingPrompt<String> = SettingPrompt {
    flag: "--seal-key-env NAME",
    question: "Environment variable with the key that the state is sealed with",
    default: Some("COUNTERSIGN_SEAL_KEY"),
    check: values::variable,
};
pub const OUT: SettingPrompt<PathBuf> = SettingPrompt {
    flag: "--out DIR",
    question: "Directory to write to",
    default: Some(".claude/skills"),
    check: directory,
};

fn kind(text: &str) -> Result<Kind> {
    match text.parse() {
        Ok(kind) => Ok(kind),
        Err(_) => bail!("enter ask, notify or task"),
    }
}

pub fn yes_or_no(text: &str) -> Result<bool> {
    match text {
        "yes" | "y" => Ok(true),
        "no" | "n" => Ok(false),
        _ => bail!("enter yes or no"),
    }
}

fn mode(text: &str) -> Result<ReturnMode> {
    match text {
        "push" => Ok(ReturnMode::Push),
        "pull" => Ok(ReturnMode::Pull),
        _ => bail!("enter push or pull"),
    }
}

fn directory(text: &str) -> Result<PathBuf> {
    if text.is_empty() {
        bail!("name a directory")
    } else {
        Ok(text.into())
    }
}
