//! A private temporary directory for the test.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::fresh_name;

pub struct ScratchDir(PathBuf);

impl ScratchDir {
    /// Creates the directory; an existing one, made by another user, is not used.
    pub fn new() -> Result<(Self, String)> {
        let path = std::env::temp_dir().join(format!("countersign-{}", fresh_name()));
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .with_context(|| format!("{} cannot be created", path.display()))?;
        let text = format!("stored in {} during the test", path.display());
        Ok((Self(path), text))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
