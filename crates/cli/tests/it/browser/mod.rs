//! The inbox in a real browser. Pictures of it are left for a person to look at.

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
