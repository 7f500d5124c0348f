//! A text input: its caret and its editing keys.

use countersign_client::screen::{escape, escape_lines};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The hub's limit for answers and comments; a longer paste is cut.
const MAX_CHARS: usize = 20_000;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextInput {
    text: String,
    /// A byte index, always on a character boundary.
    caret: usize,
    multiline: bool,
    hidden: bool,
}

impl TextInput {
    pub fn line() -> Self {
        Self::default()
    }

    pub fn lines() -> Self {
        Self {
            multiline: true,
            ..Self::default()
        }
    }

    /// Shows dots instead of the text.
    pub fn hidden(self, hidden: bool) -> Self {
        Self { hidden, ..self }
    }

    pub fn holding(mut self, text: &str) -> Self {
        self.paste(text);
        self
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub fn reset_cursor(&mut self) {
        self.caret = self.text.len();
    }

    /// Whether the key edited the text. Enter and Esc are left to the caller.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Char('j') if control && self.multiline => self.insert('\n'),
            KeyCode::Enter if alt && self.multiline => self.insert('\n'),
            KeyCode::Char('a') if control => self.caret = self.line_start(),
            KeyCode::Char('e') if control => self.caret = self.line_end(),
            KeyCode::Char('u') if control => self.cut(self.line_start()),
            KeyCode::Char('w') if control => self.cut(self.word_start()),
            KeyCode::Char(letter) if !control && !alt => self.insert(letter),
            KeyCode::Backspace => self.cut(self.before()),
            KeyCode::Delete => self.delete(),
            KeyCode::Left => self.caret = self.before(),
            KeyCode::Right => self.caret = self.after(),
            KeyCode::Home => self.caret = self.line_start(),
            KeyCode::End => self.caret = self.line_end(),
            KeyCode::Up if self.multiline => self.up(),
            KeyCode::Down if self.multiline => self.down(),
            _ => return false,
        }
        true
    }

    pub fn paste(&mut self, text: &str) {
        let room = MAX_CHARS.saturating_sub(self.text.chars().count());
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let insertable: String = text
            .chars()
            .filter_map(|letter| self.insertable(letter))
            .take(room)
            .collect();
        self.text.insert_str(self.caret, &insertable);
        self.caret += insertable.len();
    }

    fn insert(&mut self, letter: char) {
        self.paste(letter.encode_utf8(&mut [0; 4]));
    }

    /// The character as it may be inserted, if at all.
    fn insertable(&self, letter: char) -> Option<char> {
        match letter {
            '\n' if self.multiline => Some('\n'),
            '\n' | '\t' => Some(' '),
            letter => (!letter.is_control()).then_some(letter),
        }
    }

    fn cut(&mut self, from: usize) {
        self.text.drain(from..self.caret);
        self.caret = from;
    }

    fn delete(&mut self) {
        self.text.drain(self.caret..self.after());
    }

    fn before(&self) -> usize {
        self.text[..self.caret]
            .char_indices()
            .next_back()
            .map_or(0, |(index, _)| index)
    }

    fn after(&self) -> usize {
        self.text[self.caret..]
            .chars()
            .next()
            .map_or(self.caret, |letter| self.caret + letter.len_utf8())
    }

    fn line_start(&self) -> usize {
        self.text[..self.caret].rfind('\n').map_or(0, |index| index + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.caret..]
            .find('\n')
            .map_or(self.text.len(), |index| self.caret + index)
    }

    fn word_start(&self) -> usize {
        let before = self.text[..self.caret].trim_end();
        before
            .rfind(char::is_whitespace)
            .map_or(0, |index| self.text.ceil_char_boundary(index + 1))
    }

    fn up(&mut self) {
        let start = self.line_start();
        let column = self.column();
        if start > 0 {
            self.caret = start - 1;
            self.caret = self.line_start();
            self.forward(column);
        }
    }

    fn down(&mut self) {
        let end = self.line_end();
        let column = self.column();
        if end < self.text.len() {
            self.caret = end + 1;
            self.forward(column);
        }
    }

    fn column(&self) -> usize {
        self.text[self.line_start()..self.caret].chars().count()
    }

    /// Moves along the line, not beyond it.
    fn forward(&mut self, columns: usize) {
        let line = &self.text[self.caret..self.line_end()];
        self.caret += line.chars().take(columns).map(char::len_utf8).sum::<usize>();
    }

    /// The visible text before and after the caret, escaped: a paste may contain an agent's text.
    pub fn shown(&self) -> (String, String) {
        let (before, after) = self.text.split_at(self.caret);
        match (self.hidden, self.multiline) {
            (true, _) => (dots(before), dots(after)),
            (false, true) => (escape_lines(before), escape_lines(after)),
            (false, false) => (escape(before), escape(after)),
        }
    }
}

fn dots(text: &str) -> String {
    "•".repeat(text.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(typing: &mut TextInput, code: KeyCode, modifiers: KeyModifiers) -> bool {
        typing.key(KeyEvent::new(code, modifiers))
    }

    fn keys(typing: &mut TextInput, codes: &[KeyCode]) {
        for code in codes {
            assert!(press(typing, *code, KeyModifiers::NONE), "{code:?}");
        }
    }

    #[test]
    fn letters_go_where_the_caret_stands() {
        let mut typing = TextInput::line().holding("grüße");
        keys(
            &mut typing,
            &[
                KeyCode::Left,
                KeyCode::Left,
                KeyCode::Backspace,
                KeyCode::Char('u'),
                KeyCode::Delete,
            ],
        );
        assert_eq!(typing.text(), "grue");
        keys(
            &mut typing,
            &[KeyCode::Home, KeyCode::Char('>'), KeyCode::End, KeyCode::Char('<')],
        );
        assert_eq!(typing.shown(), (">grue<".to_owned(), String::new()));
    }

    #[test]
    fn words_and_lines_are_cut_at_once() {
        let mut typing = TextInput::lines().holding("one two\nthree four");
        assert!(press(&mut typing, KeyCode::Char('w'), KeyModifiers::CONTROL));
        assert_eq!(typing.text(), "one two\nthree ");
        assert!(press(&mut typing, KeyCode::Char('u'), KeyModifiers::CONTROL));
        assert_eq!(typing.text(), "one two\n");
    }

    #[test]
    fn the_caret_moves_between_lines_and_keeps_its_column() {
        let mut typing = TextInput::lines().holding("long line\nab\nlonger line");
        keys(&mut typing, &[KeyCode::Up]);
        assert_eq!(typing.shown().0, "long line\nab");
        keys(&mut typing, &[KeyCode::Up, KeyCode::Down, KeyCode::Down, KeyCode::Down]);
        assert_eq!(typing.shown().0, "long line\nab\nlo");
    }

    #[test]
    fn a_paste_into_one_line_has_no_breaks_and_no_controls() {
        assert_eq!(TextInput::line().holding("a\r\nb\u{1b}[2J\tc").text(), "a b[2J c");
        assert_eq!(TextInput::lines().holding("a\r\nb\rc").text(), "a\nb\nc");
        let long = "é".repeat(MAX_CHARS + 5);
        assert_eq!(TextInput::line().holding(&long).text().chars().count(), MAX_CHARS);
        assert_eq!(
            TextInput::line().holding("pay \u{202e}001").shown().0,
            "pay \\u{202e}001"
        );
    }

    #[test]
    fn hidden_text_shows_as_dots() {
        let typing = TextInput::line().hidden(true).holding("s3cret");
        assert_eq!(typing.shown().0, "••••••");
    }

    #[test]
    fn enter_and_esc_are_left_to_the_caller() {
        let mut typing = TextInput::lines();
        assert!(!press(&mut typing, KeyCode::Enter, KeyModifiers::NONE));
        assert!(!press(&mut typing, KeyCode::Esc, KeyModifiers::NONE));
        assert!(press(&mut typing, KeyCode::Enter, KeyModifiers::ALT));
        assert!(!press(&mut TextInput::line(), KeyCode::Up, KeyModifiers::NONE));
    }
}
