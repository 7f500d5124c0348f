//! `[runs]`: permissions and limits of strategies on this machine.

use std::time::Duration;

use serde::Deserialize;
use url::Url;

use super::InvalidSetting;

const DAY: u64 = 24 * 3600;
const MIB: usize = 1024 * 1024;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunsTable {
    pub enabled: Option<bool>,
    pub require_token: Option<bool>,
    pub commands: Option<Commands>,
    pub command_timeout_seconds: Option<u64>,
    pub command_output_bytes: Option<usize>,
    pub input_timeout_seconds: Option<u64>,
    pub on_stop: Option<OnStop>,
    pub allowed_origins: Option<Vec<String>>,
    pub max_live: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunsSettings {
    pub enabled: bool,
    /// Whether local programs of the hub's own user need a token too.
    pub require_token: bool,
    pub commands: Commands,
    pub command_timeout: Duration,
    /// Limit for the output of a command; more output fails its step.
    pub command_output_bytes: usize,
    /// How long a run waits for a person; `None` means forever.
    pub input_timeout: Option<Duration>,
    pub on_stop: OnStop,
    /// Origins of web pages that may open the socket, in the spelling of browsers.
    pub allowed_origins: Vec<String>,
    /// Maximum number of runs prepared or running at once.
    pub max_live: usize,
}

/// Whether strategies may start programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Commands {
    #[default]
    Off,
    /// A person has to approve each command.
    Ask,
    Allow,
}

/// What happens at a hub stop to a run that waits for a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnStop {
    /// The run waits again after the next start.
    #[default]
    Keep,
    Cancel,
}

impl Default for RunsSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            require_token: false,
            commands: Commands::default(),
            command_timeout: Duration::from_secs(300),
            command_output_bytes: MIB,
            input_timeout: None,
            on_stop: OnStop::default(),
            allowed_origins: Vec::new(),
            max_live: 10_000,
        }
    }
}

impl RunsSettings {
    pub fn resolve(table: RunsTable) -> Result<Self, InvalidSetting> {
        let defaults = Self::default();
        let settings = Self {
            enabled: table.enabled.unwrap_or(defaults.enabled),
            require_token: table.require_token.unwrap_or(defaults.require_token),
            commands: table.commands.unwrap_or_default(),
            command_timeout: table
                .command_timeout_seconds
                .map_or(defaults.command_timeout, Duration::from_secs),
            command_output_bytes: table.command_output_bytes.unwrap_or(defaults.command_output_bytes),
            input_timeout: table.input_timeout_seconds.map(Duration::from_secs),
            on_stop: table.on_stop.unwrap_or_default(),
            allowed_origins: origins(&table.allowed_origins.unwrap_or_default())?,
            max_live: table.max_live.unwrap_or(defaults.max_live),
        };
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), InvalidSetting> {
        if !(1..=DAY).contains(&self.command_timeout.as_secs()) {
            let message = "choose between 1 second and a day (86400)";
            return Err(InvalidSetting::new("runs.command_timeout_seconds", message));
        }
        if !(1..=4 * MIB).contains(&self.command_output_bytes) {
            return Err(InvalidSetting::new(
                "runs.command_output_bytes",
                "choose between 1 byte and 4 MiB (4194304)",
            ));
        }
        if self
            .input_timeout
            .is_some_and(|timeout| !(1..=365 * DAY).contains(&timeout.as_secs()))
        {
            let message = "choose between 1 second and a year (31536000), or leave it out to wait forever";
            return Err(InvalidSetting::new("runs.input_timeout_seconds", message));
        }
        if !(1..=1_000_000).contains(&self.max_live) {
            return Err(InvalidSetting::new(
                "runs.max_live",
                "choose between 1 and 1000000 runs",
            ));
        }
        Ok(())
    }
}

fn origins(texts: &[String]) -> Result<Vec<String>, InvalidSetting> {
    texts.iter().map(|text| origin(text)).collect()
}

/// Apps use schemes of their own, such as `tauri://localhost`; browsers send those origins unchanged.
fn origin(text: &str) -> Result<String, InvalidSetting> {
    let wrong = || {
        let message =
            format!("{text:?} is not the origin of a web page; write it as https://app.example, without a path");
        InvalidSetting::new("runs.allowed_origins", message)
    };
    let url = Url::parse(text).ok().filter(Url::has_host).ok_or_else(wrong)?;
    let bare = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
    if !bare || !url.username().is_empty() || url.password().is_some() {
        return Err(wrong());
    }
    let origin = url.origin();
    if origin.is_tuple() {
        return Ok(origin.ascii_serialization());
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(text: &str) -> Result<RunsSettings, String> {
        let table: RunsTable = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        RunsSettings::resolve(table).map_err(|error| error.to_string())
    }

    #[test]
    fn by_default_runs_are_on_and_commands_off() {
        let settings = resolved("").unwrap();
        assert_eq!(settings, RunsSettings::default());
        assert!(settings.enabled);
        assert_eq!(settings.commands, Commands::Off);
        assert_eq!(settings.input_timeout, None);
    }

    #[test]
    fn every_key_is_read() {
        let text = r#"
            enabled = false
            require_token = true
            commands = "ask"
            command_timeout_seconds = 5
            command_output_bytes = 2048
            input_timeout_seconds = 60
            on_stop = "cancel"
            allowed_origins = ["https://App.Example:443/", "http://localhost:5173", "tauri://localhost"]
            max_live = 3
        "#;
        let origins = ["https://app.example", "http://localhost:5173", "tauri://localhost"];
        let expected = RunsSettings {
            enabled: false,
            require_token: true,
            commands: Commands::Ask,
            command_timeout: Duration::from_secs(5),
            command_output_bytes: 2048,
            input_timeout: Some(Duration::from_secs(60)),
            on_stop: OnStop::Cancel,
            allowed_origins: origins.map(str::to_owned).to_vec(),
            max_live: 3,
        };
        assert_eq!(resolved(text).unwrap(), expected);
    }

    #[test]
    fn invalid_value_is_refused_with_its_key() {
        for (text, key) in [
            ("command_timeout_seconds = 0", "runs.command_timeout_seconds: "),
            ("command_timeout_seconds = 86401", "runs.command_timeout_seconds: "),
            ("command_output_bytes = 0", "runs.command_output_bytes: "),
            ("command_output_bytes = 4194305", "runs.command_output_bytes: "),
            ("input_timeout_seconds = 0", "runs.input_timeout_seconds: "),
            ("max_live = 0", "runs.max_live: "),
            (
                r#"commands = "yes""#,
                "unknown variant `yes`, expected one of `off`, `ask`, `allow`",
            ),
            (
                r#"on_stop = "kill""#,
                "unknown variant `kill`, expected `keep` or `cancel`",
            ),
            ("comands = true", "unknown field `comands`"),
        ] {
            let error_text = resolved(text).unwrap_err();
            assert!(error_text.starts_with(key), "{error_text}");
        }
    }

    #[test]
    fn origin_must_be_a_scheme_and_a_host() {
        for wrong in [
            "*",
            "",
            "null",
            "app.example",
            "https://",
            "https://app.example/page",
            "https://a.example?x",
            "https://ann@app.example",
            "file:///page",
        ] {
            let error_text = resolved(&format!("allowed_origins = [{wrong:?}]")).unwrap_err();
            assert!(
                error_text.starts_with("runs.allowed_origins: ") && error_text.contains(wrong),
                "{error_text}"
            );
        }
    }
}
