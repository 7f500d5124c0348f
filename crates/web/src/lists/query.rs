//! The search of a list page: the typed text, its meaning, the count of its results, and hints.

use countersign_core::search::{SearchQuery, SearchTerm};
use countersign_store::model::PersonView;
use countersign_store::ops::search::SearchTotal;
use jiff::tz::TimeZone;

use super::row::encoded;

use crate::language::{counted, error_text, say};

/// A typed search.
#[derive(Debug, Default)]
pub struct TypedSearch {
    pub text: String,
    /// Empty if the text cannot be read.
    pub query: SearchQuery,
    /// What is wrong with the text.
    pub error: Option<String>,
}

/// A filter that can be added with a click.
pub struct FilterHint {
    pub filter: &'static str,
    pub href: String,
}

const HINTS: [&str; 6] = [
    "is:open",
    "is:denied",
    "is:expired",
    "is:defaulted",
    "kind:task",
    "kind:notify",
];
const MAX_LINK_CHARS: usize = 400;

impl TypedSearch {
    /// Reads the text; its days are those of the zone.
    pub fn of(text: &str, zone: &TimeZone) -> Self {
        let text = text.trim();
        let (query, error) = match SearchQuery::in_zone(text, zone) {
            Ok(query) => (query, None),
            Err(error) => (SearchQuery::default(), Some(error)),
        };
        Self {
            text: text.chars().take(MAX_LINK_CHARS).collect(),
            query,
            error: error.map(|error| error_text(&error.to_string())),
        }
    }

    /// The filters that the search does not have yet.
    pub fn hints(&self, page: &str) -> Vec<FilterHint> {
        let offered = HINTS.into_iter().filter(|hint| match hint.split_once(':') {
            Some(("is", _)) => self.query.state.is_none(),
            _ => self.query.kind.is_none(),
        });
        let href = |hint| format!("{page}?q={}", encoded(format!("{} {hint}", self.text).trim()));
        offered
            .map(|filter| FilterHint {
                filter,
                href: href(filter),
            })
            .collect()
    }

    /// The words to mark in a row.
    pub fn marks(&self, item: &PersonView) -> Vec<SearchTerm> {
        if item.message.content.sensitive {
            Vec::new()
        } else {
            self.query.index_terms()
        }
    }
}

/// `42 results`, `1,000+ results`.
pub fn total_text(total: SearchTotal) -> String {
    let SearchTotal { count, is_more } = total;
    let number = match count {
        0..1_000 => count.to_string(),
        _ => format!("{},{:03}", count / 1_000, count % 1_000),
    };
    match (count, is_more) {
        (_, true) => say!("{count}+ results", count = number),
        (_, false) => counted(number, "1 result", "{count} results"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_say_when_there_are_more() {
        let text = |count, is_more| total_text(SearchTotal { count, is_more });
        assert_eq!(
            [text(0, false), text(1, false), text(42, false)],
            ["0 results", "1 result", "42 results"]
        );
        assert_eq!([text(1_000, true), text(7, true)], ["1,000+ results", "7+ results"]);
    }

    #[test]
    fn hints_keep_the_words_and_repeat_no_filter() {
        let hints = TypedSearch::of("mail is:open", &TimeZone::UTC).hints("/inbox/search");
        assert!(hints.iter().all(|hint| hint.filter.starts_with("kind:")));
        assert_eq!(hints[0].href, "/inbox/search?q=mail%20is%3Aopen%20kind%3Atask");
        let broken = TypedSearch::of("form:x", &TimeZone::UTC);
        assert!(broken.error.is_some() && broken.query.is_empty());
    }
}
