//! The key that seals the state: the app's own, or a temporary one.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use anyhow::Result;
use countersign_agent::{Identity, SealKey};

use super::plan::variable;
use super::scratch::ScratchDir;

/// The source of the key for the new process. The key itself is never an argument.
pub enum KeySource {
    Variable(String),
    File(PathBuf),
}

impl KeySource {
    pub fn of(name: &str, scratch: &ScratchDir) -> Result<Self> {
        match variable(name) {
            Some(_) => Ok(Self::Variable(name.to_owned())),
            None => Self::temporary(scratch),
        }
    }

    /// A key that is removed with the test.
    pub fn temporary(scratch: &ScratchDir) -> Result<Self> {
        let path = scratch.path("seal.key");
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all(temporary_key().as_bytes())?;
        Ok(Self::File(path))
    }

    pub fn key(&self) -> Result<SealKey> {
        Ok(match self {
            Self::Variable(name) => SealKey::from_env(name)?,
            Self::File(path) => SealKey::from_file(path)?,
        })
    }

    pub fn flags(&self) -> [OsString; 2] {
        match self {
            Self::Variable(name) => ["--key-env".into(), name.into()],
            Self::File(path) => ["--key-file".into(), path.into()],
        }
    }
}

/// 64 hex digits from two random ids: good enough for an empty state that lives for seconds.
fn temporary_key() -> String {
    let id = || Identity::new("smoke").run_id.replace('-', "");
    id() + &id()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_key_is_valid_and_different_each_time() {
        let (scratch, _) = ScratchDir::new().unwrap();
        let source = KeySource::of("COUNTERSIGN_NOT_SET_ANYWHERE", &scratch).unwrap();
        source.key().unwrap();
        assert_eq!(source.flags()[0], "--key-file");
        assert_ne!(temporary_key(), temporary_key());
    }
}
