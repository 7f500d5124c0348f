//! Levels of headings. The page has the first level, so the largest heading of a text gets the second, and no level is
//! skipped on the way down.

use pulldown_cmark::{Event, HeadingLevel, Tag};

#[derive(Default)]
pub struct Headings {
    /// The largest level that the text uses.
    top: usize,
    /// The level of the last heading on the page.
    last: usize,
}

impl Headings {
    pub fn of(events: &[Event<'_>]) -> Self {
        let levels = events.iter().filter_map(|event| match event {
            Event::Start(Tag::Heading { level, .. }) => Some(*level as usize),
            _ => None,
        });
        Self {
            top: levels.min().unwrap_or(1),
            last: 1,
        }
    }

    pub fn open(&mut self, level: HeadingLevel) -> &'static str {
        let level = (level as usize).saturating_sub(self.top) + 2;
        self.last = level.min(self.last + 1);
        match self.last {
            2 => "<h2>",
            3 => "<h3>",
            4 => "<h4>",
            5 => "<h5>",
            _ => "<h6>",
        }
    }

    pub fn close(&self) -> &'static str {
        match self.last {
            2 => "</h2>\n",
            3 => "</h3>\n",
            4 => "</h4>\n",
            5 => "</h5>\n",
            _ => "</h6>\n",
        }
    }
}
