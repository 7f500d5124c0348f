//! The translations. A file has blocks of three lines: the English phrase, then `de` and `zh` with theirs.

use std::collections::HashMap;
use std::sync::LazyLock;

use countersign_core::Language;
use serde_json::Value;

use super::next_place;

pub struct Entry {
    pub english: &'static str,
    pub german: &'static str,
    pub chinese: &'static str,
}

/// The phrases of the scripts, which get them as a module.
const SCRIPTS: &str = include_str!("../../languages/scripts.txt");

/// One file for each area of the pages.
pub const FILES: [&str; 12] = [
    include_str!("../../languages/frame.txt"),
    include_str!("../../languages/lists.txt"),
    include_str!("../../languages/steps.txt"),
    include_str!("../../languages/item.txt"),
    include_str!("../../languages/answer.txt"),
    include_str!("../../languages/settings.txt"),
    include_str!("../../languages/settings_hub.txt"),
    include_str!("../../languages/sign_in.txt"),
    include_str!("../../languages/agents.txt"),
    include_str!("../../languages/runs.txt"),
    include_str!("../../languages/pulse.txt"),
    SCRIPTS,
];

impl Entry {
    fn in_language(&self, language: Language) -> &'static str {
        match language {
            Language::English => self.english,
            Language::German => self.german,
            Language::Chinese => self.chinese,
        }
    }
}

static ENTRIES: LazyLock<HashMap<&'static str, Entry>> = LazyLock::new(|| {
    let entries = FILES.into_iter().flat_map(parse);
    entries.map(|entry| (entry.english, entry)).collect()
});

pub fn translation(language: Language, phrase: &str) -> Option<&'static str> {
    ENTRIES.get(phrase).map(|entry| entry.in_language(language))
}

/// A phrase must begin with so many bytes of its own, so that it is not mistaken for another text.
const MIN_START_BYTES: usize = 5;

/// The translation of the phrase with one place that the message was made from, the name of the place, and its value.
pub fn translation_with_value(language: Language, message: &str) -> Option<(&'static str, &'static str, &str)> {
    let made_from = |entry: &Entry| {
        let (start, (name, end)) = next_place(entry.english)?;
        let value = message.strip_prefix(start)?.strip_suffix(end)?;
        let is_sure = start.len() >= MIN_START_BYTES && !end.contains('{');
        is_sure.then(|| (entry.in_language(language), name, value))
    };
    ENTRIES
        .values()
        .filter_map(made_from)
        .max_by_key(|(_, _, value)| std::cmp::Reverse(value.len()))
}

/// The phrases of the scripts with their translations.
pub fn script_phrases(language: Language) -> impl Iterator<Item = (String, Value)> {
    let entries = parse(SCRIPTS).into_iter();
    entries.map(move |entry| (entry.english.to_owned(), entry.in_language(language).into()))
}

/// Blank lines and lines that start with `#` are comments.
pub fn parse(text: &'static str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.lines() {
        match (
            line.strip_prefix("  de "),
            line.strip_prefix("  zh "),
            entries.last_mut(),
        ) {
            (Some(german), _, Some(entry)) => entry.german = german,
            (_, Some(chinese), Some(entry)) => entry.chinese = chinese,
            _ if line.is_empty() || line.starts_with('#') => {}
            _ => entries.push(Entry {
                english: line,
                german: line,
                chinese: line,
            }),
        }
    }
    entries
}
