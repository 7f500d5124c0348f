//! Parses a search as a person types it.

use std::str::FromStr;

use countersign_protocol::time::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{MAX_TERMS, SearchQuery, SearchTerm, StateFilter, words};
use crate::calendar::start_of_day;
use crate::message::{Outcome, Status};

pub const MAX_QUERY_CHARS: usize = 200;

/// The filters, in the order in which help and errors name them.
pub const FILTERS: [&str; 8] = ["from", "is", "kind", "project", "tag", "by", "after", "before"];

/// The words after `is:`. Those of the protocol mean the same as the words that people read.
pub const STATES: [(&str, StateFilter); 16] = [
    ("open", StateFilter::Status(Status::Open)),
    ("decided", StateFilter::Decided),
    ("answered", StateFilter::Status(Status::Resolved(Outcome::Answered))),
    ("approved", StateFilter::Approved),
    ("denied", StateFilter::Denied),
    ("done", StateFilter::Status(Status::Resolved(Outcome::Completed))),
    ("not-done", StateFilter::Status(Status::Resolved(Outcome::Dismissed))),
    ("skipped", StateFilter::Status(Status::Resolved(Outcome::Declined))),
    ("expired", StateFilter::Status(Status::Resolved(Outcome::Expired))),
    ("defaulted", StateFilter::Defaulted),
    ("withdrawn", StateFilter::Status(Status::Resolved(Outcome::Cancelled))),
    ("dismissed", StateFilter::Status(Status::Resolved(Outcome::Dismissed))),
    ("completed", StateFilter::Status(Status::Resolved(Outcome::Completed))),
    ("declined", StateFilter::Status(Status::Resolved(Outcome::Declined))),
    ("cancelled", StateFilter::Status(Status::Resolved(Outcome::Cancelled))),
    ("delivered", StateFilter::Status(Status::Delivered)),
];

/// The words after `kind:`.
pub const KINDS: [&str; 8] = ["ask", "notify", "task", "confirm", "select", "many", "text", "form"];

/// Why a search cannot be read. Its text is for the person who typed it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    #[error("A search has at most {MAX_QUERY_CHARS} characters; shorten it.")]
    TooLong,
    #[error("“{0}:” is not a filter. Use one of {known}, or put the words in quotes.", known = FILTERS.map(|name| format!("{name}:")).join(", "))]
    UnknownFilter(String),
    #[error("“{0}:” needs a value, such as {0}:{example}.", example = example(.0))]
    NoValue(&'static str),
    #[error("“{0}:” stands there twice; give it once.")]
    Twice(&'static str),
    #[error("“is:{0}” is not known. Use is: with one of {known}.", known = STATES.map(|(word, _)| word).join(", "))]
    UnknownState(String),
    #[error("“kind:{0}” is not known. Use kind: with one of {known}.", known = KINDS.join(", "))]
    UnknownKind(String),
    #[error("“{0}:” needs a date such as {0}:2026-06-30, or a time such as {0}:2026-06-30T15:00:00Z.")]
    NoDate(&'static str),
}

fn example(filter: &str) -> &'static str {
    match filter {
        "is" => "open",
        "kind" => "ask",
        "by" => "ann",
        "after" | "before" => "2026-06-30",
        _ => "name",
    }
}

impl FromStr for SearchQuery {
    type Err = SearchError;

    /// Parses a search of which the days are those of UTC.
    fn from_str(text: &str) -> Result<Self, SearchError> {
        Self::in_zone(text, &TimeZone::UTC)
    }
}

impl SearchQuery {
    /// Parses a search of which the days are those of the zone.
    pub fn in_zone(text: &str, zone: &TimeZone) -> Result<Self, SearchError> {
        if text.chars().nth(MAX_QUERY_CHARS).is_some() {
            return Err(SearchError::TooLong);
        }
        let mut query = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (token, after) = next_token(rest);
            rest = after.trim_start();
            match token {
                Token::Phrase(text) => query.add_phrase(text),
                Token::Word(text) => query.add_words(text),
                Token::Filter(name, value) => query.add_filter(name, value, zone)?,
            }
        }
        Ok(query)
    }
}

enum Token<'t> {
    Word(&'t str),
    Phrase(&'t str),
    Filter(&'t str, &'t str),
}

/// The first token and the text behind it. A quote without a partner reaches to the end.
fn next_token(text: &str) -> (Token<'_>, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        let (phrase, rest) = quoted.split_once('"').unwrap_or((quoted, ""));
        return (Token::Phrase(phrase), rest);
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    match word.split_once(':').filter(|(name, value)| is_filter(name, value)) {
        Some((name, "")) if rest.starts_with('"') => {
            let quoted = &rest[1..];
            let (value, rest) = quoted.split_once('"').unwrap_or((quoted, ""));
            (Token::Filter(name, value), rest)
        }
        // Unknown names without a value are the end of a clause, as in `Note: it works`.
        Some((name, "")) if known(name).is_none() => (Token::Word(word), rest),
        Some((name, value)) => (Token::Filter(name, value), rest),
        None => (Token::Word(word), rest),
    }
}

/// A drive letter, a time of day and a URL are no filters.
fn is_filter(name: &str, value: &str) -> bool {
    name.len() > 1 && name.chars().all(|c| c.is_ascii_alphabetic()) && !value.starts_with('/')
}

fn known(name: &str) -> Option<&'static str> {
    FILTERS.into_iter().find(|known| known.eq_ignore_ascii_case(name))
}

impl SearchQuery {
    fn add_words(&mut self, text: &str) {
        let room = MAX_TERMS.saturating_sub(self.terms.len());
        self.terms.extend(words(text).take(room).map(SearchTerm::start));
    }

    fn add_phrase(&mut self, text: &str) {
        let phrase: Vec<String> = words(text).collect();
        if !phrase.is_empty() {
            self.phrases.push(phrase);
        }
    }

    fn add_filter(&mut self, name: &str, value: &str, zone: &TimeZone) -> Result<(), SearchError> {
        let name = known(name).ok_or_else(|| SearchError::UnknownFilter(name.to_owned()))?;
        let value = value.trim();
        if value.is_empty() {
            return Err(SearchError::NoValue(name));
        }
        let text = || value.to_owned();
        match name {
            "from" => once(name, &mut self.agent, text()),
            "is" => once(name, &mut self.state, state(value)?),
            "kind" => once(name, &mut self.kind, kind(value)?),
            "project" => once(name, &mut self.project, text()),
            "by" => once(name, &mut self.by, text()),
            "after" => once(name, &mut self.after, time(name, value, zone)?),
            "before" => once(name, &mut self.before, time(name, value, zone)?),
            _ => {
                self.tags.push(text());
                Ok(())
            }
        }
    }
}

fn once<T>(name: &'static str, field: &mut Option<T>, value: T) -> Result<(), SearchError> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(SearchError::Twice(name)),
    }
}

fn state(value: &str) -> Result<StateFilter, SearchError> {
    let found = STATES.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(value));
    found
        .map(|(_, state)| state)
        .ok_or_else(|| SearchError::UnknownState(value.to_owned()))
}

fn kind(value: &str) -> Result<String, SearchError> {
    let found = KINDS.into_iter().find(|word| word.eq_ignore_ascii_case(value));
    found
        .map(str::to_owned)
        .ok_or_else(|| SearchError::UnknownKind(value.to_owned()))
}

/// A date is the first moment of its day in the zone.
fn time(name: &'static str, value: &str, zone: &TimeZone) -> Result<Timestamp, SearchError> {
    let found = if value.len() == "2026-06-30".len() {
        let date: Option<Date> = value.parse().ok();
        date.and_then(|date| start_of_day(date, zone))
    } else {
        Timestamp::parse_rfc3339(value)
    };
    found.ok_or(SearchError::NoDate(name))
}
