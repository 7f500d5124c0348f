//! The person at the terminal, or the pipe in their place: one question at a time, in the order in which they came.

use std::collections::VecDeque;
use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::ask::{Answer, Ask};
use super::entry::{Entered, Entry, too_long};
use super::keyboard::{Keyboard, Typed};

/// For so long after a question has appeared nothing that is typed answers it: it was meant for something else.
const GUARD: Duration = Duration::from_millis(500);
const CONTINUED: &str = "> ";

pub struct Console {
    keyboard: Keyboard,
    waiting: VecDeque<Waiting>,
    stage: Stage,
    entry: Entry,
}

struct Waiting {
    ask: Ask,
    is_shown: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    Idle,
    /// The first question is shown, and cannot be answered before this instant.
    Settling(Instant),
    Prompting,
    /// Nobody is there any more.
    Over,
}

#[derive(Debug, PartialEq)]
pub enum Deed {
    Say(String),
    Answered(Ask, Answer),
    /// Nobody answers here any more.
    Left,
}

impl Console {
    pub fn new() -> Self {
        Self {
            keyboard: Keyboard::new(),
            waiting: VecDeque::new(),
            stage: Stage::Idle,
            entry: Entry::default(),
        }
    }

    /// Says whether it is new.
    pub fn add(&mut self, ask: Ask) -> bool {
        let is_new = self.waiting.iter().all(|waiting| waiting.ask.id != ask.id);
        if is_new {
            self.waiting.push_back(Waiting { ask, is_shown: false });
        }
        is_new
    }

    /// The answer was not taken: it is asked again, before all others.
    pub fn put_back(&mut self, ask: Ask) {
        if self.stage != Stage::Over {
            self.stage = Stage::Idle;
        }
        self.waiting.push_front(Waiting { ask, is_shown: false });
    }

    /// Shows what is due, if anything is.
    pub fn turn(&mut self) -> String {
        let can_show = match self.stage {
            Stage::Idle => 1,
            Stage::Settling(_) | Stage::Prompting => 0,
            Stage::Over => self.waiting.len(),
        };
        let mut text = String::new();
        for waiting in self
            .waiting
            .iter_mut()
            .take(can_show)
            .filter(|waiting| !waiting.is_shown)
        {
            waiting.is_shown = true;
            text.push_str(&waiting.ask.words());
            text.push_str(&waiting.ask.choices());
        }
        if self.stage == Stage::Idle && !self.waiting.is_empty() {
            text.push_str(&self.begin());
        }
        text
    }

    /// A terminal comes to rest first.
    fn begin(&mut self) -> String {
        if self.keyboard.is_terminal {
            self.stage = Stage::Settling(Instant::now() + GUARD);
            return String::new();
        }
        self.stage = Stage::Prompting;
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

    /// What stands on the last line of the terminal, with the cursor behind it.
    pub fn standing(&self) -> Option<String> {
        let is_standing = self.stage == Stage::Prompting && self.keyboard.is_terminal;
        is_standing.then(|| {
            if self.entry.is_open() {
                CONTINUED.to_owned()
            } else {
                self.prompt()
            }
        })
    }

    /// Before a prompt is shown once more.
    pub fn forget_unfinished(&mut self) {
        self.keyboard.forget_unfinished();
    }

    /// Whether what a person typed last is on the screen, without an end of its line.
    pub fn is_at_terminal(&self) -> bool {
        self.keyboard.is_terminal
    }

    pub fn has_left(&self) -> bool {
        self.stage == Stage::Over
    }

    /// The ids of all that wait here.
    pub fn ids(&self) -> Vec<String> {
        self.waiting.iter().map(|waiting| waiting.ask.id.clone()).collect()
    }

    /// Nobody needs an answer to it any more. What was typed so far goes with it, and the words for it are given if somebody
    /// has seen it.
    pub fn withdraw(&mut self, id: &str) -> Option<String> {
        let place = self.waiting.iter().position(|waiting| waiting.ask.id == id)?;
        let Waiting { ask, is_shown } = self.waiting.remove(place)?;
        if place == 0 && matches!(self.stage, Stage::Settling(_) | Stage::Prompting) {
            self.stage = Stage::Idle;
            self.entry.clear();
            self.keyboard.forget();
        }
        let agent = crate::screen::escape(&ask.agent_name);
        is_shown.then(|| format!("{agent} needs no answer from here any more\n"))
    }

    /// What happens here next. Nothing is lost when the future is dropped before.
    pub async fn next(&mut self) -> Deed {
        match self.stage {
            Stage::Idle | Stage::Over => pending().await,
            Stage::Settling(until) => {
                sleep_until(until).await;
                self.keyboard.forget();
                self.stage = Stage::Prompting;
                Deed::Say(self.prompt())
            }
            Stage::Prompting => {
                let typed = self.keyboard.line().await;
                self.take(typed)
            }
        }
    }

    fn take(&mut self, typed: Typed) -> Deed {
        let Some(front) = self.waiting.front() else {
            return Deed::Say(String::new());
        };
        let entered = match typed {
            Typed::Line(line) => self.entry.line(&front.ask, &line),
            Typed::TooLong => Entered::Refused(too_long()),
            Typed::NotText => Entered::Refused("not sent: it is no text in UTF-8".to_owned()),
            Typed::End => {
                self.stage = Stage::Over;
                self.entry.clear();
                return Deed::Left;
            }
        };
        match (entered, self.keyboard.is_terminal) {
            (Entered::More, true) => Deed::Say(CONTINUED.to_owned()),
            (Entered::More, false) => Deed::Say(String::new()),
            (Entered::Refused(why), _) => {
                self.entry.clear();
                Deed::Say(format!("{why}\n{}", self.prompt()))
            }
            (Entered::Answer(answer), _) => {
                self.stage = Stage::Idle;
                let front = self.waiting.pop_front().map(|waiting| waiting.ask);
                front.map_or_else(|| Deed::Say(String::new()), |ask| Deed::Answered(ask, answer))
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

    fn line(text: &str) -> Typed {
        Typed::Line(text.to_owned())
    }

    fn answered(ask: Ask, text: &str) -> Deed {
        Deed::Answered(ask, Answer::Text(text.to_owned()))
    }

    #[test]
    fn questions_are_asked_one_after_the_other() {
        let mut console = console();
        let one = input("1", "ann", Some("first?"));
        let two = input("2", "bob", Some("second?"));
        assert!(console.add(one.clone()) && console.add(two.clone()) && !console.add(one.clone()));
        let shown = console.turn();
        assert!(shown.contains("first?") && !shown.contains("second?"), "{shown}");
        assert_eq!(console.turn(), "", "it stands there");
        assert_eq!(console.take(line("a")), answered(one, "a"));
        assert!(console.turn().contains("second?"));
        assert_eq!(console.take(line("b")), answered(two, "b"));
        assert_eq!(console.turn(), "");
    }

    #[test]
    fn what_is_withdrawn_takes_along_what_was_typed_for_it() {
        let mut console = console();
        let two = input("2", "bob", None);
        console.add(input("1", "ann", None));
        console.add(two.clone());
        console.turn();
        assert_eq!(console.take(line("\"\"\"")), Deed::Say(String::new()));
        assert_eq!(console.take(line("half")), Deed::Say(String::new()));
        assert_eq!(
            console.withdraw("1").as_deref(),
            Some("ann needs no answer from here any more\n")
        );
        assert!(console.turn().starts_with("bob needs your input"));
        assert_eq!(console.take(line("whole")), answered(two, "whole"));
        assert_eq!(console.withdraw("1"), None);
    }

    #[test]
    fn what_nobody_has_seen_goes_without_a_word() {
        let mut console = console();
        console.add(input("1", "ann", None));
        console.add(input("2", "bob", None));
        console.turn();
        assert_eq!(console.withdraw("2"), None);
        assert_eq!(console.ids(), ["1"]);
    }

    #[test]
    fn a_decision_that_is_none_is_asked_for_again() {
        let mut console = console();
        console.add(permission("1", "ls"));
        let shown = console.turn();
        assert!(
            shown.contains("1. allow         this time\n") && shown.contains("Your decision"),
            "{shown}"
        );
        assert!(matches!(console.take(line("maybe")), Deed::Say(said) if said.contains("say 1 to 4")));
        assert!(matches!(console.take(line("4")), Deed::Answered(..)));
    }

    #[test]
    fn an_answer_that_was_not_taken_is_asked_for_again_first() {
        let mut console = console();
        let one = input("1", "ann", None);
        console.add(one.clone());
        console.turn();
        console.take(line("a"));
        console.add(input("2", "bob", None));
        console.turn();
        console.put_back(one);
        assert!(console.turn().starts_with("ann needs your input"));
    }

    #[test]
    fn when_nobody_is_there_questions_are_shown_and_not_asked() {
        let mut console = console();
        console.add(input("1", "ann", None));
        console.turn();
        assert_eq!(console.take(Typed::End), Deed::Left);
        assert!(console.has_left());
        console.add(input("2", "bob", None));
        assert_eq!(console.turn(), "bob needs your input\n");
        assert_eq!(console.turn(), "");
    }
}
