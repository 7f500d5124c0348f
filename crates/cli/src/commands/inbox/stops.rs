//! The signals that end a program, so that it can give the terminal back first.

use anyhow::Result;
use tokio::signal::unix::{Signal, SignalKind, signal};

pub struct Stops {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Stops {
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
