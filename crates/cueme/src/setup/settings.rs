//! The settings of this call. Flags win over environment variables, which win over the file.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, Value};

use super::config::CuemeConfig;
use crate::args::{Flags, MaxWait};
use crate::commands::installer;
use crate::failure::Failure;
use crate::terminal::out;
use crate::terminal::phrases::Language;

#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub json: bool,
    pub data: Option<PathBuf>,
    pub may_start: bool,
    pub max_wait: MaxWait,
    pub language: Language,
    pub reminder: Reminder,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reminder {
    Standard,
    Custom(String),
    Off,
}

impl Reminder {
    fn read(text: &str) -> Self {
        match parse_switch(text) {
            Some(true) => Self::Standard,
            Some(false) => Self::Off,
            None => Self::Custom(text.to_owned()),
        }
    }
}

impl Settings {
    /// A broken configuration file must not block a question: it is ignored with a warning.
    pub fn gather(flags: &Flags) -> Result<Self, Failure> {
        let config = CuemeConfig::load().unwrap_or_else(|error| {
            out::remark(&format!("warning: {error:#}; it is ignored"));
            CuemeConfig::default()
        });
        let mut warnings = Vec::new();
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let settings = Self::choose(flags, variable, &config.raw, &mut warnings);
        for warning in warnings {
            out::remark(&warning);
        }
        settings
    }

    fn choose(
        flags: &Flags,
        variable: impl Fn(&str) -> Option<String>,
        file: &Map<String, Value>,
        warnings: &mut Vec<String>,
    ) -> Result<Self, Failure> {
        let mut lookup = SettingLookup {
            variable: &variable,
            file,
            warnings,
        };
        lookup.warn_unknown_keys();
        let language = lookup.find(&LANGUAGE, Language::read)?;
        let reminder = lookup.find(&REMINDER, |text| Ok(Reminder::read(text)))?;
        let max_wait = lookup.find(&MAX_WAIT, MaxWait::read)?;
        let start_hub = lookup.find(&START_HUB, |text| {
            parse_switch(text).ok_or_else(|| "write true or false".to_owned())
        })?;
        Ok(Self {
            json: flags.json,
            data: flags.data.clone(),
            may_start: !flags.no_start && start_hub.unwrap_or(true),
            max_wait: flags.max_wait.or(max_wait).unwrap_or(MaxWait::Never),
            language: language.unwrap_or(Language::English),
            reminder: reminder.unwrap_or(Reminder::Standard),
        })
    }

    /// When `--max-wait` is over.
    pub fn deadline(&self, started_at: Instant) -> Option<Instant> {
        match self.max_wait {
            MaxWait::Never => None,
            MaxWait::After(span) => Some(started_at + span),
        }
    }
}

/// The names of one setting, and whether the file may use a plain `true` or `false` for it.
struct SettingName {
    variable: &'static str,
    key: &'static str,
    is_switch: bool,
}

const LANGUAGE: SettingName = SettingName {
    variable: "CUEME_LANGUAGE",
    key: "cueme.language",
    is_switch: false,
};
const REMINDER: SettingName = SettingName {
    variable: "CUEME_REMINDER",
    key: "cueme.reminder",
    is_switch: true,
};
const MAX_WAIT: SettingName = SettingName {
    variable: "CUEME_MAX_WAIT",
    key: "cueme.max_wait",
    is_switch: false,
};
const START_HUB: SettingName = SettingName {
    variable: "CUEME_START_HUB",
    key: "cueme.start_hub",
    is_switch: true,
};
const ALL: [&SettingName; 4] = [&LANGUAGE, &REMINDER, &MAX_WAIT, &START_HUB];

struct SettingLookup<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    file: &'a Map<String, Value>,
    warnings: &'a mut Vec<String>,
}

impl SettingLookup<'_> {
    /// Reads one setting. A wrong environment variable fails the call, for which it was set; a wrong entry of the
    /// file, which is for all calls, only gives a warning.
    fn find<T>(&mut self, name: &SettingName, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Failure> {
        let SettingName { variable, key, .. } = name;
        if let Some(text) = (self.variable)(variable) {
            let read = read(&text).map_err(|why| Failure::usage(&format!("{variable} is {text}: {why}")))?;
            return Ok(Some(read));
        }
        let Some(value) = self.file.get(*key).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let read = match value {
            Value::String(text) => read(text),
            Value::Bool(_) if name.is_switch => read(&value.to_string()),
            _ if name.is_switch => Err("write true, false or a text in quotes".to_owned()),
            _ => Err("write a text in quotes".to_owned()),
        };
        match read {
            Ok(read) => Ok(Some(read)),
            Err(why) => {
                self.warnings.push(format!(
                    "warning: {key} in ~/.cue/cueme.json is {value}: {why}; it is ignored"
                ));
                Ok(None)
            }
        }
    }

    /// Warns about unknown keys, which are mostly misspelled ones.
    fn warn_unknown_keys(&mut self) {
        let is_known = |key: &str| ALL.iter().any(|name| name.key == key) || installer::KEYS.contains(&key);
        for key in self
            .file
            .keys()
            .filter(|key| key.starts_with("cueme.") && !is_known(key))
        {
            self.warnings.push(format!(
                "warning: {key} in ~/.cue/cueme.json is not a setting of cueme; it is ignored"
            ));
        }
    }
}

fn parse_switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn choose(flags: &Flags, variables: &[(&str, &str)], file: Value) -> (Result<Settings, Failure>, Vec<String>) {
        let variable = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        let mut warnings = Vec::new();
        let file = file.as_object().expect("an object");
        (Settings::choose(flags, variable, file, &mut warnings), warnings)
    }

    #[test]
    fn by_default_waiting_is_unlimited_and_a_hub_is_started() {
        let settings = choose(&Flags::default(), &[], json!({})).0.expect("settings");
        assert!(settings.may_start && settings.deadline(Instant::now()).is_none());
        assert_eq!(
            (settings.language, settings.reminder),
            (Language::English, Reminder::Standard)
        );
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_the_file() {
        let file =
            json!({"cueme.language": "zh", "cueme.max_wait": "10m", "cueme.start_hub": "no", "cueme.reminder": false});
        let settings = choose(&Flags::default(), &[], file.clone()).0.expect("settings");
        assert_eq!(settings.max_wait, MaxWait::After(Duration::from_secs(600)));
        assert!(!settings.may_start);
        assert_eq!(
            (settings.language, settings.reminder),
            (Language::Chinese, Reminder::Off)
        );
        let variables = [
            ("CUEME_LANGUAGE", "de"),
            ("CUEME_MAX_WAIT", "5m"),
            ("CUEME_START_HUB", "1"),
            ("CUEME_REMINDER", "Ask!"),
        ];
        let flags = Flags {
            max_wait: Some(MaxWait::Never),
            ..Flags::default()
        };
        let settings = choose(&flags, &variables, file).0.expect("settings");
        assert_eq!(settings.max_wait, MaxWait::Never);
        assert!(settings.may_start);
        assert_eq!(
            (settings.language, settings.reminder),
            (Language::German, Reminder::Custom("Ask!".to_owned()))
        );
    }

    #[test]
    fn wrong_values_fail_in_the_environment_and_warn_in_the_file() {
        assert_eq!(
            choose(&Flags::default(), &[("CUEME_MAX_WAIT", "soon")], json!({}))
                .0
                .unwrap_err()
                .code,
            2
        );
        let file = json!({
            "cueme.max_wait": 9, "cueme.language": "fr", "cueme.reminder": 3, "cueme.start_hub": [false],
            "cueme.langauge": "de", "cueme.proto.path": {}, "theirs": 1,
        });
        let (settings, warnings) = choose(&Flags::default(), &[], file);
        let settings = settings.expect("settings");
        assert_eq!(
            (settings.max_wait, settings.reminder),
            (MaxWait::Never, Reminder::Standard)
        );
        for key in ["max_wait", "language", "reminder", "start_hub", "langauge"] {
            let count = warnings
                .iter()
                .filter(|warning| warning.contains(&format!("cueme.{key} in")))
                .count();
            assert_eq!(count, 1, "{key}: {warnings:?}");
        }
        assert_eq!(warnings.len(), 5, "{warnings:?}");
    }
}
