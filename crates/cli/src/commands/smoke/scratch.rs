//! A private temporary directory.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub struct ScratchDir(PathBuf);

impl ScratchDir {
    /// Creates the directory; an existing one, made by another user, is not used.
    pub fn new(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("countersign-{name}"));
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .with_context(|| format!("{} cannot be created", path.display()))?;
        Ok(Self(path))
    }

    pub fn directory(&self) -> &Path {
        &self.0
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
