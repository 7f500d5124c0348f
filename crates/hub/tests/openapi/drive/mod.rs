//! Calls to every route, one file per kind of caller.

mod admin;
mod agents;
mod envelope;
mod people;
mod public;
mod refusals;

pub use admin::admin;
pub use agents::agents;
pub use people::people;
pub use public::public;
pub use refusals::refusals;
