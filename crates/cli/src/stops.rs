//! The signals that end a program, so that it can give the terminal back first.

use std::time::Duration;

use anyhow::Result;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long a program that is told of the end of its terminal may take to give it back.
const HANGUP_GRACE: Duration = Duration::from_secs(1);
/// As the shell would call a program that this signal ended.
const HUNG_UP: i32 = 128 + 1;
const INTERRUPTED: i32 = 128 + 2;

/// A terminal that is gone is read again and again by those who read its keys, and nothing else in that thread gets a turn.
/// So its end is heard here too.
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

/// Whoever presses Ctrl-C again does not want to wait for anything, not even for a farewell.
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
