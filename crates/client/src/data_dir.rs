//! The location of the data directory, for the hub and for clients.

use std::env;
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Another user who can write to the directory could plant a fake hub there.
const WRITTEN_BY_OTHERS: u32 = 0o022;
/// Another user who can read `hub.json` has the owner's token.
const OPEN_TO_OTHERS: u32 = 0o077;

/// The reason not to trust the directory, if it exists and there is one.
pub fn fault_of_directory(path: &Path) -> Option<String> {
    let found = path.metadata().ok()?;
    fault(path, &found, WRITTEN_BY_OTHERS, "700")
}

/// The reason not to trust an opened file that holds secrets.
pub fn fault_of_file(path: &Path, opened: &Metadata) -> Option<String> {
    fault(path, opened, OPEN_TO_OTHERS, "600")
}

fn fault(path: &Path, found: &Metadata, forbidden: u32, wanted: &str) -> Option<String> {
    let shown = path.display();
    let mode = found.mode() & 0o7777;
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Some(format!(
            "{shown} belongs to another user and is not trusted: call this as its owner, or use --data"
        ));
    }
    (mode & forbidden != 0).then(|| {
        format!("{shown} is open to other users (mode {mode:03o}) and is not trusted: `chmod {wanted} {shown}`")
    })
}

/// The directory from the command line, else from the environment, else the default under the home directory.
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
    // The XDG specification says to ignore relative paths here.
    let shared = variable("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let shared = shared.or_else(|| variable("HOME").map(|home| Path::new(&home).join(".local/share")))?;
    Some(shared.join("countersign"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(named: Option<&str>, variables: &[(&str, &str)]) -> Option<PathBuf> {
        choose(named.map(Path::new), |name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value.into())
        })
    }

    #[test]
    fn flag_beats_environment_beats_home() {
        let all = [
            ("COUNTERSIGN_DATA", "/env"),
            ("XDG_DATA_HOME", "/xdg"),
            ("HOME", "/home/ann"),
        ];
        assert_eq!(chosen(Some("/flag"), &all), Some("/flag".into()));
        assert_eq!(chosen(None, &all), Some("/env".into()));
        assert_eq!(chosen(None, &all[1..]), Some("/xdg/countersign".into()));
        assert_eq!(
            chosen(None, &all[2..]),
            Some("/home/ann/.local/share/countersign".into())
        );
        assert_eq!(chosen(None, &[]), None);
    }

    #[test]
    fn a_relative_xdg_directory_is_ignored() {
        let variables = [("XDG_DATA_HOME", "relative"), ("HOME", "/home/ann")];
        assert_eq!(
            chosen(None, &variables),
            Some("/home/ann/.local/share/countersign".into())
        );
    }
}
