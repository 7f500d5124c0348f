//! The data directory of a hub: private, locked by one process at a time, with `hub.json` for local clients.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use countersign_protocol::api::HubFile;

use super::startup::Welcome;

/// Clients hold the lock for a moment to check whether a hub runs.
const LOCK_TIMEOUT: Duration = Duration::from_millis(200);

const NODE_FILE: &str = "node";

pub struct DataDir {
    path: PathBuf,
    /// Held until the process ends; the system releases it also after a crash.
    _lock: File,
}

impl DataDir {
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .with_context(|| format!("cannot create the data directory {shown}"))?;
        // The owner of the directory could read and change everything in it.
        if path
            .metadata()
            .is_ok_and(|found| found.uid() != rustix::process::geteuid().as_raw())
        {
            bail!(
                "the data directory {shown} belongs to another user; start the hub as that user, or use another --data"
            );
        }
        std::fs::set_permissions(path, Permissions::from_mode(0o700))
            .with_context(|| format!("cannot make the data directory {shown} private"))?;
        let lock = lock(path)?.with_context(|| {
            format!(
                "another hub is running on {shown}, or its store is being copied; stop that first, or give this hub its \
                 own --data directory"
            )
        })?;
        let data = Self {
            path: path.to_owned(),
            _lock: lock,
        };
        // A killed hub leaves its hub.json behind, which would now look like ours.
        let _ = std::fs::remove_file(data.hub_json());
        Ok(data)
    }

    pub fn database(&self) -> PathBuf {
        self.path.join("hub.db")
    }

    fn hub_json(&self) -> PathBuf {
        self.path.join("hub.json")
    }

    /// The node id of the previous hub in this directory, on a shared store.
    pub fn previous_node(&self) -> Option<String> {
        std::fs::read_to_string(self.node_file())
            .ok()
            .map(|text| text.trim().to_owned())
    }

    pub fn node_file(&self) -> PathBuf {
        self.path.join(NODE_FILE)
    }

    /// Written to a temporary file and renamed, so that a client never reads half of it.
    pub fn announce(&self, welcome: &Welcome) -> anyhow::Result<()> {
        let hub_file = HubFile {
            url: welcome.local_url.clone(),
            token: welcome.owner_token.clone(),
            terminal_token: Some(welcome.terminal_token.clone()),
            sign_in_url: Some(welcome.sign_in_url.clone()),
            pid: Some(std::process::id()),
            started_at: Some(welcome.started_at.into()),
        };
        let draft = self.path.join("hub.json.new");
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&draft)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        file.write_all(&serde_json::to_vec(&hub_file)?)?;
        std::fs::rename(&draft, self.hub_json()).context("cannot write hub.json")
    }

    pub fn withdraw(&self) {
        if let Err(error) = std::fs::remove_file(self.hub_json()) {
            tracing::warn!(%error, "removing hub.json failed");
        }
    }
}

/// Locks a data directory against hubs, for work on its store. The directory itself is not changed.
pub struct DataDirLock {
    _lock: File,
}

impl DataDirLock {
    pub fn on(path: &Path) -> anyhow::Result<Self> {
        let taken = || format!("a hub is running on {}, or another copy; stop it first", path.display());
        Ok(Self {
            _lock: lock(path)?.with_context(taken)?,
        })
    }
}

/// `None` when another process holds the lock.
fn lock(path: &Path) -> anyhow::Result<Option<File>> {
    let shown = path.display();
    let lock = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path.join("hub.lock"))
        .with_context(|| format!("cannot write to the data directory {shown}"))?;
    match lock_with_timeout(&lock) {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {shown}")),
    }
}

fn lock_with_timeout(lock: &File) -> Result<(), TryLockError> {
    let until = Instant::now() + LOCK_TIMEOUT;
    loop {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(Duration::from_millis(5)),
            ended => return ended,
        }
    }
}
