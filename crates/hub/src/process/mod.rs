//! This process: when it started, where it is reached, and whether it stops.

mod readiness;
mod task_health;

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use countersign_config::browser_url;
use countersign_protocol::time::Timestamp;
use readiness::ReadinessCache;
pub use task_health::{FailedForGood, TaskHealth};
use tokio::sync::watch;
use url::Url;

/// Log lines that could not be written, since the start. Static, because a process has one log, and it exists before the
/// hub.
pub static DROPPED_LOG_LINES: AtomicU64 = AtomicU64::new(0);

pub struct Process {
    pub started_at: Timestamp,
    /// Turns true when the hub stops: long-polls then return and connections drain.
    pub stopping: watch::Receiver<bool>,
    /// File with the node id of this process, for the next start on the same data directory.
    pub node_file: OnceLock<PathBuf>,
    pub readiness: ReadinessCache,
    pub tasks: TaskHealth,
    public_url: Option<String>,
    /// Set once the listener is bound.
    local_url: OnceLock<String>,
    browser_url: OnceLock<String>,
}

impl Process {
    pub fn new(started_at: Timestamp, public_url: Option<String>, stopping: watch::Receiver<bool>) -> Self {
        Self {
            started_at,
            stopping,
            node_file: OnceLock::new(),
            readiness: ReadinessCache::default(),
            tasks: TaskHealth::default(),
            public_url,
            local_url: OnceLock::new(),
            browser_url: OnceLock::new(),
        }
    }

    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    pub fn set_local_url(&self, url: String) {
        // Set once, after the listener is bound.
        drop(self.local_url.set(url));
    }

    /// The URL of the listener itself.
    pub fn local_url(&self) -> &str {
        self.local_url.get().map(String::as_str).unwrap_or_default()
    }

    /// The URL that agents and people use.
    pub fn url(&self) -> &str {
        self.public_url.as_deref().unwrap_or_else(|| self.local_url())
    }

    /// Scheme and port of a hub without a public URL, which its sessions belong to. `None` with a public URL: there the
    /// sessions are good on every node.
    pub fn session_place(&self) -> Option<String> {
        if self.public_url.is_some() {
            return None;
        }
        let url = Url::parse(self.local_url()).ok()?;
        Some(format!("{}:{}", url.scheme(), url.port_or_known_default()?))
    }

    /// The URL that people open in a browser.
    pub fn browser_url(&self) -> &str {
        self.browser_url.get_or_init(|| browser_url(self.url()))
    }

    /// Notes the node id in the data directory of a shared store. The next start here then knows which node is gone.
    pub fn write_node_file(&self, node: &str) {
        let Some(file) = self.node_file.get() else { return };
        if let Err(error) = write_private(file, node) {
            tracing::warn!(%error, "writing the node id to the data directory failed");
        }
    }
}

/// Writes a file that only its owner can read, also if it was there before.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.create(true).truncate(true).write(true).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())
}
