//! Reads the envelope from stdin, with a size limit and an idle timeout for a pipe that was left open.

use std::io::{ErrorKind, IsTerminal, Read};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use countersign_protocol::hap::{CueEnvelope, CueKind, decode};

use crate::failure::Failure;

const MAX_BYTES: usize = 16 * 1024 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
const TIMEOUT_VARIABLE: &str = "CUEME_STDIN_SECONDS";
/// Delay before a non-blocking pipe is read again.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum StdinError {
    #[error(
        "error: stdin was left open: nothing arrived for {} s; close it after the envelope, as a heredoc does, \
         or set {TIMEOUT_VARIABLE}", .0.as_secs()
    )]
    LeftOpen(Duration),
    #[error("error: stdin has more than {MAX_BYTES} bytes; shorten it")]
    TooLong,
    #[error("error: stdin cannot be read: {0}")]
    Unreadable(String),
}

pub fn envelope(kind: CueKind) -> Result<CueEnvelope, Failure> {
    let text = decode(&read()?).map_err(|error| Failure::usage(&error.to_string()))?;
    CueEnvelope::parse(kind, &text).map_err(|error| Failure::usage(&error.to_string()))
}

/// A terminal counts as empty input: people do not type envelopes.
fn read() -> Result<Vec<u8>, Failure> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(Vec::new());
    }
    let idle_timeout = idle_timeout(std::env::var(TIMEOUT_VARIABLE).ok().as_deref())?;
    read_all(stdin, MAX_BYTES, idle_timeout).map_err(|error| Failure::usage(&error.to_string()))
}

fn idle_timeout(setting: Option<&str>) -> Result<Duration, Failure> {
    let Some(text) = setting.filter(|text| !text.is_empty()) else {
        return Ok(IDLE_TIMEOUT);
    };
    let seconds = text.parse().ok().filter(|seconds| (1..=86_400).contains(seconds));
    let seconds =
        seconds.ok_or_else(|| Failure::usage(&format!("{TIMEOUT_VARIABLE} is {text}: write seconds, 1 to 86400")))?;
    Ok(Duration::from_secs(seconds))
}

/// A blocking read cannot be cancelled, so a separate thread reads. It ends at the end of the source or of the process.
fn read_all(
    source: impl Read + Send + 'static,
    max_bytes: usize,
    idle_timeout: Duration,
) -> Result<Vec<u8>, StdinError> {
    let (sender, chunks) = sync_channel(4);
    thread::spawn(move || forward(source, &sender));
    let mut all = Vec::new();
    loop {
        match chunks.recv_timeout(idle_timeout) {
            Ok(Ok(chunk)) if chunk.len() > max_bytes - all.len() => return Err(StdinError::TooLong),
            Ok(Ok(chunk)) => all.extend_from_slice(&chunk),
            Ok(Err(error)) => return Err(StdinError::Unreadable(error)),
            Err(RecvTimeoutError::Timeout) => return Err(StdinError::LeftOpen(idle_timeout)),
            Err(RecvTimeoutError::Disconnected) => return Ok(all),
        }
    }
}

/// Sends chunks until the source ends; dropping the sender marks the end.
fn forward(mut source: impl Read, sender: &SyncSender<Result<Vec<u8>, String>>) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let sent = match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => sender.send(Ok(buffer[..count].to_vec())),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                thread::sleep(RETRY_INTERVAL);
                Ok(())
            }
            Err(error) => {
                let _ = sender.send(Err(error.to_string()));
                return;
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn input_is_read_to_its_end() {
        let input = vec![b'x'; 3 * CHUNK_BYTES + 1];
        assert_eq!(read_all(io::Cursor::new(input.clone()), input.len(), LONG), Ok(input));
    }

    #[test]
    fn more_than_the_limit_is_refused() {
        assert_eq!(
            read_all(io::repeat(b'x'), 2 * CHUNK_BYTES, LONG),
            Err(StdinError::TooLong)
        );
    }

    #[test]
    fn a_pipe_left_open_times_out() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"<cueme_prompt>\n").expect("written");
        let idle_timeout = Duration::from_millis(20);
        assert_eq!(
            read_all(reader, 100, idle_timeout),
            Err(StdinError::LeftOpen(idle_timeout))
        );
        drop(writer);
    }

    #[test]
    fn idle_timeout_is_a_number_of_seconds() {
        assert_eq!(idle_timeout(None), Ok(IDLE_TIMEOUT));
        assert_eq!(idle_timeout(Some("")), Ok(IDLE_TIMEOUT));
        assert_eq!(idle_timeout(Some("2")), Ok(Duration::from_secs(2)));
        for wrong in ["0", "-1", "1.5", "soon", "86401"] {
            assert_eq!(idle_timeout(Some(wrong)).unwrap_err().code, 2, "{wrong}");
        }
    }
}
