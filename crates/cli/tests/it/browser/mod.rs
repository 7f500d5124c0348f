//! The inbox in a real browser. Screenshots are kept for review by a person.

mod alerts;
mod answer;
mod chrome;
mod clock;
mod drafts;
mod installed;
mod list;
mod live;
mod pictures;
mod runs;
pub mod seed;
mod sign_in;
mod surroundings;
mod tabs;
mod terminals;
