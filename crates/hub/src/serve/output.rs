//! Output to a terminal or a pipe, which may be full, closed or never read. No hub ends or hangs because of it.

use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// Prints to standard output, as far as that is possible.
pub fn print(text: &str) {
    let text = text.to_owned();
    write_bounded(move || {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    });
}

/// Waits for the write for a second at most, then leaves it to its thread: a pipe that nothing reads blocks for good.
pub fn write_bounded(write: impl FnOnce() + Send + 'static) {
    let (sender, written) = mpsc::channel();
    let spawned = thread::Builder::new().spawn(move || {
        write();
        let _ = sender.send(());
    });
    if spawned.is_ok() {
        let _ = written.recv_timeout(WRITE_TIMEOUT);
    }
}
