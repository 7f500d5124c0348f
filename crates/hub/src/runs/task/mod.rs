//! The task of one run. It alone drives the run; everything else sends it commands.

mod asking;
mod commit;
mod desk;
mod drive;
mod end;
mod heed;
mod job;
mod memory;
mod state;
mod waiting;

pub use end::{cancelled, restarted};
pub use state::{RunTask, Stopped, TaskStart};
pub use waiting::restore_ask;
