//! The envelope's bytes: bounded in size, and in how long a pipe that was left open is waited for.

use std::io::{ErrorKind, IsTerminal, Read};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use countersign_protocol::hap::{CueEnvelope, CueKind, decode};

use crate::failure::Failure;

const MOST_BYTES: usize = 16 * 1024 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(30);
const VARIABLE: &str = "CUEME_STDIN_SECONDS";
/// How soon a pipe that does not block is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum StdinError {
    #[error(
        "error: stdin was left open: nothing arrived for {} s; close it after the envelope, as a heredoc does, \
         or set {VARIABLE}", .0.as_secs()
    )]
    LeftOpen(Duration),
    #[error("error: stdin has more than {MOST_BYTES} bytes; say it in fewer")]
    TooLong,
    #[error("error: stdin cannot be read: {0}")]
    Unreadable(String),
}

pub fn envelope(kind: CueKind) -> Result<CueEnvelope, Failure> {
    let text = decode(&read()?).map_err(|error| Failure::usage(&error.to_string()))?;
    CueEnvelope::parse(kind, &text).map_err(|error| Failure::usage(&error.to_string()))
}

/// Nobody types an envelope: a terminal is as good as nothing.
fn read() -> Result<Vec<u8>, Failure> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(Vec::new());
    }
    let patience = patience(std::env::var(VARIABLE).ok().as_deref())?;
    collect(stdin, MOST_BYTES, patience).map_err(|error| Failure::usage(&error.to_string()))
}

fn patience(setting: Option<&str>) -> Result<Duration, Failure> {
    let Some(text) = setting.filter(|text| !text.is_empty()) else {
        return Ok(PATIENCE);
    };
    let seconds = text.parse().ok().filter(|seconds| (1..=86_400).contains(seconds));
    let seconds = seconds.ok_or_else(|| Failure::usage(&format!("{VARIABLE} is {text}: write seconds, 1 to 86400")))?;
    Ok(Duration::from_secs(seconds))
}

/// A read cannot be called off, so another thread reads; it ends with its source or with the process.
fn collect(source: impl Read + Send + 'static, most: usize, patience: Duration) -> Result<Vec<u8>, StdinError> {
    let (sender, chunks) = sync_channel(4);
    thread::spawn(move || forward(source, &sender));
    let mut all = Vec::new();
    loop {
        match chunks.recv_timeout(patience) {
            Ok(Ok(chunk)) if chunk.len() > most - all.len() => return Err(StdinError::TooLong),
            Ok(Ok(chunk)) => all.extend_from_slice(&chunk),
            Ok(Err(error)) => return Err(StdinError::Unreadable(error)),
            Err(RecvTimeoutError::Timeout) => return Err(StdinError::LeftOpen(patience)),
            Err(RecvTimeoutError::Disconnected) => return Ok(all),
        }
    }
}

/// The end of the source is told by letting go of the channel.
fn forward(mut source: impl Read, sender: &SyncSender<Result<Vec<u8>, String>>) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let told = match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => sender.send(Ok(buffer[..count].to_vec())),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                thread::sleep(LOOK_AGAIN);
                Ok(())
            }
            Err(error) => {
                let _ = sender.send(Err(error.to_string()));
                return;
            }
        };
        if told.is_err() {
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
    fn everything_up_to_the_end_is_read() {
        let input = vec![b'x'; 3 * CHUNK_BYTES + 1];
        assert_eq!(collect(io::Cursor::new(input.clone()), input.len(), LONG), Ok(input));
    }

    #[test]
    fn more_than_the_limit_is_refused() {
        assert_eq!(
            collect(io::repeat(b'x'), 2 * CHUNK_BYTES, LONG),
            Err(StdinError::TooLong)
        );
    }

    #[test]
    fn a_pipe_left_open_is_given_up() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"<cueme_prompt>\n").expect("written");
        let patience = Duration::from_millis(20);
        assert_eq!(collect(reader, 100, patience), Err(StdinError::LeftOpen(patience)));
        drop(writer);
    }

    #[test]
    fn patience_is_a_number_of_seconds() {
        assert_eq!(patience(None), Ok(PATIENCE));
        assert_eq!(patience(Some("")), Ok(PATIENCE));
        assert_eq!(patience(Some("2")), Ok(Duration::from_secs(2)));
        for wrong in ["0", "-1", "1.5", "soon", "86401"] {
            assert_eq!(patience(Some(wrong)).unwrap_err().code, 2, "{wrong}");
        }
    }
}
