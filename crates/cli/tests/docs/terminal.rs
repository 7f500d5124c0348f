//! One terminal of a reader: a shell that runs command after command, so variables and `$?` last.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::pattern::{begins_same, is_same};
use crate::scratch::Scratch;

/// Bounds a hang, not a speed.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// The command that was started last, and the output that the page shows for it so far.
struct Current {
    command: String,
    shown: String,
    starts_at: usize,
    is_interrupted: bool,
}

pub struct Terminal {
    shell: Child,
    input: ChildStdin,
    output: Arc<Mutex<String>>,
    steps: PathBuf,
    home: PathBuf,
    count: usize,
    current: Option<Current>,
}

impl Terminal {
    pub fn open(name: &str, scratch: &Scratch) -> Self {
        let steps = scratch.steps().join(name);
        std::fs::create_dir_all(&steps).expect("a directory for the commands");
        let binaries = Path::new(env!("CARGO_BIN_EXE_countersign"))
            .parent()
            .expect("a directory");
        let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("bash")
            .args(["--noprofile", "--norc"])
            .env_clear()
            .env("PATH", path)
            .env("HOME", scratch.home())
            .env("NO_COLOR", "1")
            .current_dir(scratch.home().join("shop"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash");
        let output = Arc::new(Mutex::new(String::new()));
        collect(shell.stdout.take().expect("a piped stdout"), Arc::clone(&output));
        Self {
            input: shell.stdin.take().expect("a piped stdin"),
            shell,
            output,
            steps,
            home: scratch.home(),
            count: 0,
            current: None,
        }
    }

    /// Starts a command after the one before has ended, and waits until it has printed what the page shows.
    pub fn run(&mut self, command: &str, shown: &str) {
        self.finish(!command.starts_with("echo $?"));
        self.count += 1;
        let step = self.steps.join(format!("{}.sh", self.count));
        std::fs::write(&step, command).expect("write the command");
        self.current = Some(Current {
            command: command.to_owned(),
            shown: String::new(),
            starts_at: self.output.lock().expect("the output").len(),
            is_interrupted: false,
        });
        let line = format!(
            "(exit ${{code:-0}}); . {} </dev/null 2>&1; code=$?; printf '%s%s\\n' '--code-{}:' \"$code\"\n",
            step.display(),
            self.count
        );
        self.input.write_all(line.as_bytes()).expect("the shell reads");
        self.look(shown);
        // A command that shows nothing is over before the reader turns to another terminal.
        if shown.is_empty()
            && let Some(current) = &self.current
        {
            self.wait(current, "its end", |_, code| code.is_some());
        }
    }

    /// Waits for more output of the current command. `^C` in it is the reader's key.
    pub fn look(&mut self, shown: &str) {
        let mut parts = shown.split("^C");
        self.wait_for_output(parts.next().unwrap_or_default());
        for part in parts {
            self.interrupt();
            self.wait_for_output(part);
        }
    }

    /// Waits for the end of the current command; it has printed what the page shows and nothing else.
    pub fn finish(&mut self, must_succeed: bool) {
        let Some(current) = self.current.take() else { return };
        let (printed, code) = self.wait(&current, "its end", |_, code| code.is_some());
        let (command, shown) = (&current.command, &current.shown);
        assert!(
            is_same(&printed, shown),
            "{command}\nprints:\n{printed}\nthe page shows:\n{shown}"
        );
        assert!(
            !must_succeed || current.is_interrupted || code == Some(0),
            "{command} ended with {code:?}: {printed}"
        );
    }

    pub fn interrupt(&mut self) {
        for child in children(self.shell.id()) {
            signal("INT", child);
        }
        if let Some(current) = &mut self.current {
            current.is_interrupted = true;
        }
    }

    fn wait_for_output(&mut self, shown: &str) {
        let mut current = self.current.take().expect("a command that runs");
        current.shown.push('\n');
        current.shown.push_str(shown);
        let wanted = current.shown.clone();
        self.wait(&current, "the output of the page", |printed, code| {
            begins_same(printed, &wanted) || code.is_some()
        });
        self.current = Some(current);
    }

    fn wait(
        &self,
        current: &Current,
        what: &str,
        is_there: impl Fn(&str, Option<i32>) -> bool,
    ) -> (String, Option<i32>) {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            let (printed, code) = self.printed(current.starts_at);
            if is_there(&printed, code) {
                return (printed, code);
            }
            assert!(
                Instant::now() < deadline,
                "{}: no {what} in time; it has printed:\n{printed}\nthe page shows:\n{}",
                current.command,
                current.shown
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What the current command has printed, with the reader's home as in the pages, and its exit code once it has ended.
    fn printed(&self, starts_at: usize) -> (String, Option<i32>) {
        let output = self.output.lock().expect("the output");
        let text = output[starts_at..].replace(&self.home.display().to_string(), "/home/ann");
        match text.split_once(&format!("--code-{}:", self.count)) {
            Some((printed, code)) if code.ends_with('\n') => (printed.to_owned(), code.trim().parse().ok()),
            Some(_) | None => (text, None),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        for child in children(self.shell.id()) {
            signal("KILL", child);
        }
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

fn collect(mut source: impl Read + Send + 'static, output: Arc<Mutex<String>>) {
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        let mut pending = Vec::new();
        while let Ok(read @ 1..) = source.read(&mut bytes) {
            pending.extend_from_slice(&bytes[..read]);
            let whole = match std::str::from_utf8(&pending) {
                Ok(text) => text.len(),
                Err(error) => error.valid_up_to(),
            };
            let text: Vec<u8> = pending.drain(..whole).collect();
            output
                .lock()
                .expect("the output")
                .push_str(&String::from_utf8_lossy(&text));
        }
    });
}

fn children(process: u32) -> Vec<u32> {
    let listed = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    listed
        .split_whitespace()
        .filter_map(|child| child.parse().ok())
        .collect()
}

fn signal(name: &str, process: u32) {
    let _ = Command::new("bash")
        .args(["-c", &format!("kill -{name} {process}")])
        .status();
}
