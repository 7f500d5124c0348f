//! The inbox for terminals and scripts, as JSON. The path is for people with a token; pages have their own.

mod events;
mod lists;
mod one;
mod presets;
mod query;
mod shelf;

pub use events::events;
pub use lists::{decided, history, list, notices, search};
pub use one::show;
pub use presets::presets;
pub use shelf::{archive, aside, put_aside, take_back};
