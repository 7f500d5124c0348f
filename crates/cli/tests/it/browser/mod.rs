//! The inbox in a real browser. Screenshots are kept for review by a person.

mod accessibility;
mod alerts;
mod answer;
pub mod chrome;
mod clock;
mod drafts;
mod forms;
mod installed;
mod keyboard;
mod language;
mod list;
mod live;
mod pictures;
mod pulse;
mod reading;
mod runs;
pub mod seed;
mod sign_in;
mod tabs;
mod terminals;
mod touch;
mod triage;
