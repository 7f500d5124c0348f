//! The languages of the pages.

/// A language that the pages are written in. English is the original; API, CLI and logs have only that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    English,
    German,
    Chinese,
}

impl Language {
    pub const ALL: [Self; 3] = [Self::English, Self::German, Self::Chinese];

    /// The tag of the language: `de`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::Chinese => "zh",
        }
    }

    /// The name of the language in itself.
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
            Self::Chinese => "中文",
        }
    }

    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code() == code)
    }

    /// The language that a browser prefers, by its `Accept-Language` header. Regions and scripts are ignored.
    pub fn preferred(accept_language: &str) -> Option<Self> {
        let mut best: Option<(f32, Self)> = None;
        for range in accept_language.split(',') {
            let (tag, parameters) = range.split_once(';').unwrap_or((range, ""));
            let primary = tag.trim().split('-').next().unwrap_or_default().to_ascii_lowercase();
            let Some(language) = Self::from_code(&primary) else {
                continue;
            };
            let weight = match parameters.trim().strip_prefix("q=") {
                Some(text) => text.trim().parse().unwrap_or(0.0),
                None => 1.0,
            };
            if weight > best.map_or(0.0, |(weight, _)| weight) {
                best = Some((weight, language));
            }
        }
        best.map(|(_, language)| language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_gets_the_language_it_prefers_most() {
        let preferred = Language::preferred;
        assert_eq!(preferred("de-AT,de;q=0.9,en;q=0.8"), Some(Language::German));
        assert_eq!(preferred("fr-FR,zh-Hans-CN;q=0.7,en;q=0.5"), Some(Language::Chinese));
        assert_eq!(
            preferred("EN-gb, de;q=1.0"),
            Some(Language::English),
            "the first of equals"
        );
        assert_eq!(preferred("de;q=0.1, en;q=0.2"), Some(Language::English));
    }

    #[test]
    fn unknown_and_refused_languages_are_no_preference() {
        for header in ["", "fr,es;q=0.5", "*", "de;q=0", "de;q=x", ";;;,,,"] {
            assert_eq!(Language::preferred(header), None, "{header}");
        }
    }
}
