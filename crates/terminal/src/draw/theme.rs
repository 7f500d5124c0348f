//! Colors: the sixteen standard terminal colors, or none.

use std::time::Duration;

use ratatui::style::{Color, Modifier, Style};

use crate::content::Tone;

const WARNING_AFTER: Duration = Duration::from_secs(15 * 60);
const STALE_AFTER: Duration = Duration::from_secs(2 * 3600);

#[derive(Debug, Clone, Copy)]
pub struct Theme {
    colours: bool,
}

impl Theme {
    pub fn new(colours: bool) -> Self {
        Self { colours }
    }

    fn coloured(self, colour: Color) -> Style {
        if self.colours {
            Style::new().fg(colour)
        } else {
            Style::new()
        }
    }

    pub fn plain(self) -> Style {
        Style::new()
    }

    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub fn quiet(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    pub fn warning(self) -> Style {
        self.coloured(Color::Yellow)
    }

    pub fn bad(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Fresh, waiting, or waiting for long.
    pub fn age(self, age: Duration) -> Style {
        match age {
            age if age >= STALE_AFTER => self.bad(),
            age if age >= WARNING_AFTER => self.warning(),
            _ => self.quiet(),
        }
    }

    pub fn tone(self, tone: Tone) -> Style {
        match tone {
            Tone::Title | Tone::Heading => self.strong(),
            Tone::Plain => self.plain(),
            Tone::Quiet => self.quiet(),
            Tone::Warning => self.warning(),
            Tone::Added => self.good(),
            Tone::Removed => self.coloured(Color::Red),
            Tone::Hunk | Tone::Code => self.coloured(Color::Cyan),
        }
    }
}
