//! The command line for people and scripts.

mod administer;
mod answer;
mod answer_cue;
mod demo;
mod find;
mod help;
mod read;
mod run;
mod run_outage;
mod runs;
