//! Where the hub keeps its data, and where clients look for it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The directory named on the command line, else by the environment, else the usual place under the home directory.
pub fn resolve(named: Option<&Path>) -> Result<PathBuf> {
    let chosen = choose(named, |name| env::var_os(name).filter(|value| !value.is_empty()))
        .context("no data directory: give one with --data DIR, or set COUNTERSIGN_DATA or HOME")?;
    std::path::absolute(&chosen).with_context(|| format!("the data directory {} is not usable", chosen.display()))
}

fn choose(named: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(named.to_owned());
    }
    if let Some(data) = variable("COUNTERSIGN_DATA") {
        return Some(data.into());
    }
    // The XDG rules say that a relative path there is to be ignored.
    let shared = variable("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let shared = shared.or_else(|| variable("HOME").map(|home| Path::new(&home).join(".local/share")))?;
    Some(shared.join("countersign"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(named: Option<&str>, variables: &[(&str, &str)]) -> Option<PathBuf> {
        choose(named.map(Path::new), |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn the_nearest_word_wins() {
        let all = [("COUNTERSIGN_DATA", "/env"), ("XDG_DATA_HOME", "/xdg"), ("HOME", "/home/ann")];
        assert_eq!(chosen(Some("/flag"), &all), Some("/flag".into()));
        assert_eq!(chosen(None, &all), Some("/env".into()));
        assert_eq!(chosen(None, &all[1..]), Some("/xdg/countersign".into()));
        assert_eq!(chosen(None, &all[2..]), Some("/home/ann/.local/share/countersign".into()));
        assert_eq!(chosen(None, &[]), None);
    }

    #[test]
    fn a_relative_xdg_directory_is_ignored() {
        let variables = [("XDG_DATA_HOME", "relative"), ("HOME", "/home/ann")];
        assert_eq!(chosen(None, &variables), Some("/home/ann/.local/share/countersign".into()));
    }
}
