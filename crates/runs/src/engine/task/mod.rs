//! The task of one run. It alone drives the run; everything else sends it commands.

mod agent_context;
mod asking;
mod commit;
mod drive;
mod end;
mod handle_command;
mod job;
mod memory;
mod pending_answer;
mod state;

pub use end::{cancelled, restarted};
pub use pending_answer::restore_ask;
pub use state::{RunTask, Stopped, TaskStart};
