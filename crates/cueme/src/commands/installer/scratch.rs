//! A temporary directory for one test, deleted on drop.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::environment::Environment;
use super::targets::System;

pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "cueme-proto-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).expect("a writable temporary directory");
        Self(root)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file and creates its directories.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("make the directory");
        fs::write(&path, text).expect("write into the scratch directory");
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file in the scratch directory")
    }

    /// The environment of a Linux user whose home is this directory, with the project below it.
    pub fn environment(&self) -> Environment {
        let variable = |name: &str| (name == "RULES").then(|| "rules".to_owned());
        Environment::new(
            self.0.clone(),
            self.0.join("project"),
            System::Linux,
            Box::new(variable),
        )
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(Path::new(&self.0));
    }
}
