//! The configuration file. Every key is optional; an unknown key is an error.

use std::path::{Path, PathBuf};

use countersign_runs::settings::InvalidSetting;
use serde::Deserialize;

use crate::{LlmTable, RunsTable, Secret};

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {path}: {cause}")]
    Unreadable { path: PathBuf, cause: std::io::Error },
    #[error("{path}: {cause}")]
    Malformed { path: PathBuf, cause: Box<toml::de::Error> },
    #[error("{key}: {message}")]
    Invalid { key: &'static str, message: String },
}

impl From<InvalidSetting> for ConfigError {
    fn from(setting: InvalidSetting) -> Self {
        Self::invalid(setting.key, setting.message)
    }
}

impl ConfigError {
    pub fn invalid(key: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid {
            key,
            message: message.into(),
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfigFile {
    pub listen: Option<String>,
    pub public_url: Option<String>,
    pub database_url: Option<Secret>,
    pub wait_for_database_seconds: Option<u64>,
    pub trusted_proxies: Option<Vec<String>>,
    pub allowed_hosts: Vec<String>,
    pub retention_days: Option<u32>,
    pub undo_seconds: Option<u32>,
    pub allow_plain_http: Option<bool>,
    pub allow_loopback_callbacks: Option<bool>,
    pub tls: Option<TlsTable>,
    pub log: LogTable,
    pub limits: LimitsTable,
    pub push: PushTable,
    pub runs: RunsTable,
    pub llm: LlmTable,
}

/// How the hub logs. The log starts before the hub, so the hub itself does not use it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogTable {
    pub format: LogFormat,
    /// A line for every request.
    pub access: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsTable {
    pub cert: PathBuf,
    pub key: PathBuf,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsTable {
    pub requests_per_minute: Option<u32>,
    pub inbox_depth: Option<u32>,
    pub max_request_bytes: Option<usize>,
    pub max_body_bytes: Option<usize>,
    pub max_part_bytes: Option<usize>,
    pub max_context_parts: Option<usize>,
    pub max_state_bytes: Option<usize>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PushTable {
    pub legacy: Option<crate::LegacyPush>,
    pub max_attempts: Option<u32>,
    pub max_duration_seconds: Option<u64>,
    pub first_retry_ms: Option<u64>,
    pub attempt_timeout_ms: Option<u64>,
    pub per_host_concurrency: Option<usize>,
}

impl ConfigFile {
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|cause| ConfigError::Unreadable {
            path: path.to_owned(),
            cause,
        })?;
        toml::from_str(&text).map_err(|mut cause: toml::de::Error| {
            cause.set_input(Some(&mask_secrets(&text)));
            ConfigError::Malformed {
                path: path.to_owned(),
                cause: Box::new(cause),
            }
        })
    }
}

/// Keys whose values must not appear in errors.
const SECRET_KEYS: [&str; 2] = ["api_key", "database_url"];

/// Masks secret values, because a TOML error quotes its line. Byte positions stay the same.
fn mask_secrets(text: &str) -> String {
    text.split('\n').map(mask_line).collect::<Vec<_>>().join("\n")
}

fn mask_line(line: &str) -> String {
    let places = SECRET_KEYS.iter().flat_map(|name| line.match_indices(name));
    let mut names = places.map(|(at, name)| at + name.len());
    let is_name = |end: &usize| line[*end..].trim_start_matches(['"', '\'', ' ', '\t']).starts_with('=');
    match names.find(is_name) {
        Some(end) => format!("{}={}", &line[..end], "*".repeat(line.len() - end - 1)),
        None => mask_user_info(line),
    }
}

/// Masks the user info of a URL under any key, also a mistyped one, because it may hold a password.
fn mask_user_info(line: &str) -> String {
    match (line.find("://"), line.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => {
            let from = scheme + "://".len();
            format!("{}{}{}", &line[..from], "*".repeat(at - from), &line[at..])
        }
        (Some(_) | None, _) => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_error_does_not_show_secrets() {
        for line in [
            "  api_key = \"sk-secret\" oops",
            "\"api_key\"=\"sk-secret",
            "providers.a = { base_url = 1, api_key\t= 'sk-secret' }",
        ] {
            let text = format!("[llm]\nbase_url = \"https://a.example\"\n{line}\n");
            let mut cause = toml::from_str::<ConfigFile>(&text).unwrap_err();
            cause.set_input(Some(&mask_secrets(&text)));
            let error_text = cause.to_string();
            assert!(
                error_text.contains("line 3") && error_text.contains("api_key=***") && !error_text.contains("secret"),
                "{error_text}"
            );
        }
        assert_eq!(mask_line("api_key_env = \"KEY\""), "api_key_env = \"KEY\"");
        for line in [
            "databse_url = \"postgres://ann:s3cret@db/hub\"",
            "  \"postgres://ann:s3@cret@db/hub\"",
        ] {
            let shown = mask_line(line);
            assert!(
                shown.len() == line.len() && shown.ends_with("@db/hub\"") && !shown.contains("cret"),
                "{shown}"
            );
        }
    }
}
