//! `~/.cue/cueme.json`, as the original had it: one object of dotted keys.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use crate::commands::installer;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    pub raw: Map<String, Value>,
}

impl Config {
    /// A missing home says nothing.
    pub fn load() -> Result<Self> {
        match std::env::var_os("HOME").filter(|home| !home.is_empty()) {
            Some(home) => Self::read(&PathBuf::from(home).join(".cue/cueme.json")),
            None => Ok(Self::default()),
        }
    }

    /// Nor does a file that is not there.
    pub fn read(path: &Path) -> Result<Self> {
        let Some(text) = installer::read(path)? else {
            return Ok(Self::default());
        };
        let shown = path.display();
        match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            Ok(Value::Object(raw)) => Ok(Self { raw }),
            Ok(_) => bail!("{shown} must be a JSON object"),
            Err(error) => Err(error).with_context(|| format!("{shown} is not JSON")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn load(name: &str, text: &str) -> Result<Config> {
        let path = std::env::temp_dir().join(format!("cueme-config-{}-{name}", std::process::id()));
        fs::write(&path, text).expect("written");
        let loaded = Config::read(&path);
        let _ = fs::remove_file(path);
        loaded
    }

    #[test]
    fn keys_are_read_as_they_stand() {
        let config = load("good", "\u{feff}{\"cueme.language\": \"de\"}").expect("a configuration");
        assert_eq!(config.raw["cueme.language"], "de");
        assert_eq!(
            Config::read(Path::new("/nonexistent/cueme.json")).expect("nothing"),
            Config::default()
        );
    }

    #[test]
    fn a_broken_file_is_named() {
        assert!(load("broken", "{").unwrap_err().to_string().ends_with("is not JSON"));
        assert!(load("list", "[]").unwrap_err().to_string().contains("a JSON object"));
        assert!(
            Config::read(&std::env::temp_dir())
                .unwrap_err()
                .to_string()
                .ends_with("is not a file")
        );
    }
}
