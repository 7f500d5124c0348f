//! The inbox for terminals and scripts, as JSON. The path is for people with a token; pages have their own.

mod attached;
mod events;
mod lists;
mod one;
mod presets;
mod query;
mod runs;
mod shelf;
mod terminals;

pub use attached::{file, file_of, prompt, whole_prompt};
pub use events::events;
pub use lists::{decided, history, list, notices, search};
pub use one::show;
pub use presets::presets;
pub use runs::{list_runs, show_run, stop as stop_by_call, stop_run};
pub use shelf::{archive, aside, put_aside, take_back};
pub use terminals::{drop_ahead, list_ahead, put_ahead, take_ahead_back, terminals, type_ahead};
