//! One pass over a text, which finds its coloured pieces.

use std::ops::Range;

use super::Purpose;
use super::languages::{Keys, Language, Quote};

/// No keyword is longer.
const MAX_KEYWORD_BYTES: usize = 16;

pub fn pieces(text: &str, language: &Language, max_pieces: usize) -> Vec<(Range<usize>, Purpose)> {
    let mut scanner = Scanner {
        text,
        language,
        at: 0,
        is_line_start: true,
        is_in_tag: false,
        found: Vec::new(),
    };
    while scanner.at < text.len() && scanner.found.len() < max_pieces {
        scanner.step();
    }
    scanner.found
}

struct Scanner<'t> {
    text: &'t str,
    language: &'t Language,
    at: usize,
    /// Only blanks and list marks so far in this line.
    is_line_start: bool,
    /// Inside the angle brackets of a markup language.
    is_in_tag: bool,
    found: Vec<(Range<usize>, Purpose)>,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(letter) = rest.chars().next() else { return };
        if letter.is_whitespace() {
            self.at += letter.len_utf8();
            self.is_line_start |= letter == '\n';
            return;
        }
        if self.comment() || (self.language.is_markup && self.tag(letter)) || self.quoted(letter) {
            // A key ends the start of its line.
        } else if letter.is_ascii_digit() && !self.language.is_markup {
            let length = run_length(rest, |letter| letter.is_ascii_alphanumeric() || "._".contains(letter));
            self.take(length, Some(Purpose::Number));
        } else if is_name(letter) {
            self.word();
        } else {
            self.at += letter.len_utf8();
            self.is_line_start &= letter == '-';
            return;
        }
        self.is_line_start = false;
    }

    fn take(&mut self, length: usize, purpose: Option<Purpose>) {
        let end = self.at + length;
        if let Some(purpose) = purpose {
            self.found.push((self.at..end, purpose));
        }
        self.at = end;
    }

    fn comment(&mut self) -> bool {
        let rest = self.rest();
        if let Some((open, close)) = self.language.block_comment
            && let Some(inner) = rest.strip_prefix(open)
        {
            let length = inner
                .find(close)
                .map_or(rest.len(), |end| open.len() + end + close.len());
            self.take(length, Some(Purpose::Comment));
            return true;
        }
        let is_mark = |mark: &str| rest.starts_with(mark) && (mark != "#" || self.is_after_blank());
        if self.language.line_comments.iter().any(|mark| is_mark(mark)) {
            self.take(line_length(rest), Some(Purpose::Comment));
            return true;
        }
        false
    }

    /// In shells and YAML, a `#` inside of a word is part of it.
    fn is_after_blank(&self) -> bool {
        self.text[..self.at].chars().next_back().is_none_or(char::is_whitespace)
    }

    fn tag(&mut self, letter: char) -> bool {
        match letter {
            '<' => {
                let length = run_length(self.rest(), |letter| {
                    is_name(letter) || letter.is_ascii_digit() || "</!?-:".contains(letter)
                });
                self.is_in_tag = true;
                self.take(length, Some(Purpose::Keyword));
                true
            }
            '>' => {
                self.is_in_tag = false;
                false
            }
            _ => false,
        }
    }

    fn quoted(&mut self, letter: char) -> bool {
        if self.language.is_markup && !self.is_in_tag {
            return false;
        }
        let rest = self.rest();
        if letter == '\'' && self.language.has_lifetimes {
            let length = char_literal_length(rest);
            self.take(length, (length > 1).then_some(Purpose::Text));
            return true;
        }
        let Some(quote) = self.language.quotes.iter().find(|quote| rest.starts_with(quote.open)) else {
            return false;
        };
        let length = quoted_length(rest, quote);
        let purpose = if self.is_key(length, true) {
            Purpose::Key
        } else {
            Purpose::Text
        };
        self.take(length, Some(purpose));
        true
    }

    fn word(&mut self) {
        let with_dashes = self.is_line_start && self.language.keys != Keys::None;
        let length = run_length(self.rest(), |letter| {
            is_name(letter) || letter.is_ascii_digit() || (with_dashes && "-.".contains(letter))
        });
        let word = &self.rest()[..length];
        let purpose = if self.is_key(length, false) {
            Some(Purpose::Key)
        } else if self.language.is_markup {
            (self.is_in_tag && self.rest()[length..].starts_with('=')).then_some(Purpose::Key)
        } else {
            self.is_keyword(word).then_some(Purpose::Keyword)
        };
        self.take(length, purpose);
    }

    fn is_keyword(&self, word: &str) -> bool {
        let is_same = |keyword: &str| {
            if self.language.ignores_case {
                keyword.eq_ignore_ascii_case(word)
            } else {
                keyword == word
            }
        };
        word.len() <= MAX_KEYWORD_BYTES && self.language.keywords.split(' ').any(is_same)
    }

    fn is_key(&self, length: usize, is_quoted: bool) -> bool {
        let separator = match self.language.keys {
            Keys::Quoted(separator) if is_quoted => separator,
            Keys::FirstOfLine(separator) if self.is_line_start => separator,
            Keys::None | Keys::Quoted(_) | Keys::FirstOfLine(_) => return false,
        };
        let after = self.rest()[length..].trim_start_matches([' ', '\t']);
        after.starts_with(separator)
    }
}

fn is_name(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

fn run_length(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !belongs(letter)).unwrap_or(text.len())
}

fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

fn quoted_length(text: &str, quote: &Quote) -> usize {
    let mut at = quote.open.len();
    while let Some(letter) = text[at..].chars().next() {
        if text[at..].starts_with(quote.close) {
            return at + quote.close.len();
        }
        if letter == '\n' && !quote.spans_lines {
            return at;
        }
        at += letter.len_utf8();
        if letter == '\\'
            && quote.escapes
            && let Some(escaped) = text[at..].chars().next().filter(|letter| *letter != '\n')
        {
            at += escaped.len_utf8();
        }
    }
    text.len()
}

/// The length of a letter such as `'a'` or `'\n'`, or of the quote alone before the name of a lifetime.
fn char_literal_length(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1);
    let is_escaped = letters.next().is_some_and(|(_, letter)| letter == '\\');
    let mut inside = letters.take(if is_escaped { 10 } else { 1 });
    inside.find(|(_, letter)| *letter == '\'').map_or(1, |(end, _)| end + 1)
}
