//! The inbox in a real browser. Screenshots are kept for review by a person.

mod accessibility;
mod alerts;
mod answer;
mod chrome;
mod clock;
mod drafts;
mod installed;
mod list;
mod live;
mod runs;
mod screenshots;
pub mod seed;
mod sign_in;
mod tabs;
mod terminals;
