//! Prompts at the terminal: one line each, repeated until the answer is valid.

use std::io::{BufRead, Write};

use anyhow::{Result, bail};
use countersign_client::screen::escape;

pub struct TerminalPrompt<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
}

impl<'a> TerminalPrompt<'a> {
    pub fn new(input: &'a mut dyn BufRead, output: &'a mut dyn Write) -> Self {
        Self { input, output }
    }

    /// An empty line takes the default, if there is one.
    pub fn ask<T>(&mut self, question: &str, default: Option<&str>, check: impl Fn(&str) -> Result<T>) -> Result<T> {
        let hint = default.map(|text| format!(" [{text}]")).unwrap_or_default();
        loop {
            write!(self.output, "{question}{hint}: ")?;
            self.output.flush()?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                bail!("the input ended before everything was answered; nothing was written");
            }
            let typed = match (line.trim(), default) {
                ("", Some(default)) => default,
                (typed, _) => typed,
            };
            match check(typed) {
                Ok(value) => return Ok(value),
                Err(error) => writeln!(self.output, "  {}", escape(&format!("{error:#}")))?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_answer_is_asked_for_again() {
        let mut input = "x\n7\n".as_bytes();
        let mut output = Vec::new();
        let number: u8 = TerminalPrompt::new(&mut input, &mut output)
            .ask("Number", None, |text| Ok(text.parse()?))
            .unwrap();
        assert_eq!(number, 7);
        let shown = String::from_utf8(output).unwrap();
        assert_eq!(shown.matches("Number: ").count(), 2, "{shown}");
    }

    #[test]
    fn an_empty_line_is_the_default_and_the_end_is_an_error() {
        let mut input = "\n".as_bytes();
        let mut output = Vec::new();
        let mut prompt = TerminalPrompt::new(&mut input, &mut output);
        assert_eq!(
            prompt.ask("Where", Some("here"), |text| Ok(text.to_owned())).unwrap(),
            "here"
        );
        assert!(prompt.ask("Where", Some("here"), |text| Ok(text.to_owned())).is_err());
    }
}
