//! The results of a run: figures with their goals, as a table for people and as JSON for programs.

mod figure;
mod table;

use serde::Serialize;

pub use figure::{Figure, Goal};
pub use table::print;

/// The figures of one scenario.
#[derive(Serialize)]
pub struct Outcome {
    pub scenario: &'static str,
    pub seconds: f64,
    /// The share of the machine that other programs used meanwhile. Above a few percent the figures cannot be trusted.
    pub taken_by_others: f64,
    pub figures: Vec<Figure>,
}

/// All results of one run of the program.
#[derive(Serialize)]
pub struct Report {
    pub machine: Machine,
    pub outcomes: Vec<Outcome>,
}

#[derive(Serialize)]
pub struct Machine {
    pub cores: usize,
    pub kernel: String,
    pub unix_time: u64,
}

impl Machine {
    pub fn here() -> Self {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        Self {
            cores,
            kernel: kernel.trim().to_owned(),
            unix_time: since.as_secs(),
        }
    }
}
