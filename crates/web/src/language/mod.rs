//! The words of the pages in the reader's language. Code and templates have the English phrase, and the phrase is the
//! key of its translations in `crates/web/languages`.

pub mod catalogue;
mod errors;

use std::fmt::Display;

pub use errors::{error_text, problem_text};

use crate::layout::look;

/// Translates an English phrase. A phrase without a translation stays as it is.
pub fn t(phrase: &str) -> &str {
    catalogue::translation(look::current().language, phrase).unwrap_or(phrase)
}

/// Puts values in the places of a text, such as `{name}`. A value is not searched for places.
pub fn fill(text: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, (place, after))) = next_place(rest) {
        filled.push_str(before);
        match values.iter().find(|(name, _)| *name == place) {
            Some((_, value)) => filled.push_str(&value.to_string()),
            None => filled.extend(["{", place, "}"]),
        }
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// The text before the next place, the place's name, and the rest.
fn next_place(text: &str) -> Option<(&str, (&str, &str))> {
    let (before, rest) = text.split_once('{')?;
    Some((before, rest.split_once('}')?))
}

/// Translates a phrase for one or for several, with the number in the place of `{count}`.
pub fn counted(count: impl Display, one: &str, several: &str) -> String {
    let count = count.to_string();
    fill(t(if count == "1" { one } else { several }), &[("count", &count)])
}

/// Translates a phrase and fills its places: `say!(phrase, name = value)`.
macro_rules! say {
    ($phrase:literal, $($name:ident = $value:expr),+ $(,)?) => {
        $crate::language::fill($crate::language::t($phrase), &[$((stringify!($name), &$value)),+])
    };
}
pub(crate) use say;

/// A translated phrase, split at its places: what comes before the first, between them, and after the last.
pub struct Pieces(Vec<String>);

impl Pieces {
    pub fn of(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, (_, after))) = next_place(rest) {
            pieces.push(before.to_owned());
            rest = after;
        }
        pieces.push(rest.to_owned());
        Self(pieces)
    }

    pub fn at(&self, index: usize) -> &str {
        self.0.get(index).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests;
