//! Syntax colours for code: a small scanner that knows comments, texts, numbers, keywords and keys. It reads each
//! letter once, and what it does not understand keeps the colour of the page.

mod languages;
mod scanner;

use std::ops::Range;

use self::languages::Language;

/// The purpose of a piece of code. A surface gives it a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Comment,
    Text,
    Number,
    Keyword,
    /// A name that is given a value or names an element: a key, an attribute, a tag.
    Key,
}

/// A language that the scanner knows.
#[derive(Clone, Copy)]
pub struct KnownLanguage(&'static Language);

impl KnownLanguage {
    /// The language of a fenced block, by the first word after its fence.
    pub fn by_name(name: &str) -> Option<Self> {
        languages::by_name(&name.to_ascii_lowercase()).map(Self)
    }

    /// The language of a file, by its name.
    pub fn by_path(path: &str) -> Option<Self> {
        let file = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let ending = file.rsplit_once('.').map(|(_, ending)| ending);
        let by_file = file.starts_with("dockerfile").then_some("dockerfile");
        languages::by_name(by_file.or(ending)?).map(Self)
    }

    /// The coloured pieces of a text, in order and without overlaps, up to a number of them.
    pub fn pieces(self, text: &str, max_pieces: usize) -> Vec<(Range<usize>, Purpose)> {
        scanner::pieces(text, self.0, max_pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_tells_the_language() {
        for path in ["src/main.rs", "a/Dockerfile", "Dockerfile.dev", "x.YML", "main.tf"] {
            assert!(KnownLanguage::by_path(path).is_some(), "{path}");
        }
        for path in ["", "README", "a.b/c", "photo.png", "/dev/null"] {
            assert!(KnownLanguage::by_path(path).is_none(), "{path}");
        }
    }
}
