//! The `countersign` binary: reads the command line, runs one command and exits with its code.

mod args;
mod commands;

use std::future::Future;
use std::process::ExitCode;

use args::{Cli, CliCommand, Globals, ServeArgs};
use commands::Finished;
use tokio::runtime::Builder;

/// A request allocates a few dozen small pieces on one thread and frees some on another; mimalloc is made for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let Cli {
        globals,
        serve,
        command,
    } = Cli::read();
    let outcome = match command {
        None => start_serve(serve, &globals),
        Some(CliCommand::Serve(args)) => start_serve(args, &globals),
        Some(CliCommand::Doctor { config }) => run_client(commands::doctor::run(config.as_deref(), &globals)),
        Some(CliCommand::Client(command)) => run_client(commands::run(command, &globals)),
        Some(CliCommand::AgentSide(command)) => run_client(commands::agent_commands::run(command, &globals)),
        Some(CliCommand::Skill(command)) => run_client(commands::skill::run(command, &globals)),
        Some(CliCommand::Smoke(args)) => run_client(commands::smoke::run(args, &globals)),
        Some(CliCommand::Audit(command)) => run_client(commands::audit::run(command, &globals)),
        Some(CliCommand::Store(command)) => run_client(commands::store::run(command, &globals)),
    };
    match outcome.and_then(|finished| countersign_client::screen::print(&finished.text).map(|()| finished)) {
        Ok(Finished { code, .. }) => ExitCode::from(code),
        Err(error) => {
            countersign_client::screen::print_error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn start_serve(args: ServeArgs, globals: &Globals) -> anyhow::Result<Finished> {
    let data = countersign_client::data_dir::resolve(globals.data.as_deref())?;
    let serving = async { commands::serve::run(args, data).await.map(|()| Finished::silent()) };
    Builder::new_multi_thread().enable_all().build()?.block_on(serving)
}

/// A client sends one request at a time, so it needs a single thread.
fn run_client(work: impl Future<Output = anyhow::Result<Finished>>) -> anyhow::Result<Finished> {
    Builder::new_current_thread().enable_all().build()?.block_on(work)
}
