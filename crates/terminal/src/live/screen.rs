//! Takes over the terminal, and restores it at the end, on a stop signal and on a panic.

use std::io::{BufWriter, Stdout, Write, stdout};
use std::panic;

use anyhow::Result;
use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::style::force_color_output;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::draw::{Theme, draw};
use crate::state::InboxState;

/// Large enough for a whole frame, which would flicker if written in parts.
const FRAME_BUFFER_BYTES: usize = 64 * 1024;

pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    theme: Theme,
}

impl Screen {
    pub fn enter(colours: bool) -> Result<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
        enable_raw_mode()?;
        // From here on, dropping the screen restores the terminal.
        force_color_output(colours);
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

/// Errors are ignored: a closed terminal cannot be restored.
fn restore() {
    let _ = disable_raw_mode();
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
}

pub fn ring() {
    let mut out = stdout();
    let _ = out.write_all(b"\x07").and_then(|()| out.flush());
}
