//! The terminal, taken over and given back: at the end, when the program is told to stop, and when it panics.

use std::io::{BufWriter, Stdout, Write, stdout};
use std::panic;

use anyhow::Result;
use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use super::super::draw::{Theme, draw};
use super::super::state::InboxState;

/// A picture goes out at once, or it would be seen half painted.
const FRAME_BUFFER_BYTES: usize = 64 * 1024;

pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    theme: Theme,
}

impl Screen {
    pub fn enter() -> Result<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
        enable_raw_mode()?;
        // From here on dropping it gives the terminal back.
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let out = BufWriter::with_capacity(FRAME_BUFFER_BYTES, stdout());
        let screen = Self {
            terminal: Terminal::new(CrosstermBackend::new(out))?,
            theme: Theme::new(colours),
        };
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        Ok(screen)
    }

    pub fn draw(&mut self, state: &mut InboxState) -> Result<()> {
        self.terminal.draw(|frame| draw(frame, state, self.theme))?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// A terminal that is gone cannot be given back.
fn restore() {
    let _ = disable_raw_mode();
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
}

pub fn ring() {
    let mut out = stdout();
    let _ = out.write_all(b"\x07").and_then(|()| out.flush());
}
