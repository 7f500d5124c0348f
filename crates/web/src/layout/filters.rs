//! Template filters for text from agents, which escape hidden characters, and for the words of the pages, which translate
//! them. Askama escapes the HTML afterwards.

use std::fmt::Display;

use askama::Values;
use countersign_protocol::escape::{escape, escape_lines};

use crate::language::{self, Pieces};
use crate::text::{self, SafeHtml};

/// For text on one line.
#[askama::filter_fn]
pub fn visible(text: impl Display, _: &dyn Values) -> askama::Result<String> {
    Ok(escape(&text.to_string()))
}

/// For the title of a message: code between backticks.
#[askama::filter_fn]
pub fn with_code(text: impl Display, _: &dyn Values) -> askama::Result<SafeHtml> {
    Ok(text::title(&text.to_string()))
}

/// For text on several lines.
#[askama::filter_fn]
pub fn visible_lines(text: impl Display, _: &dyn Values) -> askama::Result<String> {
    Ok(escape_lines(&text.to_string()))
}

/// Translates an English phrase of the pages.
#[askama::filter_fn]
pub fn t(phrase: impl Display, _: &dyn Values) -> askama::Result<String> {
    Ok(language::t(&phrase.to_string()).to_owned())
}

/// Puts a value in the place `{name}` of a translated phrase.
#[askama::filter_fn]
pub fn with<V: Display>(text: impl Display, _: &dyn Values, name: &str, value: V) -> askama::Result<String> {
    Ok(language::fill(&text.to_string(), &[(name, &value)]))
}

/// Translates one of two phrases, by the number, which takes the place `{count}`.
#[askama::filter_fn]
pub fn counted(count: impl Display, _: &dyn Values, one: &str, several: &str) -> askama::Result<String> {
    Ok(language::counted(count, one, several))
}

/// Translates a phrase and splits it at its places, for tags in the middle of a sentence.
#[askama::filter_fn]
pub fn pieces(phrase: &str, _: &dyn Values) -> askama::Result<Pieces> {
    Ok(Pieces::of(language::t(phrase)))
}
