//! A child process with captured output, killed at the end of the test that started it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;

use super::wait::{WAIT_TIMEOUT, within};

/// The binary under test, with a cleared environment.
pub fn countersign(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

/// The `cueme` that was built beside the binary under test.
pub fn cueme_binary() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_countersign")).with_file_name("cueme");
    assert!(
        binary.exists(),
        "no {}: run the tests with --workspace, which builds cueme too",
        binary.display()
    );
    binary
}

pub struct Process {
    child: Child,
    stdout: Capture,
    stderr: Capture,
}

struct Capture {
    text: watch::Receiver<String>,
    reader: Option<JoinHandle<()>>,
}

impl Capture {
    fn of(source: impl Read + Send + 'static) -> Self {
        let (sender, text) = watch::channel(String::new());
        let reader = std::thread::spawn(move || {
            let mut source = BufReader::new(source);
            let mut line = Vec::new();
            while source.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                sender.send_modify(|text| text.push_str(&String::from_utf8_lossy(&line)));
                line.clear();
            }
        });
        Self {
            text,
            reader: Some(reader),
        }
    }

    fn finish(&mut self) {
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }

    fn so_far(&self) -> String {
        self.text.borrow().clone()
    }
}

impl Process {
    pub fn spawn(mut command: Command, input: impl AsRef<[u8]>) -> Self {
        command.stdin(Stdio::piped());
        let mut process = Self::start(command);
        // Dropping the pipe sends EOF.
        let mut stdin = process.child.stdin.take().expect("a piped stdin");
        let _ = stdin.write_all(input.as_ref());
        drop(stdin);
        process
    }

    /// Starts the command with the stdin it already has.
    pub fn start(command: Command) -> Self {
        Self::start_with_stderr(command, Stdio::piped())
    }

    /// A stderr other than a new pipe is not captured.
    pub fn start_with_stderr(mut command: Command, stderr: Stdio) -> Self {
        command.stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().expect("start the child process");
        let stdout = Capture::of(child.stdout.take().expect("a piped stdout"));
        let stderr = child
            .stderr
            .take()
            .map_or_else(|| Capture::of(std::io::empty()), Capture::of);
        Self { child, stdout, stderr }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn output(&self) -> String {
        format!("{}{}", self.stdout.so_far(), self.stderr.so_far())
    }

    pub async fn stdout_with(&self, wanted: &str) -> String {
        self.wait_for_text(&self.stdout, wanted).await
    }

    /// `None` if the output ends without the text.
    pub async fn try_stdout_with(&self, wanted: &str) -> Option<String> {
        let mut text = self.stdout.text.clone();
        let found = within(wanted, text.wait_for(|text| text.contains(wanted))).await;
        found.ok().map(|text| text.clone())
    }

    pub async fn stderr_with(&self, wanted: &str) -> String {
        self.wait_for_text(&self.stderr, wanted).await
    }

    async fn wait_for_text(&self, capture: &Capture, wanted: &str) -> String {
        let mut text = capture.text.clone();
        let found = within(wanted, text.wait_for(|text| text.contains(wanted))).await;
        found
            .unwrap_or_else(|_| panic!("the output ended without {wanted:?}: {}", self.output()))
            .clone()
    }

    pub fn exited(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("poll the child process")
    }

    /// Waits for the process to exit on its own.
    pub fn join(&mut self) -> ExitStatus {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            if let Some(status) = self.exited() {
                self.stdout.finish();
                self.stderr.finish();
                return status;
            }
            assert!(Instant::now() < deadline, "the process does not end: {}", self.output());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends SIGKILL: no handler runs, nothing is flushed.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("sh")
            .args(["-c", &format!("kill -{name} {}", self.id())])
            .status();
        assert!(sent.is_ok_and(|status| status.success()), "send {name}");
    }

    pub fn finish(mut self) -> CommandOutput {
        let status = self.join();
        CommandOutput {
            code: status.code().unwrap_or(-1),
            stdout: self.stdout.so_far(),
            stderr: self.stderr.so_far(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("--- output of process {} ---\n{}", self.id(), self.output());
        }
    }
}

/// The exit code and output of a finished command.
#[derive(Debug)]
pub struct CommandOutput {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl CommandOutput {
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "the command failed: {self:?}");
        self.stdout
    }

    #[track_caller]
    pub fn json(self) -> Value {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("not JSON ({error}): {text}"))
    }

    /// Asserts the exit code; a failed command prints on stderr only.
    #[track_caller]
    pub fn fails(self, code: i32) -> String {
        assert_eq!(self.code, code, "wrong exit code: {self:?}");
        assert_eq!(self.stdout, "", "a failed command prints nothing on stdout: {self:?}");
        assert!(!self.stderr.trim().is_empty(), "a failed command says why");
        self.stderr
    }
}
