//! The signals that end the program, handled so that the terminal is restored first.

use std::time::Duration;

use anyhow::Result;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The time a program has to restore the terminal after SIGHUP.
const HANGUP_GRACE: Duration = Duration::from_secs(1);
/// The exit codes a shell reports for a program ended by SIGHUP and SIGINT.
const HUNG_UP: i32 = 128 + 1;
const INTERRUPTED: i32 = 128 + 2;

/// Exits after SIGHUP even if the main thread is stuck: a key reader polls a vanished terminal in a busy loop and
/// starves everything else on that thread. So a thread of its own waits for the signal.
pub fn exit_on_hangup() -> Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut hang_up = runtime.block_on(async { signal(SignalKind::hangup()) })?;
    std::thread::spawn(move || {
        runtime.block_on(hang_up.recv());
        std::thread::sleep(HANGUP_GRACE);
        std::process::exit(HUNG_UP);
    });
    Ok(())
}

/// A second Ctrl-C exits at once, without restoring anything.
pub fn exit_on_second_interrupt() -> Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut interrupt = runtime.block_on(async { signal(SignalKind::interrupt()) })?;
    std::thread::spawn(move || {
        runtime.block_on(interrupt.recv());
        runtime.block_on(interrupt.recv());
        std::process::exit(INTERRUPTED);
    });
    Ok(())
}

pub struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl StopSignals {
    pub fn new() -> Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    pub async fn any(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
