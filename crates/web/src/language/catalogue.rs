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
pub const FILES: [&str; 13] = [
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
    include_str!("../../languages/errors.txt"),
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

/// A phrase with fewer bytes besides its values would match unrelated texts.
const MIN_OWN_BYTES: usize = 12;

/// The values of a text by the names of their places.
pub type Values<'m> = Vec<(&'static str, &'m str)>;

/// The translation of the phrase that the message was made from, and the values in its places.
pub fn translation_with_values(language: Language, message: &str) -> Option<(&'static str, Values<'_>)> {
    let made_from = |entry: &'static Entry| {
        let values = values_in(entry.english, message)?;
        let own_bytes = message.len() - values.iter().map(|(_, value)| value.len()).sum::<usize>();
        (own_bytes >= MIN_OWN_BYTES).then_some((own_bytes, entry, values))
    };
    let found = ENTRIES.values().filter_map(made_from);
    let (_, entry, values) = found.max_by_key(|(own_bytes, entry, _)| (*own_bytes, entry.english))?;
    Some((entry.in_language(language), values))
}

/// The values of a message that was made from the phrase.
fn values_in<'m>(phrase: &'static str, message: &'m str) -> Option<Values<'m>> {
    let (start, mut place) = next_place(phrase)?;
    let mut rest = message.strip_prefix(start)?;
    let mut values = Values::new();
    loop {
        let (name, after) = place;
        let Some((between, next)) = next_place(after) else {
            values.push((name, rest.strip_suffix(after)?));
            return Some(values);
        };
        let (value, behind) = rest.split_once(between)?;
        values.push((name, value));
        (rest, place) = (behind, next);
    }
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
