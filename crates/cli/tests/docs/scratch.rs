//! A machine for one reader: an empty home and a working directory, removed on drop.

use std::path::{Path, PathBuf};

pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("countersign-docs-{name}-{}", std::process::id()));
        for folder in ["home/shop", "steps"] {
            std::fs::create_dir_all(root.join(folder)).expect("a writable temporary directory");
        }
        Self(root)
    }

    pub fn home(&self) -> PathBuf {
        self.0.join("home")
    }

    pub fn steps(&self) -> PathBuf {
        self.0.join("steps")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(Path::new(&self.0));
    }
}
