//! Running one program: input, output, timeout and output limit.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use countersign_protocol::runs::strategy::CommandAgent;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;

use super::group::ProcessGroup;
use super::permission::Commander;
use super::tail::Tail;

/// A process that left the group may keep our pipes open; its further output is not waited for.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Returns the output of the program, without one trailing line break.
pub async fn run(commander: &Commander, agent: &CommandAgent, cwd: &Path, input: &str) -> Result<String, String> {
    let name = &agent.program;
    let mut child = start(commander, agent, cwd).map_err(|error| cannot_start(name, cwd, &error))?;
    let mut group = ProcessGroup::of(&child);
    let mut output = ProgramOutput {
        stdout: Vec::new(),
        max_bytes: commander.output_bytes,
        stderr: Tail::default(),
    };
    let status = match timeout(commander.timeout, output.follow(&mut child, &mut group, input)).await {
        Ok(ended) => ended.map_err(|why| format!("the command {name} {why}"))?,
        Err(_) => {
            let seconds = commander.timeout.as_secs_f64();
            let why = format!("did not end within {seconds} s (runs.command_timeout_seconds) and was stopped");
            return Err(format!("the command {name} {why}{}", after_colon(output.stderr.text())));
        }
    };
    if !status.success() {
        return Err(format!(
            "the command {name} {}{}",
            ending(status),
            after_colon(output.stderr.text())
        ));
    }
    text(output.stdout).map_err(|why| format!("the command {name} {why}"))
}

fn start(commander: &Commander, agent: &CommandAgent, cwd: &Path) -> io::Result<Child> {
    Command::new(program(&agent.program, cwd))
        .env_clear()
        .envs(commander.environment.iter().map(|(name, value)| (name, value)))
        .args(&agent.args)
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

/// A bare name is looked up in PATH; a path is relative to the directory of the run, not of the hub.
fn program(name: &str, cwd: &Path) -> PathBuf {
    if name.contains('/') {
        cwd.join(name)
    } else {
        PathBuf::from(name)
    }
}

fn cannot_start(name: &str, cwd: &Path, error: &io::Error) -> String {
    if !cwd.is_dir() {
        return format!(
            "the command {name} cannot be started: there is no directory {}",
            cwd.display()
        );
    }
    match error.kind() {
        io::ErrorKind::NotFound => format!("the command {name} cannot be started: there is no such program"),
        _ => format!("the command {name} cannot be started: {error}"),
    }
}

struct ProgramOutput {
    stdout: Vec<u8>,
    max_bytes: usize,
    stderr: Tail,
}

impl ProgramOutput {
    /// Runs until the program and its whole group have ended.
    async fn follow(&mut self, child: &mut Child, group: &mut ProcessGroup, input: &str) -> Result<ExitStatus, String> {
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err("was started without its pipes".to_owned());
        };
        let Self {
            stdout: kept,
            max_bytes,
            stderr: tail,
        } = self;
        // Only too much output ends these three early.
        let others = async {
            tokio::join!(drain(stderr, |bytes| tail.push(bytes)), feed(stdin, input));
            Ok(())
        };
        let mut transfer = pin!(async { tokio::try_join!(collect(stdout, kept, *max_bytes), others).map(drop) });
        tokio::select! {
            transferred = &mut transfer => {
                transferred?;
                group.leader_ended().await;
                group.end();
                return child.wait().await.map_err(wait_failed);
            }
            () = group.leader_ended() => {}
        }
        // Background children would hold the pipes open, and must not outlive the step.
        group.end();
        let status = child.wait().await;
        timeout(DRAIN_TIMEOUT, transfer).await.unwrap_or(Ok(()))?;
        status.map_err(wait_failed)
    }
}

fn wait_failed(error: io::Error) -> String {
    format!("was started, but waiting for it failed: {error}")
}

/// Errors are ignored: a program may leave its input unread.
async fn feed(mut stdin: ChildStdin, input: &str) {
    drop(stdin.write_all(input.as_bytes()).await);
}

async fn collect(from: impl AsyncRead + Unpin, kept: &mut Vec<u8>, max_bytes: usize) -> Result<(), String> {
    // One extra byte distinguishes too much output from exactly enough.
    let mut from = from.take(max_bytes as u64 + 1);
    drop(from.read_to_end(kept).await);
    if kept.len() > max_bytes {
        return Err(format!(
            "printed more than {max_bytes} bytes (runs.command_output_bytes) and was stopped"
        ));
    }
    Ok(())
}

async fn drain(mut from: impl AsyncRead + Unpin, mut take: impl FnMut(&[u8])) {
    let mut chunk = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut chunk).await {
        take(&chunk[..read]);
    }
}

fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => format!("ended abnormally ({status})"),
    }
}

fn after_colon(text: Option<String>) -> String {
    text.map_or_else(String::new, |text| format!(": {text}"))
}

/// Output that is not text is refused rather than replaced lossily, which a reader could not notice.
fn text(bytes: Vec<u8>) -> Result<String, String> {
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        format!("printed output that is not valid UTF-8, from byte {position}")
    })?;
    if let Some(position) = text.find('\0') {
        return Err(format!(
            "printed output that is not text: a zero byte at byte {position}"
        ));
    }
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}
