//! `countersign run` and `countersign runs`: the strategy to run, or the run to act on.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use countersign_protocol::runs::is_run_id;

#[derive(Debug, Args)]
pub struct RunArgs {
    /// The strategy: JSON, JSONC or YAML. The hub reads it, so it lies on the hub's machine.
    pub file: PathBuf,
    /// The input of the run, or `-` to read it from standard input.
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub input: String,
    /// The id of the run [default: a new one]
    #[arg(long, value_name = "ID", value_parser = run_id)]
    pub run_id: Option<String>,
    /// The model of all LLM agents; overrides the strategy.
    #[arg(long)]
    pub model: Option<String>,
    /// The directory of the run [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Print the id of the run once it has started, and exit.
    #[arg(long, visible_alias = "detach")]
    pub no_wait: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArgs {
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
    /// How many, the latest first.
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
    /// All of them.
    #[arg(long, conflicts_with = "limit")]
    pub all: bool,
}

#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Show a run: its state, what it waits for, what its agents said.
    Show {
        /// The run.
        id: String,
    },
    /// Follow a run from its beginning to its end, and answer what it asks.
    Follow {
        /// The run.
        id: String,
    },
    /// Stop a run and withdraw its questions.
    Stop {
        /// The run.
        id: String,
    },
    /// Continue a run that has ended: its flow starts again, and its agents keep their history.
    Continue(ContinueArgs),
}

#[derive(Debug, Args)]
pub struct ContinueArgs {
    /// The run.
    pub id: String,
    /// The input to continue with, or `-` to read it from standard input.
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub input: String,
    /// The model of all LLM agents; overrides the strategy.
    #[arg(long)]
    pub model: Option<String>,
    /// Exit once it has started.
    #[arg(long, visible_alias = "detach")]
    pub no_wait: bool,
}

fn run_id(text: &str) -> Result<String, String> {
    if is_run_id(text) {
        return Ok(text.to_owned());
    }
    Err("1 to 128 letters, digits, `.`, `_` or `-`, and no `.` to begin with".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Run {
        #[command(flatten)]
        args: RunArgs,
    }

    #[derive(Debug, Parser)]
    struct Runs {
        #[command(flatten)]
        args: RunsArgs,
    }

    #[test]
    fn a_run_needs_a_file_and_takes_the_rest() {
        let args = Run::try_parse_from(["run", "a.yaml", "--input", "-x", "--run-id", "r.1", "--detach"])
            .unwrap()
            .args;
        assert_eq!(
            (args.input.as_str(), args.run_id.as_deref(), args.no_wait),
            ("-x", Some("r.1"), true)
        );
        assert_eq!(Run::try_parse_from(["run", "a.yaml"]).unwrap().args.input, "");
        for line in [
            &["run"][..],
            &["run", "a.yaml", "--run-id", "../x"],
            &["run", "a.yaml", "--run-id", ".x"],
        ] {
            assert_eq!(Run::try_parse_from(line).unwrap_err().exit_code(), 2, "{line:?}");
        }
    }

    #[test]
    fn runs_are_listed_or_one_is_named() {
        let list = Runs::try_parse_from(["runs"]).unwrap().args;
        assert!(list.command.is_none() && list.limit == 50 && !list.all);
        let one = Runs::try_parse_from(["runs", "continue", "r1", "--input", "go on"])
            .unwrap()
            .args;
        assert!(matches!(one.command, Some(RunsCommand::Continue(ContinueArgs { input, .. })) if input == "go on"));
        for line in [
            &["runs", "--all", "--limit", "3"][..],
            &["runs", "--limit", "0"],
            &["runs", "show"],
        ] {
            assert_eq!(Runs::try_parse_from(line).unwrap_err().exit_code(), 2, "{line:?}");
        }
    }
}
