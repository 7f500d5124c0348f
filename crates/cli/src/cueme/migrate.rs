//! `cueme migrate`.

use std::process::ExitCode;

use super::out;

pub fn run(_words: &[String]) -> ExitCode {
    out::complain("error: this build cannot migrate yet");
    ExitCode::FAILURE
}
