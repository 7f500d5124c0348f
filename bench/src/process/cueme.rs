use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// The program for agents in terminals, beside a hub of this machine.
pub struct Terminal {
    pub binary: PathBuf,
    /// Its home, where it finds no settings.
    pub home: PathBuf,
    /// Of the hub.
    pub data: PathBuf,
}

/// A `cueme` that runs, and does not outlive its handle.
pub struct Cueme {
    child: Child,
    pub started: Instant,
    stdout: Option<JoinHandle<Result<Printed>>>,
}

/// What it printed, and when the first byte of it came.
pub struct Printed {
    pub at: Instant,
    pub text: String,
}

impl Terminal {
    /// Runs it to its end and returns what it printed, and how long it took.
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

    /// Starts it with a file as its input.
    pub fn start(&self, args: &[&str], input: &File) -> Result<Cueme> {
        let mut command = self.command(args);
        command
            .stdin(input.try_clone()?)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let started = Instant::now();
        let mut child = command.spawn().with_context(|| self.start_error())?;
        let stdout = child.stdout.take().context("no stdout")?;
        // A thread that sleeps in a read sees the first byte when it comes.
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

    /// Waits until it has printed its answer and ended well.
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
        // Both fail only when the process has ended already, which is what is wanted.
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
