//! Plain text for a terminal. Everything an agent wrote is untrusted and passes through `escape` before it is shown.

mod clock;
#[cfg(feature = "hub")]
mod table;

use std::io::{self, ErrorKind, IsTerminal, Write};

use serde_json::Value;

pub use clock::{duration_label, instant_label};
pub use countersign_protocol::escape::{escape, escape_json, escape_lines};
#[cfg(feature = "hub")]
pub use table::TextTable;

/// The name of a person; other actors keep their kind: `owner`, `agent:bot`.
pub fn actor_label(actor: &str) -> &str {
    actor.strip_prefix("human:").unwrap_or(actor)
}

/// One line of JSON. Characters that a terminal would act on are written as equivalent JSON escapes.
pub fn json(value: &Value) -> String {
    escape_json(&value.to_string()) + "\n"
}

/// An untrusted multi-line text, with a margin so that it cannot pass for this program's own output.
pub fn quote(text: &str) -> String {
    escape_lines(text)
        .lines()
        .map(|line| format!("  | {line}").trim_end().to_owned() + "\n")
        .collect()
}

/// The columns of the terminal that standard output goes to; `None` for a pipe or a file.
pub fn terminal_width() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&stdout).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Writes to standard output. A closed pipe (`| head`) is not an error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes a progress line to standard error; standard output is reserved for the result.
pub fn print_notice(line: &str) {
    let _ = writeln!(io::stderr(), "{}", escape(line));
}

/// Writes already escaped text to standard error, without adding a line break.
pub fn write_stderr(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes an error to standard error, ignoring a closed terminal.
pub fn print_error(message: &str) {
    let _ = writeln!(io::stderr(), "error: {}", escape_lines(message));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_keeps_its_margin_on_every_line() {
        assert_eq!(quote("one\n\nAnswered: yes\n"), "  | one\n  |\n  | Answered: yes\n");
        assert_eq!(quote("a\rb"), "  | a\\rb\n");
        assert_eq!(quote(""), "");
    }

    #[test]
    fn json_stays_the_same_value_without_raw_escapes() {
        let value = Value::from("a\u{1b}[2J \u{202e}evil\u{e0041} \u{9b}31m é 😀");
        let line = json(&value);
        assert!(line.contains("\\u202e") && line.contains("\\u009b") && line.contains("\\udb40\\udc41"));
        assert!(line.contains("é 😀"));
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }
}
