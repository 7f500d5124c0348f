//! Writes files atomically, and never replaces a different file without --force.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

#[derive(Debug)]
pub struct PlannedFile {
    pub path: PathBuf,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WriteResult {
    Written,
    /// The file existed with the same content.
    Unchanged,
}

/// Checks all files before writing the first.
pub fn write(planned: &[PlannedFile], force: bool) -> Result<Vec<(PathBuf, WriteResult)>> {
    let mut states = Vec::new();
    for file in planned {
        states.push(file_state(file)?);
    }
    let in_the_way: Vec<String> = planned
        .iter()
        .zip(&states)
        .filter(|(_, states)| **states == FileState::Different)
        .map(|(file, _)| file.path.display().to_string())
        .collect();
    if !force && !in_the_way.is_empty() {
        bail!(
            "these files exist with other content: {}; use --force to replace them, or another --out",
            in_the_way.join(", ")
        );
    }
    let mut done = Vec::new();
    for (file, states) in planned.iter().zip(states) {
        let result = if states == FileState::Same {
            WriteResult::Unchanged
        } else {
            write_file(file).with_context(|| format!("{} cannot be written", file.path.display()))?;
            WriteResult::Written
        };
        done.push((file.path.clone(), result));
    }
    Ok(done)
}

#[derive(Debug, PartialEq)]
enum FileState {
    Free,
    Same,
    Different,
}

/// A symlink counts as different even with the same content: it is not ours to replace.
fn file_state(file: &PlannedFile) -> Result<FileState> {
    let found = match fs::symlink_metadata(&file.path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(FileState::Free),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be checked", file.path.display())),
    };
    if found.is_dir() {
        bail!("{} is a directory", file.path.display());
    }
    let same_size = found.is_file() && found.len() == file.text.len() as u64;
    let same = same_size && fs::read(&file.path).is_ok_and(|bytes| bytes == file.text.as_bytes());
    Ok(if same { FileState::Same } else { FileState::Different })
}

/// Written to a temporary file and renamed, so that no reader sees a partial file.
fn write_file(file: &PlannedFile) -> Result<()> {
    let directory = file.path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let draft = directory.join(format!(".{name}.{}", std::process::id()));
    let written = write_through(&draft, file.text.as_bytes()).and_then(|()| fs::rename(&draft, &file.path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    Ok(written?)
}

fn write_through(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("countersign-files-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }

        fn plan(&self, name: &str, text: &str) -> PlannedFile {
            PlannedFile {
                path: self.0.join(name),
                text: text.to_owned(),
            }
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn nothing_is_replaced_without_force() {
        let scratch = Scratch::new("force");
        let path = scratch.0.join("a/SKILL.md");
        assert_eq!(
            write(&[scratch.plan("a/SKILL.md", "one")], false).unwrap(),
            [(path.clone(), WriteResult::Written)]
        );
        assert_eq!(
            write(&[scratch.plan("a/SKILL.md", "one")], false).unwrap(),
            [(path.clone(), WriteResult::Unchanged)]
        );
        let both = [scratch.plan("b", "new"), scratch.plan("a/SKILL.md", "two")];
        let error = write(&both, false).unwrap_err().to_string();
        assert!(error.contains("SKILL.md") && error.contains("--force"), "{error}");
        assert!(!scratch.0.join("b").exists(), "one file in the way stops all of them");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        write(&both, true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(
            fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1,
            "no draft is left"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let scratch = Scratch::new("link");
        fs::create_dir_all(&scratch.0).unwrap();
        fs::write(scratch.0.join("theirs"), "same").unwrap();
        std::os::unix::fs::symlink(scratch.0.join("theirs"), scratch.0.join("ours")).unwrap();
        assert!(write(&[scratch.plan("ours", "same")], false).is_err());
        write(&[scratch.plan("ours", "new")], true).unwrap();
        assert_eq!(fs::read_to_string(scratch.0.join("theirs")).unwrap(), "same");
    }
}
