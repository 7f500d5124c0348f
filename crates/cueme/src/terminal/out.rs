//! Output: the answer goes to standard output, everything else to standard error.

use std::io::{self, Write};
use std::process::ExitCode;

use countersign_protocol::escape;

use crate::failure::Failure;

/// Succeeds only when the whole text was written and flushed.
pub fn print(text: &str) -> Result<ExitCode, Failure> {
    write(text).map_err(|error| Failure::failed(&format!("standard output cannot be written: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

pub fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints one line about progress or a warning.
pub fn remark(line: &str) {
    let _ = writeln!(io::stderr(), "cueme: {}", escape(line).replace('\n', " "));
}

pub fn print_error(message: &str) {
    let _ = writeln!(io::stderr(), "{}", escape(message));
}

/// Escapes control and invisible characters, so that foreign text cannot control the terminal or disguise itself. Line
/// breaks stay.
pub fn escape(text: &str) -> String {
    escape::escape_lines(text)
}

/// Quotes a text so that a shell reads it as one word.
pub fn shell_quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':');
    if !word.is_empty() && !word.starts_with('-') && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_control_the_terminal() {
        assert_eq!(
            escape("a\u{1b}[2J\r\u{202e}b\u{2028}\u{200b}\nc é"),
            "a\\u{1b}[2J\\r\\u{202e}b\\u{2028}\\u{200b}\nc é"
        );
    }

    #[test]
    fn a_word_is_quoted_only_where_a_shell_would_split_it() {
        assert_eq!(shell_quoted("gavonel"), "gavonel");
        assert_eq!(shell_quoted("it's me"), r"'it'\''s me'");
        assert_eq!(shell_quoted(""), "''");
    }
}
