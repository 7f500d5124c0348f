use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use anyhow::{Context, Result};

static NEXT: AtomicU32 = AtomicU32::new(1);

/// The directory of one server, removed with its handle.
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub fn new(root: &Path, name: &str) -> Result<Self> {
        let path = root.join(format!("{name}-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed)));
        fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            eprintln!("could not remove {}: {error}", self.path.display());
        }
    }
}
