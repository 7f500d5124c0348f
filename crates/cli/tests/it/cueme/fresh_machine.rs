//! A machine without a hub. A hub that `cueme` starts there is stopped at the end of the test.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use super::AgentShell;
use crate::harness::*;

const STOP_TIMEOUT: Duration = Duration::from_secs(10);

pub struct FreshMachine(Scratch);

impl FreshMachine {
    pub fn new() -> Self {
        Self(Scratch::new())
    }

    pub fn shell(&self) -> AgentShell {
        AgentShell::at(&self.0)
    }

    pub fn data(&self) -> PathBuf {
        self.0.data()
    }

    pub fn home(&self) -> PathBuf {
        self.0.home()
    }

    fn hub_file(&self) -> Option<Value> {
        serde_json::from_str(&std::fs::read_to_string(self.data().join("hub.json")).ok()?).ok()
    }

    /// The `hub.json` of the hub that runs here.
    pub fn hub(&self) -> Value {
        let found = self.hub_file().expect("a hub.json");
        assert!(
            is_hub_on(pid_of(&found), &self.data()),
            "the hub of {found} runs on the data of this test"
        );
        found
    }

    pub fn owner(&self) -> Api {
        let found = self.hub();
        Api::anonymous(found["url"].as_str().expect("a url")).bearer(found["token"].as_str().expect("a token"))
    }
}

impl Drop for FreshMachine {
    fn drop(&mut self) {
        let Some(pid) = self.hub_file().map(|found| pid_of(&found)) else {
            return;
        };
        let Ok(lock) = File::open(self.data().join("hub.lock")) else {
            return;
        };
        let (ended, end) = mpsc::channel();
        // The hub holds the lock as long as it runs.
        std::thread::spawn(move || lock.lock().and_then(|()| ended.send(()).map_err(std::io::Error::other)));
        for name in ["TERM", "KILL"] {
            if is_hub_on(pid, &self.data()) {
                signal(pid, name);
            }
            if end.recv_timeout(STOP_TIMEOUT).is_ok() {
                return;
            }
        }
    }
}

pub fn pid_of(hub_file: &Value) -> u64 {
    hub_file["pid"].as_u64().expect("a pid in hub.json")
}

pub fn signal(pid: u64, name: &str) {
    let _ = std::process::Command::new("sh")
        .args(["-c", &format!("kill -{name} {pid} 2>/dev/null")])
        .status();
}

/// Whether the process is a hub on this data directory; process ids are reused.
pub fn is_hub_on(pid: u64, data: &Path) -> bool {
    let command_line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let args: Vec<&str> = command_line
        .split(|byte| *byte == 0)
        .filter_map(|word| std::str::from_utf8(word).ok())
        .collect();
    args.contains(&"serve") && data.to_str().is_some_and(|data| args.contains(&data))
}
