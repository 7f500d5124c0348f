//! The directory a hub lives in: private, used by one hub at a time, with a note that tells clients where it is.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::json;

use super::first_start::Welcome;

/// Clients hold the lock for an instant to see whether a hub does.
const LOCK_TIMEOUT: Duration = Duration::from_millis(200);

const NODE_FILE: &str = "node";

pub struct DataDir {
    path: PathBuf,
    /// Held for as long as the hub lives; the system lets go of it when the process ends, however it ends.
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
        // Its owner could read and change everything in it.
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
        // One that was killed left it behind, and it would now seem to be this hub's.
        let _ = std::fs::remove_file(data.hub_json());
        Ok(data)
    }

    pub fn database(&self) -> PathBuf {
        self.path.join("hub.db")
    }

    fn hub_json(&self) -> PathBuf {
        self.path.join("hub.json")
    }

    /// Under which the hub that was here before had things under way in a store that others share.
    pub fn previous_node(&self) -> Option<String> {
        std::fs::read_to_string(self.node_file())
            .ok()
            .map(|text| text.trim().to_owned())
    }

    pub fn node_file(&self) -> PathBuf {
        self.path.join(NODE_FILE)
    }

    /// Written beside and moved into place, so that a client never reads half of it.
    pub fn announce(&self, welcome: &Welcome) -> anyhow::Result<()> {
        let text = json!({
            "url": welcome.local_url,
            "token": welcome.owner_token,
            "terminal_token": welcome.terminal_token,
            "sign_in_url": welcome.sign_in_url,
            "pid": std::process::id(),
            "started_at": welcome.started_at,
        });
        let draft = self.path.join("hub.json.new");
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&draft)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        file.write_all(text.to_string().as_bytes())?;
        std::fs::rename(&draft, self.hub_json()).context("cannot write hub.json")
    }

    pub fn withdraw(&self) {
        if let Err(error) = std::fs::remove_file(self.hub_json()) {
            tracing::warn!(%error, "removing hub.json failed");
        }
    }
}

/// Keeps hubs off a directory while somebody else works on the store in it. The directory is left as it is.
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

/// Nothing when somebody has it.
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
