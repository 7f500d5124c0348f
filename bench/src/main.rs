//! Measures the hub against the ceiling of this machine.

mod ceiling;
mod load;
mod process;
mod report;
mod scenario;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

use process::HubOptions;
use report::{Machine, Report};
use scenario::{Scenario, Settings};

#[derive(Parser)]
#[command(about = "Measures the hub against the ceiling of this machine")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the ceiling: the hub's stack with nothing in it
    Ceiling {
        #[arg(long, default_value = "127.0.0.1:0")]
        listen: SocketAddr,
        /// The SQLite file it writes to
        #[arg(long)]
        db: PathBuf,
    },
    /// Measure
    Run(RunArgs),
}

#[derive(Args)]
struct RunArgs {
    /// What to measure; may be repeated; without it everything that measures a hub
    #[arg(long, value_enum)]
    scenario: Vec<Scenario>,
    /// The hub to measure
    #[arg(long, default_value = "target/dist/countersign")]
    hub: PathBuf,
    /// Length of one measuring window
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// How often each side of a pair is measured
    #[arg(long)]
    rounds: Option<usize>,
    /// Few and short rounds: shows that everything works, not how fast it is
    #[arg(long)]
    quick: bool,
    /// Where the servers keep their data meanwhile; should be a real disk
    #[arg(long, default_value = "target/bench")]
    dir: PathBuf,
    /// Where the figures go as JSON
    #[arg(long, default_value = "target/bench/figures.json")]
    out: PathBuf,
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Ceiling { listen, db } => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(ceiling::run(listen, &db))
        }
        Command::Run(args) => {
            // A single thread, so that the load generator leaves the machine to the server.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                // Destructors stop the servers, so a signal has to return from here instead of ending the process.
                tokio::select! {
                    outcome = run(args) => outcome,
                    signal = stop_signal() => signal.and_then(|()| bail!("stopped by a signal")),
                }
            })
        }
    }
}

async fn stop_signal() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    }
}

async fn run(args: RunArgs) -> Result<()> {
    std::fs::create_dir_all(&args.dir)?;
    std::fs::create_dir_all(args.out.parent().unwrap_or(Path::new(".")))?;
    let hub = HubOptions {
        binary: args.hub,
        root: args.dir.canonicalize()?,
        loopback_callbacks: false,
        database_url: None,
        rate_limit: false,
    };
    let mut settings = if args.quick {
        Settings::quick(hub)
    } else {
        Settings::full(hub, args.seconds)
    };
    settings.rounds = args.rounds.unwrap_or(settings.rounds).max(1);
    let wanted = if args.scenario.is_empty() {
        Scenario::HUB_SCENARIOS.to_vec()
    } else {
        args.scenario
    };
    let mut report = Report {
        machine: Machine::here(),
        outcomes: Vec::new(),
    };
    for scenario in wanted {
        let outcome = scenario.run(&settings).await?;
        report::print(&outcome);
        report.outcomes.push(outcome);
        // Saved after each scenario, so that its figures survive a failure of the next one.
        save(&report, &args.out)?;
    }
    println!("\nfigures in {}", args.out.display());
    Ok(())
}

fn save(report: &Report, file: &Path) -> Result<()> {
    std::fs::write(file, serde_json::to_vec_pretty(report)?).with_context(|| format!("cannot write {}", file.display()))
}
