//! The catalogue is complete and has nothing that the pages do not use; the templates have no words outside of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use countersign_core::Language;

use super::*;
use crate::layout::look::in_language;

/// Components for people who work on the pages; only owners see it, and only in English.
const ENGLISH_TEMPLATES: [&str; 5] = [
    "styleguide.html",
    "styleguide_activity.html",
    "styleguide_answers.html",
    "styleguide_content.html",
    "styleguide_lists.html",
];
/// A template that is only attributes.
const ATTRIBUTES: &str = "panel_describe.html";
/// Names and signs that are the same in all languages.
const SAME_EVERYWHERE: [&str; 5] = [
    "Countersign",
    "acme/deployer",
    "hooks.example.com",
    "hmac-sha256",
    "ed25519",
];

fn files(folder: &str, ending: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.to_string_lossy().ends_with(ending) => {
                    found.push((path.clone(), fs::read_to_string(&path).unwrap()));
                }
                false => {}
            }
        }
    }
    found
}

fn places(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, (place, after))) = next_place(rest) {
        found.push(place);
        rest = after;
    }
    found
}

fn entries() -> Vec<catalogue::Entry> {
    catalogue::FILES.into_iter().flat_map(catalogue::parse).collect()
}

/// The string literals of a source that are arguments of a call or the input of a filter, by what surrounds them.
fn literals(source: &str, is_phrase: impl Fn(&str, &str) -> bool) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = source[at..].find('"').map(|start| at + start + 1) {
        let Some(end) = source[start..].find('"').map(|end| start + end) else {
            break;
        };
        if is_phrase(&source[..start - 1], &source[end + 1..]) {
            found.push(&source[start..end]);
            at = end + 1;
        } else {
            at = start;
        }
    }
    found
}

/// The phrases in templates: `"…"|t`, `"…"|pieces`, and both arguments of `|counted`.
fn template_phrases(source: &str) -> Vec<&str> {
    literals(source, |before, after| {
        let argument = before.rsplit_once("|counted(").map(|(_, argument)| argument);
        let counts = argument.is_some_and(|argument| argument.is_empty() || argument.ends_with("\", "));
        after.starts_with("|t") || after.starts_with("|pieces") || (counts && !argument.unwrap_or(")").contains(')'))
    })
}

/// The phrases in code and scripts: the arguments of `t(`, `say!(` and `counted(count, …, …)`. Comments must not have
/// such calls with other phrases.
fn code_phrases(source: &str) -> Vec<&str> {
    const CALLS: [&str; 3] = ["t", "say!", "counted"];
    literals(source, |before, _| {
        let before = before.trim_end();
        let is_call = |name: &str| {
            let ahead = before.strip_suffix('(').and_then(|ahead| ahead.strip_suffix(name));
            ahead.is_some_and(|ahead| !ahead.ends_with(|last: char| last.is_alphanumeric() || "_.'\"!".contains(last)))
        };
        let line = before.rsplit(['\n', ';']).next().unwrap_or_default();
        let is_counted = line.contains("counted(") && before.ends_with(',');
        is_counted || CALLS.iter().any(|name| is_call(name))
    })
}

fn used() -> BTreeMap<String, PathBuf> {
    let mut used = BTreeMap::new();
    let mut note = |sources: Vec<(PathBuf, String)>, phrases: fn(&str) -> Vec<&str>| {
        for (path, source) in sources {
            let shipped = source.split("#[cfg(test)]").next().unwrap_or_default();
            for phrase in phrases(shipped) {
                used.insert(phrase.to_owned(), path.clone());
            }
        }
    };
    note(files("templates", ".html"), template_phrases);
    note(files("assets", ".js"), code_phrases);
    let code = files("src", ".rs").into_iter();
    let shipped = code.filter(|(path, _)| !path.ends_with("tests.rs") && !path.ends_with("styleguide.rs"));
    note(shipped.collect(), code_phrases);
    used
}

#[test]
fn every_phrase_is_in_the_catalogue() {
    let known: BTreeSet<_> = entries().iter().map(|entry| entry.english).collect();
    let missing: Vec<_> = used()
        .into_iter()
        .filter(|(phrase, _)| !known.contains(phrase.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn phrases_of_scripts_are_in_the_module_that_they_get() {
    let known: BTreeSet<_> = catalogue::script_phrases(Language::German)
        .map(|(phrase, _)| phrase)
        .collect();
    for (path, source) in files("assets", ".js") {
        for phrase in code_phrases(&source) {
            assert!(known.contains(phrase), "{path:?}: {phrase}");
        }
    }
}

/// The source with its continued string literals on one line.
fn on_one_line(source: &str) -> String {
    let mut parts = source.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start())
}

#[test]
fn every_entry_is_used_once_translated_twice_and_keeps_its_places() {
    let mut text = String::new();
    for folder in [
        "templates",
        "assets",
        "src",
        "../core/src",
        "../hub/src",
        "../protocol/src/a2h",
    ] {
        for ending in [".html", ".js", ".rs"] {
            text.extend(
                files(folder, ending)
                    .into_iter()
                    .map(|(_, source)| on_one_line(&source)),
            );
        }
    }
    let mut seen = BTreeSet::new();
    for entry in entries() {
        let english = entry.english;
        assert!(seen.insert(english), "twice: {english}");
        assert!(text.contains(&format!("\"{english}\"")), "not used: {english}");
        for translation in [entry.german, entry.chinese] {
            assert!(!translation.trim().is_empty(), "{english}");
            let sorted = |text| {
                let mut places = places(text);
                places.sort_unstable();
                places
            };
            assert_eq!(sorted(translation), sorted(english), "{english}");
        }
    }
    for (file, english) in catalogue::FILES.into_iter().flat_map(|file| {
        catalogue::parse(file)
            .into_iter()
            .map(move |entry| (file, entry.english))
    }) {
        let block = file
            .split_once(&format!("{english}\n  de "))
            .and_then(|(_, rest)| rest.split_once("\n  zh "));
        assert!(
            block.is_some_and(|(german, _)| !german.contains('\n')),
            "needs de, then zh: {english}"
        );
    }
}

#[test]
fn german_says_sie_and_chinese_has_full_width_punctuation() {
    const FAMILIAR: [&str; 9] = [
        "du", "dich", "dir", "dein", "deine", "deinen", "deinem", "deiner", "deines",
    ];
    let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    for entry in entries() {
        let lower = entry.german.to_lowercase();
        let familiar = lower
            .split(|c: char| !c.is_alphabetic())
            .find(|word| FAMILIAR.contains(word));
        assert_eq!(familiar, None, "{}", entry.german);
        let characters: Vec<char> = entry.chinese.chars().collect();
        let narrow = characters.windows(2).find(|pair| {
            let is_narrow = |c: char| ",;:!?()\"".contains(c);
            (is_narrow(pair[0]) && is_chinese(pair[1])) || (is_chinese(pair[0]) && is_narrow(pair[1]))
        });
        assert_eq!(narrow, None, "{}", entry.chinese);
    }
}

#[test]
fn phrases_with_tags_between_their_pieces_keep_the_order_of_places() {
    let split: BTreeSet<String> = files("templates", ".html")
        .iter()
        .flat_map(|(_, source)| literals(source, |_, after| after.starts_with("|pieces")))
        .map(str::to_owned)
        .collect();
    for entry in entries().into_iter().filter(|entry| split.contains(entry.english)) {
        for translation in [entry.german, entry.chinese] {
            assert_eq!(places(translation), places(entry.english), "{}", entry.english);
        }
    }
}

/// The template without its code, and the values of the attributes that people read.
fn visible_text(template: &str) -> Vec<String> {
    let mut plain = template.to_owned();
    for (open, close) in [("{#", "#}"), ("{%", "%}"), ("{{", "}}")] {
        while let Some(start) = plain.find(open) {
            let end = plain[start..]
                .find(close)
                .map_or(plain.len(), |end| start + end + close.len());
            plain.replace_range(start..end, " ");
        }
    }
    let mut texts = Vec::new();
    for name in ["aria-label=\"", "title=\"", "placeholder=\"", "alt=\""] {
        let values = plain.split(name).skip(1).filter_map(|rest| rest.split_once('"'));
        texts.extend(values.map(|(value, _)| value.to_owned()));
    }
    while let Some(start) = plain.find('<') {
        let Some(end) = plain[start..].find('>').map(|end| start + end + 1) else {
            break;
        };
        let is_code = plain[start..].starts_with("<kbd") || plain[start..].starts_with("<code");
        let end = match is_code {
            true => plain[end..].find("</").map_or(end, |more| end + more),
            false => end,
        };
        plain.replace_range(start..end, "\n");
    }
    texts.extend(plain.lines().map(str::to_owned));
    texts
}

#[test]
fn templates_have_no_words_of_their_own() {
    let mut untranslated = Vec::new();
    for (path, template) in files("templates", ".html") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if ENGLISH_TEMPLATES.contains(&name.as_str()) || name == ATTRIBUTES {
            continue;
        }
        for text in visible_text(&template) {
            let text = SAME_EVERYWHERE.iter().fold(text, |text, same| text.replace(same, ""));
            let text = text.replace("&nbsp;", " ");
            if text.chars().any(char::is_alphabetic) {
                untranslated.push(format!("{name}: {}", text.trim()));
            }
        }
    }
    assert!(
        untranslated.is_empty(),
        "{} texts:\n{}",
        untranslated.len(),
        untranslated.join("\n")
    );
}

#[test]
fn a_phrase_is_in_the_language_of_the_request_and_english_without_a_translation() {
    assert_eq!(t("Approve"), "Approve");
    assert_eq!(in_language(Language::German, || t("Approve")), "Genehmigen");
    assert_eq!(in_language(Language::Chinese, || t("Approve")), "批准");
    assert_eq!(in_language(Language::German, || t("No such phrase")), "No such phrase");
}

#[test]
fn values_take_their_places_and_are_not_searched_for_more() {
    let values: [(&str, &dyn Display); 2] = [("agent", &"{count}"), ("count", &3)];
    assert_eq!(
        fill("{agent} asks {count} times, {unknown}", &values),
        "{count} asks 3 times, {unknown}"
    );
    let pieces = Pieces::of("Expires {time}, then {effect}.");
    assert_eq!(
        [pieces.at(0), pieces.at(1), pieces.at(2), pieces.at(3)],
        ["Expires ", ", then ", ".", ""]
    );
    assert_eq!(counted(1, "{count} item", "{count} items"), "1 item");
}

#[test]
fn errors_of_the_rules_are_translated_with_their_value() {
    let german = |message: &str| in_language(Language::German, || error_text(message));
    assert_eq!(german("fill this in"), "füllen Sie dieses Feld aus");
    assert_eq!(
        german("write at least 5 characters"),
        "schreiben Sie mindestens 5 Zeichen"
    );
    assert_eq!(german("no such error with 5"), "no such error with 5");
    assert_eq!(
        german("agent bot has no secret token"),
        "der Agent bot hat kein Geheimnis token"
    );
    assert_eq!(
        german("use 1 to 64 letters a-z or A-Z, digits or . _; character 4 is /"),
        "verwenden Sie 1 bis 64 Buchstaben a-z oder A-Z, Ziffern oder . _; Zeichen 4 ist /"
    );
    assert_eq!(
        german("the message is already declined, by ann at 2026-05-28T20:26:40.000Z"),
        "die Nachricht ist schon übersprungen, von ann um 2026-05-28T20:26:40.000Z"
    );
    assert_eq!(error_text("write at least 5 characters"), "write at least 5 characters");
}
