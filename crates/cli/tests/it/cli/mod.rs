//! The command line, as people and scripts use it.

mod administer;
mod answer;
mod find;
mod read;
