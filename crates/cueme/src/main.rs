//! The `cueme` binary, with which a coding agent in a terminal talks with its person.

mod args;
mod client;
mod commands;
mod earlier_answers;
mod failure;
mod files;
mod json;
mod print_outcome;
mod reply;
mod session;
mod setup;
mod terminal;
mod wait;
mod wire;

use std::process::ExitCode;
use std::time::Instant;

use args::{Args, Flags};
use commands::installer::Scope;
use commands::{cue, fix, installer, join, migrate, pause, resume};
use failure::Failure;
use terminal::{help, out};

fn main() -> ExitCode {
    let started_at = Instant::now();
    match run(started_at) {
        Ok(code) => code,
        Err(failure) => {
            out::print_error(&failure.message);
            ExitCode::from(failure.code)
        }
    }
}

/// `--max-wait` counts from `started_at`, so that it ends no later than a timeout of the caller with the same length.
fn run(started_at: Instant) -> Result<ExitCode, Failure> {
    let raw = args::raw()?;
    match raw.first().map(String::as_str) {
        None | Some("help" | "-h" | "--help") => return out::print(help::TEXT),
        Some("-v" | "--version") => return out::print(help::VERSION),
        Some("-p" | "--protocol") => return out::print(installer::PROTOCOL),
        Some(_) => {}
    }
    // The grammar of the original would ignore `--help` after a subcommand.
    if let [command, option] = raw.as_slice()
        && matches!(option.as_str(), "-h" | "--help")
    {
        return match command.as_str() {
            "proto" => Ok(installer::run(&["help".to_owned()], Scope::User)),
            _ => out::print(help::TEXT),
        };
    }
    let args = Args::read(&raw)?;
    for warning in &args.warnings {
        out::remark(warning);
    }
    let Some((command, rest)) = args.words.split_first() else {
        return out::print(help::TEXT);
    };
    match command.as_str() {
        "join" => join::run(rest, &args.flags),
        "cue" => cue::run(rest, &args.flags, started_at),
        "pause" => pause::run(rest, &args.flags, started_at),
        "resume" => resume::run(rest, &args.flags, started_at),
        "proto" => Ok(installer::run(rest, proto_scope(&args.flags))),
        "fix" => Ok(fix::run(rest)),
        "migrate" => migrate::run(rest, &args.flags),
        other => Err(Failure::usage(&format!(
            "unknown subcommand: {other}; `cueme help` lists them"
        ))),
    }
}

fn proto_scope(flags: &Flags) -> Scope {
    if flags.project { Scope::Project } else { Scope::User }
}
