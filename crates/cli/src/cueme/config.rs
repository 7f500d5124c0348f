//! `~/.cue/cueme.json`, as the original had it: one object of dotted keys.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use serde_json::{Map, Value};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    pub raw: Map<String, Value>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("HOME is not set, so there is no ~/.cue/cueme.json")]
    NoHome,
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{} is not JSON: {error}", path.display())]
    NotJson { path: PathBuf, error: serde_json::Error },
    #[error("{} must hold one JSON object", path.display())]
    NotAnObject { path: PathBuf },
}

impl Config {
    pub fn path() -> Result<PathBuf, ConfigError> {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).ok_or(ConfigError::NoHome)?;
        Ok(PathBuf::from(home).join(".cue/cueme.json"))
    }

    /// A file that is not there says nothing, and so does a missing home.
    pub fn load() -> Result<Self, ConfigError> {
        match Self::path() {
            Ok(path) => Self::load_from(path),
            Err(_) => Ok(Self::default()),
        }
    }

    fn load_from(path: PathBuf) -> Result<Self, ConfigError> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Self::default());
            }
            Err(error) => return Err(ConfigError::Unreadable { path, error }),
        };
        match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            Ok(Value::Object(raw)) => Ok(Self { raw }),
            Ok(_) => Err(ConfigError::NotAnObject { path }),
            Err(error) => Err(ConfigError::NotJson { path, error }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(name: &str, text: &str) -> Result<Config, ConfigError> {
        let path = std::env::temp_dir().join(format!("cueme-config-{}-{name}", std::process::id()));
        fs::write(&path, text).expect("written");
        let loaded = Config::load_from(path.clone());
        let _ = fs::remove_file(path);
        loaded
    }

    #[test]
    fn keys_are_read_as_they_stand() {
        let config = load("good", "\u{feff}{\"cueme.language\": \"de\"}").expect("a configuration");
        assert_eq!(config.raw["cueme.language"], "de");
        assert_eq!(Config::load_from(PathBuf::from("/nonexistent/cueme.json")).expect("nothing"), Config::default());
    }

    #[test]
    fn a_broken_file_is_named() {
        assert!(load("broken", "{").unwrap_err().to_string().contains("is not JSON"));
        assert!(load("list", "[]").unwrap_err().to_string().contains("one JSON object"));
    }
}
