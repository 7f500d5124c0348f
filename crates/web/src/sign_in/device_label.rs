//! A short label for a session, made from its browser and operating system.

use countersign_protocol::escape;

use crate::language::{say, t};

/// Most specific first, because browsers claim to be each other.
const BROWSERS: [(&str, &str); 9] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
];

const SYSTEMS: [(&str, &str); 7] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

const MAX_NAME_CHARS: usize = 40;

pub fn device_label(user_agent: &str) -> String {
    let named = |known: &[(&str, &'static str)]| {
        known
            .iter()
            .find(|(sign, _)| user_agent.contains(sign))
            .map(|(_, name)| *name)
    };
    let system = named(&SYSTEMS);
    let browser = named(&BROWSERS).map_or_else(|| unknown(user_agent), str::to_owned);
    match system {
        Some(system) => format!("{browser} on {system}"),
        None => browser,
    }
}

/// The label in the language of the reader. The store has it in English.
pub fn translated(label: &str) -> String {
    match label.split_once(" on ") {
        Some((browser, system)) => say!("{browser} on {system}", browser = t(browser), system = system),
        None => t(label).to_owned(),
    }
}

/// The first word of an unknown user agent, cut and escaped, because the header may hold any text.
fn unknown(user_agent: &str) -> String {
    let word: String = user_agent
        .split(['/', ' '])
        .next()
        .unwrap_or_default()
        .chars()
        .take(MAX_NAME_CHARS)
        .collect();
    if word.is_empty() {
        "Unknown browser".to_owned()
    } else {
        escape::escape(&word)
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::Language;

    use super::*;
    use crate::layout::look::in_language;

    #[test]
    fn label_is_in_the_language_of_the_reader() {
        for (label, german) in [
            ("Firefox on Linux", "Firefox auf Linux"),
            ("Unknown browser on macOS", "Unbekannter Browser auf macOS"),
            ("curl", "curl"),
        ] {
            assert_eq!(translated(label), label);
            assert_eq!(in_language(Language::German, || translated(label)), german);
        }
    }

    #[test]
    fn known_browsers_are_recognized() {
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        let chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36";
        let edge = format!("{chrome} Edg/140.0");
        let safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1";
        assert_eq!(device_label(firefox), "Firefox on Linux");
        assert_eq!(device_label(chrome), "Chrome on Windows");
        assert_eq!(device_label(&edge), "Edge on Windows");
        assert_eq!(device_label(safari), "Safari on iPhone");
    }

    #[test]
    fn unknown_user_agent_is_cut_and_escaped() {
        assert_eq!(device_label(""), "Unknown browser");
        assert_eq!(device_label("reqwest/0.13"), "reqwest");
        assert_eq!(device_label("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(device_label(&"x".repeat(5000)).len(), MAX_NAME_CHARS);
    }
}
