//! The command line, as people and scripts use it.

mod administer;
mod answer;
mod answer_cue;
mod find;
mod read;
mod run;
mod run_away;
mod runs;
