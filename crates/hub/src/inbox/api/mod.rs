//! The inbox as JSON, for terminals and scripts of people who have a token. Pages have routes of their own.

mod downloads;
mod events;
mod lists;
mod presets;
mod query;
mod runs;
mod show;
mod snooze;
mod terminals;
mod undo;

pub use downloads::{answer_file, file, full_prompt, prompt};
pub use events::events;
pub use lists::{decided, history, list, notices, search};
pub use presets::presets;
pub use runs::{list_runs, show_run, stop as stop_by_call, stop_run};
pub use show::show;
pub use snooze::{archive, list_snoozed, restore, snooze};
pub use terminals::{drop_ahead, list_ahead, queue_ahead, remove_ahead, terminals, type_ahead};
pub use undo::undo;
