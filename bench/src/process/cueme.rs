use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// A terminal with `cueme`, on the same machine as the hub.
pub struct Terminal {
    pub binary: PathBuf,
    /// The home directory, without any settings.
    pub home: PathBuf,
    /// The data directory of the hub.
    pub data: PathBuf,
}

/// A running `cueme` process that is killed with its handle.
pub struct Cueme {
    child: Child,
    pub started: Instant,
    stdout: Option<JoinHandle<Result<Printed>>>,
}

/// The output of `cueme`, and the instant of its first byte.
pub struct Printed {
    pub at: Instant,
    pub text: String,
}

impl Terminal {
    /// Runs `cueme` to its end and returns its output and its duration.
    pub fn run(&self, args: &[&str]) -> Result<(String, Duration)> {
        let started = Instant::now();
        let ran = self
            .command(args)
            .stdin(Stdio::null())
            .output()
            .with_context(|| self.start_error())?;
        let took = started.elapsed();
        ensure!(
            ran.status.success(),
            "cueme {args:?} failed: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
        Ok((String::from_utf8_lossy(&ran.stdout).into_owned(), took))
    }

    /// Starts `cueme` with a file as its standard input.
    pub fn start(&self, args: &[&str], input: &File) -> Result<Cueme> {
        let mut command = self.command(args);
        command
            .stdin(input.try_clone()?)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let started = Instant::now();
        let mut child = command.spawn().with_context(|| self.start_error())?;
        let stdout = child.stdout.take().context("no stdout")?;
        // A thread blocked in a read sees the first byte as soon as it arrives.
        let stdout = std::thread::spawn(move || printed(stdout));
        Ok(Cueme {
            child,
            started,
            stdout: Some(stdout),
        })
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("COUNTERSIGN_DATA", &self.data)
            .env("CUEME_START_HUB", "0");
        command.current_dir(&self.home).args(args);
        command
    }

    fn start_error(&self) -> String {
        format!("cannot start {}: build it too, with --bin cueme", self.binary.display())
    }
}

impl Cueme {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until `cueme` has printed its answer and exited with success.
    pub fn finish(mut self) -> Result<Printed> {
        let stdout = self.stdout.take().context("finish was called twice")?;
        let printed = stdout
            .join()
            .map_err(|_| anyhow::anyhow!("the reader of stdout failed"))??;
        let status = self.child.wait()?;
        ensure!(status.success(), "cueme ended with {status}");
        Ok(printed)
    }
}

impl Drop for Cueme {
    fn drop(&mut self) {
        // Both fail only when the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn printed(mut stdout: impl Read) -> Result<Printed> {
    let mut text = vec![0; 1];
    stdout.read_exact(&mut text).context("cueme printed nothing")?;
    let at = Instant::now();
    stdout.read_to_end(&mut text)?;
    Ok(Printed {
        at,
        text: String::from_utf8_lossy(&text).into_owned(),
    })
}
