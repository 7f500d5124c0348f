//! A terminal in a private tmux, with `countersign inbox` or another command in it. It ends with the test.

use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::harness::*;

const BINARY: &str = env!("CARGO_BIN_EXE_countersign");

pub struct Pane {
    socket: String,
    scratch: Scratch,
}

/// The size, type and command of the terminal.
pub struct PaneOptions {
    width: u16,
    height: u16,
    term: &'static str,
    command: &'static str,
    args: String,
    envs: Vec<(&'static str, String)>,
}

impl PaneOptions {
    /// The owner, found through the data directory.
    pub fn owner(hub: &Hub) -> Self {
        let envs = vec![("COUNTERSIGN_DATA", hub.data().display().to_string())];
        Self {
            envs,
            ..Self::without_hub("inbox")
        }
    }

    /// A person who reaches the hub at `url`.
    pub fn at_url(url: &str, token: &str) -> Self {
        let envs = vec![
            ("COUNTERSIGN_URL", url.to_owned()),
            ("COUNTERSIGN_TOKEN", token.to_owned()),
        ];
        Self {
            envs,
            ..Self::without_hub("inbox")
        }
    }

    /// A machine without a hub.
    pub fn without_hub(command: &'static str) -> Self {
        Self {
            width: 80,
            height: 24,
            term: "screen-256color",
            command,
            args: String::new(),
            envs: vec![],
        }
    }

    pub fn env(mut self, name: &'static str, value: &str) -> Self {
        self.envs.push((name, value.to_owned()));
        self
    }

    pub fn size(self, width: u16, height: u16) -> Self {
        Self { width, height, ..self }
    }

    pub fn term(self, term: &'static str) -> Self {
        Self { term, ..self }
    }

    pub fn command(self, command: &'static str) -> Self {
        Self { command, ..self }
    }

    pub fn args(self, args: &str) -> Self {
        Self {
            args: args.to_owned(),
            ..self
        }
    }

    /// The shell around the program prints its exit code and the terminal settings after its end.
    pub fn start(&self) -> Pane {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let socket = format!(
            "countersign-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let pane = Pane {
            socket,
            scratch: Scratch::new(),
        };
        let envs: String = self
            .envs
            .iter()
            .map(|(name, value)| format!("{name}='{value}' "))
            .collect();
        let home = pane.scratch.home().display().to_string();
        let program = format!(
            "env -i HOME='{home}' TERM='{}' TZ=UTC {envs}{BINARY} {} {}",
            self.term, self.command, self.args
        );
        let pid = pane.scratch.path("pid").display().to_string();
        let script = format!(
            "trap : INT\necho BEFORE\nsh -c 'echo $$ > {pid}; exec {}'\necho ENDED $?\nstty -a\nexec cat\n",
            program.replace('\'', "'\\''")
        );
        let script = pane.scratch.write("script", &script);
        let width = self.width.to_string();
        let height = self.height.to_string();
        let started = format!("sh {}", script.display());
        pane.tmux(&[
            "-f",
            "/dev/null",
            "-u",
            "new-session",
            "-d",
            "-x",
            &width,
            "-y",
            &height,
            &started,
        ]);
        pane
    }
}

impl Pane {
    pub fn start(hub: &Hub) -> Self {
        PaneOptions::owner(hub).start()
    }

    fn output(&self, args: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
            .env("LC_ALL", "C.UTF-8")
            .env("SHELL", "/bin/sh")
            .env("TMUX_TMPDIR", self.scratch.path("home"));
        command
            .arg("-L")
            .arg(&self.socket)
            .args(args)
            .output()
            .expect("tmux is installed")
    }

    fn tmux(&self, args: &[&str]) -> String {
        let output = self.output(args);
        assert!(
            output.status.success(),
            "tmux {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("text")
    }

    /// Keys by name: `Enter`, `Tab`, `C-c`, or a letter.
    pub fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys", "--"], keys].concat());
    }

    /// Types the text letter by letter.
    pub fn write(&self, text: &str) {
        self.tmux(&["send-keys", "-l", "--", text]);
    }

    pub fn text(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// The screen with its colour sequences.
    pub fn coloured(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e"])
    }

    pub fn ask_terminal(&self, about: &str) -> String {
        self.tmux(&["display-message", "-p", about]).trim().to_owned()
    }

    pub fn resize(&self, width: u16, height: u16) {
        self.tmux(&["resize-window", "-x", &width.to_string(), "-y", &height.to_string()]);
    }

    pub fn signal(&self, name: &str) {
        let pid = std::fs::read_to_string(self.scratch.path("pid")).expect("the program has started");
        let sent = Command::new("sh")
            .args(["-c", &format!("kill -{name} {}", pid.trim())])
            .status();
        assert!(sent.is_ok_and(|status| status.success()), "send {name}");
    }

    /// Closes the window with the program still in it, and returns the process id of the program.
    pub fn close(&self) -> u32 {
        let pid = std::fs::read_to_string(self.scratch.path("pid")).expect("the program has started");
        self.tmux(&["kill-server"]);
        pid.trim().parse().expect("a number")
    }

    pub async fn shows(&self, expected: &str) -> String {
        self.shows_all(&[expected]).await
    }

    /// Waits until the screen shows all of these at the same time.
    pub async fn shows_all(&self, expected: &[&str]) -> String {
        let all = |text: &String| expected.iter().all(|expected| text.contains(expected));
        eventually(&format!("the screen shows {expected:?}"), async || {
            Some(self.text()).filter(all)
        })
        .await
    }

    pub async fn hides(&self, unwanted: &str) {
        let what = format!("the screen no longer shows {unwanted:?}");
        eventually(&what, async || (!self.text().contains(unwanted)).then_some(())).await;
    }

    /// Opens the item with `title` and waits until it takes answers.
    pub async fn open(&self, title: &str) {
        self.shows(title).await;
        self.press(&["Enter"]);
        self.shows("Your answer").await;
        self.ready().await;
    }

    pub async fn ready(&self) {
        eventually("the item takes answers", async || {
            self.press(&["c"]);
            self.text().contains("Comment: goes along").then_some(())
        })
        .await;
        // Repeated presses may have been typed into the comment.
        self.press(&["C-u", "Enter"]);
        self.hides("Comment").await;
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "--- the screen ---\n{}",
                String::from_utf8_lossy(&self.output(&["capture-pane", "-p"]).stdout)
            );
        }
        self.output(&["kill-server"]);
    }
}
