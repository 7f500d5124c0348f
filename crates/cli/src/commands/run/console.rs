//! The person at the terminal, or a pipe: one question at a time, in order of arrival.

use std::collections::VecDeque;
use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::answer_entry::{AnswerEntry, EntryResult, too_long};
use super::ask::{ConsoleAsk, RunAnswer};
use super::keyboard::{InputLine, Keyboard};

/// The time after a question appears in which input is discarded: it was meant for something else.
const GUARD: Duration = Duration::from_millis(500);
const CONTINUED: &str = "> ";

pub struct Console {
    keyboard: Keyboard,
    waiting: VecDeque<QueuedAsk>,
    stage: ConsoleStage,
    entry: AnswerEntry,
}

struct QueuedAsk {
    ask: ConsoleAsk,
    is_shown: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ConsoleStage {
    Idle,
    /// The first question is shown and cannot be answered before this instant.
    Settling(Instant),
    Prompting,
    /// The input has ended.
    Over,
}

#[derive(Debug, PartialEq)]
pub enum ConsoleEvent {
    Say(String),
    Answered(ConsoleAsk, RunAnswer),
    /// The input has ended; questions are no longer answered here.
    Left,
}

impl Console {
    pub fn new() -> Self {
        Self {
            keyboard: Keyboard::new(),
            waiting: VecDeque::new(),
            stage: ConsoleStage::Idle,
            entry: AnswerEntry::default(),
        }
    }

    /// Returns whether the question is new.
    pub fn add(&mut self, ask: ConsoleAsk) -> bool {
        let is_new = self.waiting.iter().all(|waiting| waiting.ask.id != ask.id);
        if is_new {
            self.waiting.push_back(QueuedAsk { ask, is_shown: false });
        }
        is_new
    }

    /// Asks a question again, before all others, after its answer was refused.
    pub fn put_back(&mut self, ask: ConsoleAsk) {
        if self.stage != ConsoleStage::Over {
            self.stage = ConsoleStage::Idle;
        }
        self.waiting.push_front(QueuedAsk { ask, is_shown: false });
    }

    /// Returns the questions to show now.
    pub fn show_next(&mut self) -> String {
        let can_show = match self.stage {
            ConsoleStage::Idle => 1,
            ConsoleStage::Settling(_) | ConsoleStage::Prompting => 0,
            ConsoleStage::Over => self.waiting.len(),
        };
        let mut text = String::new();
        for waiting in self
            .waiting
            .iter_mut()
            .take(can_show)
            .filter(|waiting| !waiting.is_shown)
        {
            waiting.is_shown = true;
            text.push_str(&waiting.ask.text());
            text.push_str(&waiting.ask.choices());
        }
        if self.stage == ConsoleStage::Idle && !self.waiting.is_empty() {
            text.push_str(&self.begin());
        }
        text
    }

    /// A terminal settles first.
    fn begin(&mut self) -> String {
        if self.keyboard.is_terminal {
            self.stage = ConsoleStage::Settling(Instant::now() + GUARD);
            return String::new();
        }
        self.stage = ConsoleStage::Prompting;
        self.prompt()
    }

    fn prompt(&self) -> String {
        let prompt = self
            .waiting
            .front()
            .map(|waiting| waiting.ask.prompt())
            .unwrap_or_default();
        if self.keyboard.is_terminal {
            prompt.to_owned()
        } else {
            prompt.trim_end().to_owned() + "\n"
        }
    }

    /// The prompt on the terminal's last line, before the cursor.
    pub fn current_prompt(&self) -> Option<String> {
        let is_prompting = self.stage == ConsoleStage::Prompting && self.keyboard.is_terminal;
        is_prompting.then(|| {
            if self.entry.is_open() {
                CONTINUED.to_owned()
            } else {
                self.prompt()
            }
        })
    }

    /// Discards an unfinished line before a prompt is shown again.
    pub fn discard_unfinished(&mut self) {
        self.keyboard.discard_unfinished();
    }

    /// Whether input is echoed on a terminal.
    pub fn is_at_terminal(&self) -> bool {
        self.keyboard.is_terminal
    }

    pub fn input_ended(&self) -> bool {
        self.stage == ConsoleStage::Over
    }

    /// The ids of all waiting questions.
    pub fn ids(&self) -> Vec<String> {
        self.waiting.iter().map(|waiting| waiting.ask.id.clone()).collect()
    }

    /// Removes a question that no longer needs an answer, with its unfinished input. Returns a notice if the question
    /// was shown.
    pub fn withdraw(&mut self, id: &str) -> Option<String> {
        let index = self.waiting.iter().position(|waiting| waiting.ask.id == id)?;
        let QueuedAsk { ask, is_shown } = self.waiting.remove(index)?;
        if index == 0 && matches!(self.stage, ConsoleStage::Settling(_) | ConsoleStage::Prompting) {
            self.stage = ConsoleStage::Idle;
            self.entry.clear();
            self.keyboard.discard();
        }
        let agent = countersign_client::screen::escape(&ask.agent_name);
        is_shown.then(|| format!("{agent} no longer needs an answer from here\n"))
    }

    /// The next event here. Cancel-safe: dropping the future loses nothing.
    pub async fn next(&mut self) -> ConsoleEvent {
        match self.stage {
            ConsoleStage::Idle | ConsoleStage::Over => pending().await,
            ConsoleStage::Settling(until) => {
                sleep_until(until).await;
                self.keyboard.discard();
                self.stage = ConsoleStage::Prompting;
                ConsoleEvent::Say(self.prompt())
            }
            ConsoleStage::Prompting => {
                let typed = self.keyboard.line().await;
                self.take(typed)
            }
        }
    }

    fn take(&mut self, typed: InputLine) -> ConsoleEvent {
        let Some(front) = self.waiting.front() else {
            return ConsoleEvent::Say(String::new());
        };
        let entered = match typed {
            InputLine::Line(line) => self.entry.line(&front.ask, &line),
            InputLine::TooLong => EntryResult::Refused(too_long()),
            InputLine::NotText => EntryResult::Refused("not sent: it is not valid UTF-8 text".to_owned()),
            InputLine::End => {
                self.stage = ConsoleStage::Over;
                self.entry.clear();
                return ConsoleEvent::Left;
            }
        };
        match (entered, self.keyboard.is_terminal) {
            (EntryResult::More, true) => ConsoleEvent::Say(CONTINUED.to_owned()),
            (EntryResult::More, false) => ConsoleEvent::Say(String::new()),
            (EntryResult::Refused(why), _) => {
                self.entry.clear();
                ConsoleEvent::Say(format!("{why}\n{}", self.prompt()))
            }
            (EntryResult::Answer(answer), _) => {
                self.stage = ConsoleStage::Idle;
                let front = self.waiting.pop_front().map(|waiting| waiting.ask);
                front.map_or_else(
                    || ConsoleEvent::Say(String::new()),
                    |ask| ConsoleEvent::Answered(ask, answer),
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ask::tests::{input, permission};
    use super::*;

    fn console() -> Console {
        let mut console = Console::new();
        console.keyboard.is_terminal = false;
        console
    }

    fn line(text: &str) -> InputLine {
        InputLine::Line(text.to_owned())
    }

    fn answered(ask: ConsoleAsk, text: &str) -> ConsoleEvent {
        ConsoleEvent::Answered(ask, RunAnswer::Text(text.to_owned()))
    }

    #[test]
    fn questions_are_asked_one_after_the_other() {
        let mut console = console();
        let one = input("1", "ann", Some("first?"));
        let two = input("2", "bob", Some("second?"));
        assert!(console.add(one.clone()) && console.add(two.clone()) && !console.add(one.clone()));
        let shown = console.show_next();
        assert!(shown.contains("first?") && !shown.contains("second?"), "{shown}");
        assert_eq!(console.show_next(), "", "it stands there");
        assert_eq!(console.take(line("a")), answered(one, "a"));
        assert!(console.show_next().contains("second?"));
        assert_eq!(console.take(line("b")), answered(two, "b"));
        assert_eq!(console.show_next(), "");
    }

    #[test]
    fn a_withdrawn_question_drops_its_unfinished_input() {
        let mut console = console();
        let two = input("2", "bob", None);
        console.add(input("1", "ann", None));
        console.add(two.clone());
        console.show_next();
        assert_eq!(console.take(line("\"\"\"")), ConsoleEvent::Say(String::new()));
        assert_eq!(console.take(line("half")), ConsoleEvent::Say(String::new()));
        assert_eq!(
            console.withdraw("1").as_deref(),
            Some("ann no longer needs an answer from here\n")
        );
        assert!(console.show_next().starts_with("bob needs your input"));
        assert_eq!(console.take(line("whole")), answered(two, "whole"));
        assert_eq!(console.withdraw("1"), None);
    }

    #[test]
    fn a_question_never_shown_is_withdrawn_silently() {
        let mut console = console();
        console.add(input("1", "ann", None));
        console.add(input("2", "bob", None));
        console.show_next();
        assert_eq!(console.withdraw("2"), None);
        assert_eq!(console.ids(), ["1"]);
    }

    #[test]
    fn an_invalid_decision_is_asked_for_again() {
        let mut console = console();
        console.add(permission("1", "ls"));
        let shown = console.show_next();
        assert!(
            shown.contains("1. allow         this time\n") && shown.contains("Your decision"),
            "{shown}"
        );
        assert!(matches!(console.take(line("maybe")), ConsoleEvent::Say(text) if text.contains("enter 1 to 4")));
        assert!(matches!(console.take(line("4")), ConsoleEvent::Answered(..)));
    }

    #[test]
    fn a_question_with_a_refused_answer_is_asked_again_first() {
        let mut console = console();
        let one = input("1", "ann", None);
        console.add(one.clone());
        console.show_next();
        console.take(line("a"));
        console.add(input("2", "bob", None));
        console.show_next();
        console.put_back(one);
        assert!(console.show_next().starts_with("ann needs your input"));
    }

    #[test]
    fn without_input_questions_are_shown_and_not_asked() {
        let mut console = console();
        console.add(input("1", "ann", None));
        console.show_next();
        assert_eq!(console.take(InputLine::End), ConsoleEvent::Left);
        assert!(console.input_ended());
        console.add(input("2", "bob", None));
        assert_eq!(console.show_next(), "bob needs your input\n");
        assert_eq!(console.show_next(), "");
    }
}
