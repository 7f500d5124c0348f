//! Turns lines into an answer: one line is an answer, unless a fence opens a block.

use countersign_protocol::runs::Decision;

use super::ask::{ConsoleAsk, RunAnswer};

/// A line of its own, before and after an answer of several lines.
const FENCE: &str = "\"\"\"";
/// Above the hub's limit.
pub const MAX_ANSWER_BYTES: usize = 1024 * 1024;

#[derive(Debug, Default)]
pub struct AnswerEntry {
    /// The lines since the fence.
    several: Option<String>,
}

#[derive(Debug, PartialEq)]
pub enum EntryResult {
    Answer(RunAnswer),
    /// The block is not closed yet.
    More,
    /// With a hint.
    Refused(String),
}

impl AnswerEntry {
    pub fn line(&mut self, ask: &ConsoleAsk, line: &str) -> EntryResult {
        if ask.wants_a_decision() {
            return decision(line);
        }
        match &mut self.several {
            None if line == FENCE => {
                self.several = Some(String::new());
                EntryResult::More
            }
            None => EntryResult::Answer(RunAnswer::Text(line.to_owned())),
            Some(_) if line == FENCE => {
                let text = self.several.take().unwrap_or_default();
                EntryResult::Answer(RunAnswer::Text(
                    text.strip_suffix('\n').map(str::to_owned).unwrap_or(text),
                ))
            }
            Some(text) if text.len() + line.len() > MAX_ANSWER_BYTES => {
                self.several = None;
                EntryResult::Refused(too_long())
            }
            Some(text) => {
                text.push_str(line);
                text.push('\n');
                EntryResult::More
            }
        }
    }

    /// Whether a fence is open.
    pub fn is_open(&self) -> bool {
        self.several.is_some()
    }

    pub fn clear(&mut self) {
        self.several = None;
    }
}

pub fn too_long() -> String {
    format!("not sent: an answer has at most {MAX_ANSWER_BYTES} bytes")
}

fn decision(line: &str) -> EntryResult {
    let typed = line.trim();
    let number = typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let numbered = number.and_then(|index| Decision::ALL.get(index).copied());
    match numbered.or_else(|| Decision::parse(typed)) {
        Some(decision) => EntryResult::Answer(RunAnswer::Decision(decision)),
        None => {
            let text = Decision::ALL.map(Decision::as_str).join(", ");
            EntryResult::Refused(format!("enter 1 to {}, or one of {text}", Decision::ALL.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::run::ask::tests::{input, permission};

    fn text(text: &str) -> EntryResult {
        EntryResult::Answer(RunAnswer::Text(text.to_owned()))
    }

    #[test]
    fn a_line_is_an_answer_and_so_is_an_empty_one() {
        let mut entry = AnswerEntry::default();
        let ask = input("1", "editor", None);
        assert_eq!(entry.line(&ask, "  go \\"), text("  go \\"));
        assert_eq!(entry.line(&ask, ""), text(""));
        assert_eq!(
            entry.line(&ask, "say \"\"\""),
            text("say \"\"\""),
            "a fence is a line of its own"
        );
    }

    #[test]
    fn fences_hold_several_lines() {
        let mut entry = AnswerEntry::default();
        let ask = input("1", "editor", None);
        for line in ["\"\"\"", "one", "", "two"] {
            assert_eq!(entry.line(&ask, line), EntryResult::More);
        }
        assert_eq!(entry.line(&ask, "\"\"\""), text("one\n\ntwo"));
        assert_eq!(entry.line(&ask, "three"), text("three"));
        entry.line(&ask, "\"\"\"");
        assert_eq!(entry.line(&ask, "\"\"\""), text(""));
    }

    #[test]
    fn an_answer_has_a_maximum_length() {
        let mut entry = AnswerEntry::default();
        let ask = input("1", "editor", None);
        entry.line(&ask, "\"\"\"");
        assert_eq!(entry.line(&ask, &"x".repeat(MAX_ANSWER_BYTES)), EntryResult::More);
        assert!(matches!(entry.line(&ask, "x"), EntryResult::Refused(_)));
        assert_eq!(entry.line(&ask, "short"), text("short"));
    }

    #[test]
    fn a_decision_is_one_of_four_by_number_or_word() {
        let mut entry = AnswerEntry::default();
        let ask = permission("1", "ls");
        let mut decided = |line: &str| entry.line(&ask, line);
        assert_eq!(decided("1"), EntryResult::Answer(RunAnswer::Decision(Decision::Allow)));
        assert_eq!(
            decided(" deny-session "),
            EntryResult::Answer(RunAnswer::Decision(Decision::DenySession))
        );
        for line in ["", "0", "5", "yes", "\"\"\"", "Allow"] {
            assert!(matches!(decided(line), EntryResult::Refused(_)), "{line}");
        }
    }
}
