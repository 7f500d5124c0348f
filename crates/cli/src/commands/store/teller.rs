//! How far it is, on standard error.

use std::time::{Duration, Instant};

use countersign_store::copy::{Progress, Stage};

use crate::screen;

const PAUSE: Duration = Duration::from_secs(1);

/// A line for each stage, and one a second while it lasts.
#[derive(Default)]
pub struct Teller {
    last: Option<(Stage, Instant)>,
}

impl Teller {
    pub fn tell(&mut self, progress: &Progress<'_>) {
        match self.last {
            Some((stage, _)) if stage != progress.stage => screen::remark(stage_in_words(progress.stage)),
            None => screen::remark(stage_in_words(progress.stage)),
            Some((_, at)) if at.elapsed() >= PAUSE => screen::remark(&line(progress)),
            Some(_) => return,
        }
        self.last = Some((progress.stage, Instant::now()));
    }
}

fn stage_in_words(stage: Stage) -> &'static str {
    match stage {
        Stage::Reading => "Reading what there is.",
        Stage::Copying => "Copying.",
        Stage::Checking => "Reading back what was copied.",
    }
}

fn line(progress: &Progress<'_>) -> String {
    let of = progress.of.map(|of| format!(" of {of}")).unwrap_or_default();
    format!("  {}: {}{of} rows", progress.table, progress.rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_much_there_is_as_soon_as_that_is_known() {
        let progress = Progress {
            stage: Stage::Reading,
            table: "message",
            rows: 7,
            of: None,
            is_done: false,
        };
        assert_eq!(line(&progress), "  message: 7 rows");
        assert_eq!(
            line(&Progress {
                of: Some(9),
                ..progress
            }),
            "  message: 7 of 9 rows"
        );
    }
}
