//! The search syntax: words, quoted phrases and filters such as `from:deploybot` and `is:open`.

mod parse;
mod words;

use countersign_protocol::a2h::{APPROVE, DENY};
use countersign_protocol::time::Timestamp;

pub use parse::{FILTERS, KINDS, MAX_QUERY_CHARS, STATES, SearchError};
pub use words::{marked, words};

use crate::message::{Content, Message, Outcome, Payload, State, Status};
use crate::vocabulary::Ending;

const MAX_TERMS: usize = 8;

/// A word to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchTerm {
    pub word: String,
    /// Whether longer words that begin with it match too.
    pub is_prefix: bool,
}

impl SearchTerm {
    /// The start of a word is enough, except for a single letter, which would match nearly everything.
    pub fn start(word: impl Into<String>) -> Self {
        let word = word.into();
        Self {
            is_prefix: word.len() > 1,
            word,
        }
    }

    pub fn whole(word: impl Into<String>) -> Self {
        Self {
            word: word.into(),
            is_prefix: false,
        }
    }

    /// `word` is one of `words`.
    pub fn matches(&self, word: &str) -> bool {
        if self.is_prefix {
            word.starts_with(&self.word)
        } else {
            word == self.word
        }
    }
}

/// What `is:` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateFilter {
    Status(Status),
    /// Any final status of an ask or a task.
    Decided,
    Approved,
    Denied,
    /// The time ran out, and the declared default became the answer.
    Defaulted,
}

impl StateFilter {
    /// The statuses that a message of this state can have.
    pub fn statuses(self) -> Vec<Status> {
        match self {
            Self::Status(status) => vec![status],
            Self::Decided => Outcome::ALL.map(Status::Resolved).to_vec(),
            Self::Approved | Self::Denied => vec![Status::Resolved(Outcome::Answered)],
            Self::Defaulted => vec![Status::Resolved(Outcome::Expired)],
        }
    }

    fn matches(self, message: &Message) -> bool {
        let has_ending = |value| Ending::of_message(message) == Some(Ending::of(Outcome::Answered, Some(value)));
        match self {
            Self::Status(_) | Self::Decided => self.statuses().contains(&message.state.status()),
            Self::Approved => has_ending(APPROVE),
            Self::Denied => has_ending(DENY),
            Self::Defaulted => matches!(&message.state, State::Resolved(resolution) if resolution.defaulted),
        }
    }

    /// Whether the status alone does not tell.
    fn needs_message(self) -> bool {
        match self {
            Self::Status(_) | Self::Decided => false,
            Self::Approved | Self::Denied | Self::Defaulted => true,
        }
    }
}

/// A parsed search. An empty field matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// Plain words; all of them must occur.
    pub terms: Vec<SearchTerm>,
    /// Words that must follow each other.
    pub phrases: Vec<Vec<String>>,
    pub agent: Option<String>,
    pub project: Option<String>,
    /// All of them.
    pub tags: Vec<String>,
    /// `ask`, or a value of `Content::kind_word`.
    pub kind: Option<String>,
    pub state: Option<StateFilter>,
    /// The person who decided, or a whole actor such as `agent:coder`.
    pub by: Option<String>,
    /// The first moment that matches.
    pub after: Option<Timestamp>,
    /// The first moment that does not match any more.
    pub before: Option<Timestamp>,
}

impl SearchQuery {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The words to look up in an index: the plain ones, then those of the phrases.
    pub fn index_terms(&self) -> Vec<SearchTerm> {
        let whole = self.phrases.iter().flatten().map(SearchTerm::whole);
        self.terms.iter().cloned().chain(whole).take(MAX_TERMS).collect()
    }

    /// Whether the agent, the status, the times and the index of words do not settle it.
    pub fn needs_message(&self) -> bool {
        let state = self.state.is_some_and(StateFilter::needs_message);
        let content =
            !self.phrases.is_empty() || self.project.is_some() || !self.tags.is_empty() || self.kind.is_some();
        state || content || self.by.is_some()
    }

    /// Whether the message matches, apart from its words and times, which a list looks up.
    pub fn matches(&self, message: &Message) -> bool {
        let content = &message.content;
        let agent = &content.agent;
        self.agent.as_ref().is_none_or(|id| agent.id == *id)
            && self
                .project
                .as_ref()
                .is_none_or(|name| agent.project.as_ref() == Some(name))
            && self.tags.iter().all(|tag| content.tags.contains(tag))
            && self.kind.as_ref().is_none_or(|kind| is_of_kind(content, kind))
            && self.state.is_none_or(|state| state.matches(message))
            && self.by.as_ref().is_none_or(|by| is_decided_by(message, by))
            && self.phrases.iter().all(|phrase| has_phrase(content, phrase))
    }
}

fn is_of_kind(content: &Content, kind: &str) -> bool {
    content.kind_word() == kind || content.payload.kind().as_str() == kind
}

fn is_decided_by(message: &Message, by: &str) -> bool {
    let State::Resolved(resolution) = &message.state else {
        return false;
    };
    let actor = resolution.actor.as_str();
    actor == by || actor.strip_prefix("human:") == Some(by)
}

/// Sensitive text is never searched.
fn has_phrase(content: &Content, phrase: &[String]) -> bool {
    let instructions = match &content.payload {
        Payload::Task(task) => Some(&task.instructions),
        Payload::Ask(_) | Payload::Notify => None,
    };
    let texts = [Some(&content.title), content.body.as_ref(), instructions];
    let has = |text: &String| {
        let words: Vec<String> = words(text).collect();
        words.windows(phrase.len()).any(|window| window == phrase)
    };
    !content.sensitive && texts.into_iter().flatten().any(has)
}
