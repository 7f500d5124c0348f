//! The search syntax: what a person types and what it means.

#![cfg(test)]

use countersign_core::message::{Outcome, Status};
use countersign_core::search::{FILTERS, KINDS, SearchError, SearchQuery, SearchTerm, StateFilter, marked};
use jiff::tz::TimeZone;
use proptest::prelude::*;

fn parsed(text: &str) -> SearchQuery {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> SearchError {
    text.parse::<SearchQuery>().expect_err(text)
}

#[test]
fn filters_words_and_phrases_stand_in_any_order() {
    let query =
        parsed("ship from:deploybot \"mail server\" is:open kind:ask tag:eu tag:\"two words\" project:web by:ann");
    assert_eq!(query.terms, [SearchTerm::start("ship")]);
    assert_eq!(query.phrases, [["mail", "server"]]);
    assert_eq!(query.agent.as_deref(), Some("deploybot"));
    assert_eq!(query.state, Some(StateFilter::Status(Status::Open)));
    assert_eq!(query.kind.as_deref(), Some("ask"));
    assert_eq!(query.tags, ["eu", "two words"]);
    assert_eq!(
        (query.project.as_deref(), query.by.as_deref()),
        (Some("web"), Some("ann"))
    );
    assert!(!query.is_empty() && parsed(" \t ").is_empty());
}

#[test]
fn names_of_filters_and_states_have_no_case() {
    assert_eq!(parsed("IS:Denied").state, Some(StateFilter::Denied));
    assert_eq!(parsed("Kind:TASK").kind.as_deref(), Some("task"));
    assert_eq!(parsed("from:Ann").agent.as_deref(), Some("Ann"), "names keep theirs");
}

#[test]
fn words_of_the_protocol_and_of_people_mean_the_same() {
    for (one, other) in [
        ("done", "completed"),
        ("skipped", "declined"),
        ("withdrawn", "cancelled"),
    ] {
        assert_eq!(parsed(&format!("is:{one}")), parsed(&format!("is:{other}")));
    }
    let answered = StateFilter::Status(Status::Resolved(Outcome::Answered));
    assert_eq!(parsed("is:answered").state, Some(answered));
}

#[test]
fn colons_of_everyday_text_are_no_filters() {
    for text in [
        "10:30",
        "https://ci.example/7",
        "c:\\temp",
        "Note: it works",
        "a:b",
        "\"from:x\"",
    ] {
        let query = parsed(text);
        assert!(query.agent.is_none() && !query.is_empty(), "{text}: {query:?}");
    }
}

#[test]
fn days_begin_at_midnight_in_the_zone() {
    let after = |text: &str, zone: &str| {
        let zone = TimeZone::posix(zone).expect("a zone");
        let query = SearchQuery::in_zone(text, &zone).expect("a search");
        query.after.map(|at| at.to_string()).unwrap_or_default()
    };
    assert_eq!(after("after:2026-06-30", "IST-5:30"), "2026-06-29T18:30:00.000Z");
    // Clocks that go forward at midnight have no midnight on that day.
    let berlin_at_midnight = "XXX-1YYY,M3.5.0/0,M10.5.0";
    assert_eq!(
        after("after:2026-03-29", berlin_at_midnight),
        "2026-03-28T23:00:00.000Z"
    );
    assert_eq!(
        after("after:2026-06-30T01:00:00Z", "IST-5:30"),
        "2026-06-30T01:00:00.000Z",
        "a time has a zone of its own"
    );
}

#[test]
fn without_a_zone_days_begin_at_midnight_in_utc() {
    let query = parsed("after:2026-06-30 before:2026-07-01T02:00:00+02:00");
    assert_eq!(
        query.after.map(|at| at.to_string()).as_deref(),
        Some("2026-06-30T00:00:00.000Z")
    );
    assert_eq!(
        query.before.map(|at| at.to_string()).as_deref(),
        Some("2026-07-01T00:00:00.000Z")
    );
    for text in [
        "after:yesterday",
        "before:2026-02-31",
        "after:2026-6-1",
        "before:é026-06-3",
    ] {
        assert!(matches!(refused(text), SearchError::NoDate(_)), "{text}");
    }
}

#[test]
fn errors_name_what_is_known() {
    let text = refused("form:deploybot").to_string();
    assert!(FILTERS.iter().all(|name| text.contains(&format!("{name}:"))), "{text}");
    let text = refused("kind:question").to_string();
    assert!(KINDS.iter().all(|name| text.contains(name)), "{text}");
    assert!(refused("is:lost").to_string().contains("approved, denied"));
    assert_eq!(refused("from:"), SearchError::NoValue("from"));
    assert_eq!(refused("by:a by:b"), SearchError::Twice("by"));
    assert_eq!(refused(&"é".repeat(201)), SearchError::TooLong);
    assert!(parsed(&"é".repeat(200)).terms[0].is_prefix);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_within_bounds(text in "(\\PC|[\": \n]|from:|is:|tag:|after:2026-01-01){0,60}") {
        if let Ok(query) = text.parse::<SearchQuery>() {
            prop_assert!(query.index_terms().len() <= 8 && query.terms.len() <= 8);
            prop_assert!(query.phrases.iter().all(|phrase| !phrase.is_empty()));
        }
    }

    #[test]
    fn marking_loses_no_text(text in "\\PC{0,80}", word in "[a-zé]{1,3}") {
        let pieces = marked(&text, &[SearchTerm::start(word)]);
        prop_assert_eq!(pieces.iter().map(|(_, piece)| *piece).collect::<String>(), text);
    }
}
