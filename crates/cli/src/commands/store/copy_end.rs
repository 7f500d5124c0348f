//! The two ends of a copy, as named on the command line.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use countersign_hub::serve::DataDirLock;
use countersign_store::copy::StoreLocation;

pub struct CopyEnd {
    location: StoreLocation,
    /// For a file: the lock that keeps hubs from running on it.
    lock: Option<(PathBuf, DataDirLock)>,
}

impl CopyEnd {
    pub fn source(what: &str) -> Result<Self> {
        if StoreLocation::is_database_url(what) {
            return Self::database(what).context("--from");
        }
        refuse_url(what).context("--from")?;
        let file = file_of(what).context("--from")?;
        if !file.is_file() {
            bail!("--from: no store found: {} does not exist", file.display());
        }
        Self::file(&file).context("--from")
    }

    pub fn target(what: &str, source: &Self) -> Result<Self> {
        if StoreLocation::is_database_url(what) {
            return Self::database(what).context("--to");
        }
        refuse_url(what).context("--to")?;
        let file = file_of(what).context("--to")?;
        let directory = directory_of(&file);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.with_context(|| format!("--to: cannot create the data directory {}", directory.display()))?;
        if source.is_beside(&file) {
            bail!(
                "--from and --to are in the same directory, {}; name two",
                directory.display()
            );
        }
        Self::file(&file).context("--to")
    }

    pub fn location(&self) -> &StoreLocation {
        &self.location
    }

    /// A password in the environment does not appear in the process list.
    fn database(url: &str) -> Result<Self> {
        let password = std::env::var("PGPASSWORD").ok();
        Ok(Self {
            location: StoreLocation::database(url, password.as_deref())?,
            lock: None,
        })
    }

    fn file(file: &Path) -> Result<Self> {
        let directory = directory_of(file);
        refuse_foreign(if file.exists() { file } else { directory })?;
        let lock = DataDirLock::on(directory)?;
        Ok(Self {
            location: StoreLocation::file(file),
            lock: Some((directory.to_owned(), lock)),
        })
    }

    /// Compares resolved paths, not their spelling.
    fn is_beside(&self, file: &Path) -> bool {
        let Some((own, _)) = &self.lock else { return false };
        matches!((own.canonicalize(), directory_of(file).canonicalize()), (Ok(own), Ok(other)) if own == other)
    }
}

/// A store that is only read, whether or not a hub runs on it.
pub fn location(what: &str) -> Result<StoreLocation> {
    if StoreLocation::is_database_url(what) {
        return Ok(CopyEnd::database(what)?.location);
    }
    refuse_url(what)?;
    let file = file_of(what)?;
    refuse_foreign(&file)?;
    Ok(StoreLocation::file(&file))
}

/// A mistyped URL is not treated as a path; it may hold a password, so the error does not repeat it.
fn refuse_url(what: &str) -> Result<()> {
    if what.contains("://") {
        bail!("this is not a PostgreSQL address: write it as postgres://user@host/name, or name a data directory");
    }
    Ok(())
}

/// SQLite would leave files beside it that the owner's hub cannot open.
fn refuse_foreign(path: &Path) -> Result<()> {
    if path
        .metadata()
        .is_ok_and(|found| found.uid() != rustix::process::geteuid().as_raw())
    {
        bail!(
            "{} belongs to another user; run this command as that user",
            path.display()
        );
    }
    Ok(())
}

/// The file itself, or `hub.db` in a directory, existing or not.
fn file_of(what: &str) -> Result<PathBuf> {
    let path = std::path::absolute(what).with_context(|| format!("{what:?} is not a valid path"))?;
    let is_file = path.is_file() || (path.extension().is_some_and(|end| end == "db") && !path.is_dir());
    Ok(if is_file { path } else { path.join("hub.db") })
}

fn directory_of(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_stands_for_the_database_in_it() {
        let there = std::env::temp_dir();
        assert_eq!(file_of(&there.display().to_string()).unwrap(), there.join("hub.db"));
        assert_eq!(file_of("/nowhere/data").unwrap(), Path::new("/nowhere/data/hub.db"));
        assert_eq!(
            file_of("/nowhere/data/hub.db").unwrap(),
            Path::new("/nowhere/data/hub.db")
        );
        assert!(file_of("").is_err());
    }
}
