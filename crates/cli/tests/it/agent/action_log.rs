//! An `--exec` command for tests that logs every time it runs.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Hub, eventually};

/// Appends its standard input and its environment to log files, one line each.
const LOG_SCRIPT: &str = r#"cat >> "$0"; echo >> "$0"
echo "$COUNTERSIGN_MESSAGE_ID $COUNTERSIGN_RESOLUTION $COUNTERSIGN_RESOLUTION_ID" >> "$0.env""#;
/// Like `LOG_SCRIPT`, but first writes its process id and blocks on its own gate, unless all gates are open. The shell
/// itself blocks in `read`, so that killing the shell leaves no child process behind.
const GATED_SCRIPT: &str = r#"gate="$0.gate.$$"; mkfifo "$gate"; echo $$ >> "$0.begun"
[ -e "$0.open" ] || read -r go < "$gate"
cat >> "$0"; echo >> "$0""#;

pub struct ActionLog(PathBuf);

impl ActionLog {
    pub fn new(hub: &Hub) -> Self {
        Self(hub.scratch().path("acts"))
    }

    fn beside(&self, end: &str) -> PathBuf {
        PathBuf::from(format!("{}{end}", self.0.display()))
    }

    /// The arguments after `--exec`.
    pub fn command(&self) -> Vec<String> {
        ["sh", "-c", LOG_SCRIPT]
            .into_iter()
            .map(str::to_owned)
            .chain([self.0.display().to_string()])
            .collect()
    }

    /// A command that blocks in the middle until its gate opens.
    pub fn gated(&self) -> Vec<String> {
        ["sh", "-c", GATED_SCRIPT]
            .into_iter()
            .map(str::to_owned)
            .chain([self.0.display().to_string()])
            .collect()
    }

    /// Waits until `count` gated commands have started, and returns their process ids.
    pub async fn begun(&self, count: usize) -> Vec<String> {
        let path = self.beside(".begun");
        eventually("the command has begun", async || {
            let lines = lines(&path);
            (lines.len() >= count).then_some(lines)
        })
        .await
    }

    /// Opens the gate of the command with this process id, and blocks until the command is there.
    pub fn open_gate(&self, pid: &str) {
        std::fs::write(self.beside(&format!(".gate.{pid}")), "go\n").expect("open the gate");
    }

    /// Opens all gates for good.
    pub fn leave_gates_open(&self) {
        std::fs::write(self.beside(".open"), "").expect("leave the gates open");
    }

    /// The standard input of each command that ran to its end.
    pub fn done(&self) -> Vec<Value> {
        let parse = |line: &String| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        lines(&self.0).iter().map(parse).collect()
    }

    pub fn environments(&self) -> Vec<String> {
        lines(&self.beside(".env"))
    }

    /// The message ids of the commands that ran, in order.
    pub fn ids(&self) -> Vec<String> {
        self.done()
            .iter()
            .map(|act| act["id"].as_str().expect("an id").to_owned())
            .collect()
    }
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(str::to_owned)
        .collect()
}

pub fn kill_9(pid: &str) {
    let killed = std::process::Command::new("kill").args(["-9", pid]).status();
    assert!(killed.is_ok_and(|status| status.success()), "kill {pid}");
}

/// `args` followed by `--exec` and the command.
pub fn exec<'a>(args: &[&'a str], command: &'a [String]) -> Vec<&'a str> {
    args.iter()
        .copied()
        .chain(["--exec"])
        .chain(command.iter().map(String::as_str))
        .collect()
}
