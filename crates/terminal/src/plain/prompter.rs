//! Reads lines from a person. A signal or the end of the input ends the conversation.

use std::io::{ErrorKind, stdin};
use std::time::Duration;

use anyhow::Result;
use countersign_client::screen;
use countersign_client::stop_signals::StopSignals;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::state::GUARD;

pub struct Prompter {
    stops: StopSignals,
    gone: bool,
}

impl Prompter {
    pub fn new() -> Result<Self> {
        Ok(Self {
            stops: StopSignals::new()?,
            gone: false,
        })
    }

    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// Returns `None` once the input has ended.
    pub async fn line(&mut self, prompt: &str) -> Result<Option<String>> {
        if self.gone {
            return Ok(None);
        }
        screen::print(prompt)?;
        self.wait(read_line).await
    }

    /// Like `line`, without echo.
    pub async fn hidden(&mut self, prompt: &str) -> Result<Option<String>> {
        screen::print(prompt)?;
        let raw = RawMode::enter()?;
        let line = self.wait(read_hidden).await;
        drop(raw);
        screen::print("\n")?;
        line
    }

    /// Waits a moment and discards earlier key presses: they were not meant for the item just shown.
    pub async fn discard_early_keys(&self) -> Result<()> {
        sleep(GUARD).await;
        let _raw = RawMode::enter()?;
        while poll(Duration::ZERO)? {
            read()?;
        }
        Ok(())
    }

    /// The reading thread cannot be cancelled; it ends with the program.
    async fn wait(&mut self, read: fn() -> Option<String>) -> Result<Option<String>> {
        let (sender, line) = oneshot::channel();
        std::thread::spawn(move || sender.send(read()));
        let line = tokio::select! {
            line = line => line.ok().flatten(),
            () = self.stops.any() => None,
        };
        self.gone |= line.is_none();
        Ok(line)
    }
}

fn read_line() -> Option<String> {
    let mut line = String::new();
    match stdin().read_line(&mut line) {
        Ok(0) => None,
        Ok(_) => Some(line.trim_end_matches(['\n', '\r']).to_owned()),
        // Invalid UTF-8 counts as an empty line.
        Err(error) if error.kind() == ErrorKind::InvalidData => Some(String::new()),
        Err(_) => None,
    }
}

fn read_hidden() -> Option<String> {
    let mut line = String::new();
    loop {
        let Ok(event) = read() else { return None };
        let Event::Key(key) = event else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match hidden_key(&mut line, key) {
            HiddenKey::More => {}
            HiddenKey::Done => return Some(line),
            HiddenKey::Gone => return None,
        }
    }
}

#[derive(Debug, PartialEq)]
enum HiddenKey {
    More,
    Done,
    Gone,
}

fn hidden_key(line: &mut String, key: KeyEvent) -> HiddenKey {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Enter => return HiddenKey::Done,
        KeyCode::Char('j' | 'm') if control => return HiddenKey::Done,
        KeyCode::Char('c' | 'd') if control => return HiddenKey::Gone,
        KeyCode::Char('u') if control => line.clear(),
        KeyCode::Backspace => drop(line.pop()),
        KeyCode::Char(letter) if !control => line.push(letter),
        _ => {}
    }
    HiddenKey::More
}

/// Raw mode, without echo, until dropped.
struct RawMode;

impl RawMode {
    fn enter() -> Result<Self> {
        enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_typed_with_corrections() {
        let mut line = String::new();
        for code in [
            KeyCode::Char('x'),
            KeyCode::Backspace,
            KeyCode::Char('a'),
            KeyCode::Tab,
            KeyCode::Char('é'),
        ] {
            assert_eq!(hidden_key(&mut line, code.into()), HiddenKey::More);
        }
        assert_eq!(hidden_key(&mut line, KeyCode::Enter.into()), HiddenKey::Done);
        assert_eq!(line, "aé");
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(hidden_key(&mut line, interrupt), HiddenKey::Gone);
    }
}
