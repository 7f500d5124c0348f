//! Calls to every route, one file per kind of caller.

mod admin;
mod agents;
mod envelope;
mod lists;
mod people;
mod public;
mod refusals;
mod runs;
mod snooze;
mod terminals;
mod undo;

pub use admin::admin;
pub use agents::agents;
pub use lists::lists;
pub use people::people;
pub use public::public;
pub use refusals::refusals;
pub use runs::runs;
pub use snooze::shelf;
pub use terminals::terminals;
pub use undo::undo;
