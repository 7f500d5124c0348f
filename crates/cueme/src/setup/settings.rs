//! How this call behaves: the flag's word first, then the environment's, then the file's.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, Value};

use super::config::Config;
use crate::args::{Flags, MaxWait};
use crate::commands::installer;
use crate::failure::Failure;
use crate::terminal::out;
use crate::terminal::words::Language;

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
    Ours,
    Own(String),
    Off,
}

impl Reminder {
    fn read(text: &str) -> Self {
        match switch(text) {
            Some(true) => Self::Ours,
            Some(false) => Self::Off,
            None => Self::Own(text.to_owned()),
        }
    }
}

impl Settings {
    /// A broken file must not keep a question from being asked: it is told, and left out.
    pub fn gather(flags: &Flags) -> Result<Self, Failure> {
        let config = Config::load().unwrap_or_else(|error| {
            out::remark(&format!("warning: {error:#}; it is ignored"));
            Config::default()
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
        let mut source = Source {
            variable: &variable,
            file,
            warnings,
        };
        source.name_strangers();
        let language = source.find(&LANGUAGE, Language::read)?;
        let reminder = source.find(&REMINDER, |text| Ok(Reminder::read(text)))?;
        let max_wait = source.find(&MAX_WAIT, MaxWait::read)?;
        let start_hub = source.find(&START_HUB, |text| {
            switch(text).ok_or_else(|| "write true or false".to_owned())
        })?;
        Ok(Self {
            json: flags.json,
            data: flags.data.clone(),
            may_start: !flags.no_start && start_hub.unwrap_or(true),
            max_wait: flags.max_wait.or(max_wait).unwrap_or(MaxWait::Never),
            language: language.unwrap_or(Language::English),
            reminder: reminder.unwrap_or(Reminder::Ours),
        })
    }

    /// When waiting ends by itself.
    pub fn deadline(&self, started_at: Instant) -> Option<Instant> {
        match self.max_wait {
            MaxWait::Never => None,
            MaxWait::After(span) => Some(started_at + span),
        }
    }
}

/// One setting: its names, and whether the file may also say just true or false.
struct Name {
    variable: &'static str,
    key: &'static str,
    is_switch: bool,
}

const LANGUAGE: Name = Name {
    variable: "CUEME_LANGUAGE",
    key: "cueme.language",
    is_switch: false,
};
const REMINDER: Name = Name {
    variable: "CUEME_REMINDER",
    key: "cueme.reminder",
    is_switch: true,
};
const MAX_WAIT: Name = Name {
    variable: "CUEME_MAX_WAIT",
    key: "cueme.max_wait",
    is_switch: false,
};
const START_HUB: Name = Name {
    variable: "CUEME_START_HUB",
    key: "cueme.start_hub",
    is_switch: true,
};
const OWN: [&Name; 4] = [&LANGUAGE, &REMINDER, &MAX_WAIT, &START_HUB];

struct Source<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    file: &'a Map<String, Value>,
    warnings: &'a mut Vec<String>,
}

impl Source<'_> {
    /// The environment was set for this call: what is wrong there ends it. The file is for all calls, and only warned of.
    fn find<T>(&mut self, name: &Name, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Failure> {
        let Name { variable, key, .. } = name;
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

    /// Whoever misspells a name should not have to wonder why nothing happens.
    fn name_strangers(&mut self) {
        let is_known = |key: &str| OWN.iter().any(|name| name.key == key) || installer::KEYS.contains(&key);
        for key in self
            .file
            .keys()
            .filter(|key| key.starts_with("cueme.") && !is_known(key))
        {
            self.warnings.push(format!(
                "warning: {key} in ~/.cue/cueme.json is no setting of cueme; it is ignored"
            ));
        }
    }
}

fn switch(text: &str) -> Option<bool> {
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
    fn by_default_it_waits_without_limit_and_starts_a_hub() {
        let settings = choose(&Flags::default(), &[], json!({})).0.expect("settings");
        assert!(settings.may_start && settings.deadline(Instant::now()).is_none());
        assert_eq!(
            (settings.language, settings.reminder),
            (Language::English, Reminder::Ours)
        );
    }

    #[test]
    fn the_nearest_word_wins() {
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
            (Language::German, Reminder::Own("Ask!".to_owned()))
        );
    }

    #[test]
    fn what_is_wrong_is_refused_in_the_environment_and_warned_of_in_the_file() {
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
        assert_eq!((settings.max_wait, settings.reminder), (MaxWait::Never, Reminder::Ours));
        for key in ["max_wait", "language", "reminder", "start_hub", "langauge"] {
            let told = warnings
                .iter()
                .filter(|warning| warning.contains(&format!("cueme.{key} in")))
                .count();
            assert_eq!(told, 1, "{key}: {warnings:?}");
        }
        assert_eq!(warnings.len(), 5, "{warnings:?}");
    }
}
