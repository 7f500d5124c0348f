//! Reads lines from standard input, one at a time and only while a question is open: a pipe's remaining lines stay
//! for later questions.

use std::io::{BufRead, IsTerminal, Read, stdin};
use std::sync::mpsc;

use rustix::io::ioctl_fionread;
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::answer_entry::MAX_ANSWER_BYTES;

#[derive(Debug, PartialEq)]
pub enum InputLine {
    Line(String),
    TooLong,
    /// Invalid UTF-8 is no answer.
    NotText,
    /// The end of the input.
    End,
}

pub struct Keyboard {
    /// Asks the reading thread for one more line.
    wanted: mpsc::Sender<()>,
    typed: UnboundedReceiver<InputLine>,
    is_reading: bool,
    pub is_terminal: bool,
}

impl Keyboard {
    /// The reading thread cannot be stopped; it ends with the program.
    pub fn new() -> Self {
        let (wanted, requests) = mpsc::channel();
        let (sender, typed) = unbounded_channel();
        std::thread::spawn(move || serve(&requests, &sender));
        Self {
            wanted,
            typed,
            is_reading: false,
            is_terminal: stdin().is_terminal(),
        }
    }

    /// Cancel-safe: dropping the future loses no line.
    pub async fn line(&mut self) -> InputLine {
        if !self.is_reading {
            self.is_reading = self.wanted.send(()).is_ok();
        }
        let typed = self.typed.recv().await.unwrap_or(InputLine::End);
        self.is_reading = false;
        typed
    }

    /// Discards an unfinished line: it stands above newer output, so the person could not see it and would type it
    /// again. Complete lines are kept.
    pub fn discard_unfinished(&mut self) {
        // A terminal in line mode counts only complete lines.
        if self.is_terminal && !has_a_whole_line() {
            let _ = tcflush(stdin(), QueueSelector::IFlush);
        }
    }

    /// Discards earlier input: it was not meant for the next question. A pipe's input is always meant.
    pub fn discard(&mut self) {
        if !self.is_terminal {
            return;
        }
        // Errors are ignored: a closed terminal has no input.
        let _ = tcflush(stdin(), QueueSelector::IFlush);
        while let Ok(InputLine::Line(_) | InputLine::TooLong | InputLine::NotText) = self.typed.try_recv() {
            self.is_reading = false;
        }
    }
}

/// If the system cannot tell, a line is assumed.
fn has_a_whole_line() -> bool {
    ioctl_fionread(stdin()).map_or(true, |bytes| bytes > 0)
}

fn serve(requests: &mpsc::Receiver<()>, sender: &UnboundedSender<InputLine>) {
    while requests.recv().is_ok() {
        let typed = read_line(&mut stdin().lock());
        let is_over = typed == InputLine::End;
        if sender.send(typed).is_err() || is_over {
            return;
        }
    }
}

/// A line that is too long is read to its end and dropped.
fn read_line(input: &mut impl BufRead) -> InputLine {
    let mut line = Vec::new();
    let max_line_bytes = MAX_ANSWER_BYTES as u64 + 2;
    match input.by_ref().take(max_line_bytes).read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => return InputLine::End,
        Ok(_) => {}
    }
    let is_whole = line.pop_if(|last| *last == b'\n').is_some();
    if is_whole {
        line.pop_if(|last| *last == b'\r');
    }
    if line.len() > MAX_ANSWER_BYTES {
        if !is_whole && input.skip_until(b'\n').is_err() {
            return InputLine::End;
        }
        return InputLine::TooLong;
    }
    String::from_utf8(line).map_or(InputLine::NotText, InputLine::Line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(mut input: &[u8]) -> Vec<InputLine> {
        std::iter::from_fn(|| Some(read_line(&mut input)).filter(|typed| *typed != InputLine::End)).collect()
    }

    #[test]
    fn lines_come_without_their_ends_and_the_last_one_needs_none() {
        let line = |text: &str| InputLine::Line(text.to_owned());
        assert_eq!(lines(b"a \r\n\nb"), [line("a "), line(""), line("b")]);
        assert_eq!(lines(b"\xff\nc\n"), [InputLine::NotText, line("c")]);
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_and_the_next_one_is_complete() {
        let long = "x".repeat(3 * MAX_ANSWER_BYTES) + "\nnext\n";
        assert_eq!(
            lines(long.as_bytes()),
            [InputLine::TooLong, InputLine::Line("next".to_owned())]
        );
        let max_line_bytes = "y".repeat(MAX_ANSWER_BYTES);
        assert_eq!(
            lines((max_line_bytes.clone() + "\r\n").as_bytes()),
            [InputLine::Line(max_line_bytes)]
        );
    }
}
