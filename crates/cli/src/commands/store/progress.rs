//! The progress of a copy, on standard error.

use std::time::{Duration, Instant};

use countersign_client::screen;
use countersign_store::copy::{CopyProgress, CopyStage};

const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// Prints a line per stage, and one per second during a stage.
#[derive(Default)]
pub struct ProgressPrinter {
    last: Option<(CopyStage, Instant)>,
}

impl ProgressPrinter {
    pub fn print(&mut self, progress: &CopyProgress<'_>) {
        match self.last {
            Some((stage, _)) if stage != progress.stage => screen::print_notice(stage_line(progress.stage)),
            None => screen::print_notice(stage_line(progress.stage)),
            Some((_, at)) if at.elapsed() >= LINE_INTERVAL => screen::print_notice(&line(progress)),
            Some(_) => return,
        }
        self.last = Some((progress.stage, Instant::now()));
    }
}

fn stage_line(stage: CopyStage) -> &'static str {
    match stage {
        CopyStage::Reading => "Reading the source.",
        CopyStage::Copying => "Copying.",
        CopyStage::Checking => "Reading the copy back.",
    }
}

fn line(progress: &CopyProgress<'_>) -> String {
    let of = progress.of.map(|of| format!(" of {of}")).unwrap_or_default();
    format!("  {}: {}{of} rows", progress.table, progress.rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_line_shows_the_total_once_known() {
        let progress = CopyProgress {
            stage: CopyStage::Reading,
            table: "message",
            rows: 7,
            of: None,
            is_done: false,
        };
        assert_eq!(line(&progress), "  message: 7 rows");
        assert_eq!(
            line(&CopyProgress {
                of: Some(9),
                ..progress
            }),
            "  message: 7 of 9 rows"
        );
    }
}
