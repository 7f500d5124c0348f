//! The `countersign` binary: reads the command line, runs one command and exits with its code.

mod args;
mod commands;

use std::future::Future;
use std::process::ExitCode;
use std::time::Duration;

use args::{Cli, CliCommand, Globals, ServeArgs};
use commands::Finished;
use commands::serve::GreetingStyle;
use countersign_client::screen;
use countersign_hub::serve::output;
use tokio::runtime::Builder;

const RUNTIME_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

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
        Some(CliCommand::Demo(args)) => run_client(commands::demo::run(&args, &globals)),
        Some(CliCommand::Completions { shell }) => commands::shell_files::completions(shell),
        Some(CliCommand::Man { directory }) => commands::shell_files::man(directory.as_deref()),
        Some(CliCommand::Smoke(args)) => run_client(commands::smoke::run(args, &globals)),
        Some(CliCommand::Audit(command)) => run_client(commands::audit::run(command, &globals)),
        Some(CliCommand::Store(command)) => run_client(commands::store::run(command, &globals)),
    };
    match outcome.and_then(print) {
        Ok(Finished { code, .. }) => ExitCode::from(code),
        Err(error) => {
            screen::print_error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints nothing for no text: standard output may be blocked by a reader that is gone.
fn print(finished: Finished) -> anyhow::Result<Finished> {
    if !finished.text.is_empty() {
        screen::print(&finished.text)?;
    }
    Ok(finished)
}

fn start_serve(args: ServeArgs, globals: &Globals) -> anyhow::Result<Finished> {
    let data = countersign_client::data_dir::resolve(globals.data.as_deref())?;
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(commands::serve::run(args, data, GreetingStyle::of(globals)));
    // Threads that are still blocked do not keep the process.
    runtime.shutdown_timeout(RUNTIME_SHUTDOWN_TIMEOUT);
    let Err(error) = served else {
        return Ok(Finished::silent());
    };
    let code = commands::serve::exit_code(&error);
    output::write_bounded(move || screen::print_error(&format!("{error:#}")));
    Ok(Finished::with_code(String::new(), code))
}

/// A client sends one request at a time, so it needs a single thread.
fn run_client(work: impl Future<Output = anyhow::Result<Finished>>) -> anyhow::Result<Finished> {
    Builder::new_current_thread().enable_all().build()?.block_on(work)
}
