//! `~/.cue/cueme.json`: one object of dotted keys, the format of the original cueme.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use crate::commands::installer;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CuemeConfig {
    pub raw: Map<String, Value>,
}

impl CuemeConfig {
    /// Returns an empty configuration if `HOME` is not set.
    pub fn load() -> Result<Self> {
        match std::env::var_os("HOME").filter(|home| !home.is_empty()) {
            Some(home) => Self::read(&PathBuf::from(home).join(".cue/cueme.json")),
            None => Ok(Self::default()),
        }
    }

    /// Returns an empty configuration if the file does not exist.
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

    fn load(name: &str, text: &str) -> Result<CuemeConfig> {
        let path = std::env::temp_dir().join(format!("cueme-config-{}-{name}", std::process::id()));
        fs::write(&path, text).expect("written");
        let loaded = CuemeConfig::read(&path);
        let _ = fs::remove_file(path);
        loaded
    }

    #[test]
    fn keys_are_read_unchanged() {
        let config = load("good", "\u{feff}{\"cueme.language\": \"de\"}").expect("a configuration");
        assert_eq!(config.raw["cueme.language"], "de");
        assert_eq!(
            CuemeConfig::read(Path::new("/nonexistent/cueme.json")).expect("nothing"),
            CuemeConfig::default()
        );
    }

    #[test]
    fn a_broken_file_is_named() {
        assert!(load("broken", "{").unwrap_err().to_string().ends_with("is not JSON"));
        assert!(load("list", "[]").unwrap_err().to_string().contains("a JSON object"));
        assert!(
            CuemeConfig::read(&std::env::temp_dir())
                .unwrap_err()
                .to_string()
                .ends_with("is not a file")
        );
    }
}
