//! Escapes hidden characters: those that move the cursor, reorder a line or are invisible.
//!
//! Agents write the texts that people decide on, so every surface escapes them here, terminals and pages alike.

use std::fmt::Write;

/// Escapes one line of untrusted text, including line breaks and tabs.
pub fn escape(text: &str) -> String {
    rewrite(text, |out, letter| match letter {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        _ => spell(out, letter),
    })
}

/// Escapes untrusted text of several lines: line breaks stay, tabs become spaces.
pub fn escape_lines(text: &str) -> String {
    rewrite(&text.replace("\r\n", "\n"), |out, letter| match letter {
        '\n' => out.push('\n'),
        '\t' => out.push_str("    "),
        _ => spell(out, letter),
    })
}

/// Escapes JSON text without changing its meaning: the characters can only occur inside strings.
pub fn escape_json(json: &str) -> String {
    rewrite(json, |out, letter| {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

/// Removes hidden characters.
pub fn bare(text: &str) -> String {
    rewrite(text, |_, _| {})
}

fn spell(out: &mut String, letter: char) {
    match letter {
        '\r' => out.push_str("\\r"),
        _ => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
        }
    }
}

fn rewrite(text: &str, hidden: impl Fn(&mut String, char)) -> String {
    // Most texts are plain ASCII.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    for letter in text.chars() {
        let emoji_style = letter == EMOJI_STYLE && before.is_some_and(is_pictograph);
        if is_hidden(letter) && !emoji_style {
            hidden(&mut out, letter);
        } else {
            out.push(letter);
        }
        before = Some(letter);
    }
    out
}

/// The variation selector for coloured emoji. One after a pictograph is normal; anywhere else it is escaped.
const EMOJI_STYLE: char = '\u{fe0f}';

fn is_pictograph(letter: char) -> bool {
    matches!(letter, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Control characters, format characters (including all that reorder a line), and invisible or blank characters.
fn is_hidden(letter: char) -> bool {
    letter.is_control() || is_format(letter) || is_blank(letter)
}

/// Unicode's category Cf, the whole tag block, and the line and paragraph separators.
fn is_format(letter: char) -> bool {
    matches!(letter,
        '\u{ad}'
        | '\u{600}'..='\u{605}'
        | '\u{61c}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'..='\u{891}'
        | '\u{8e2}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{110bd}'
        | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Joiners, fillers and variation selectors: letters or marks in Unicode, but invisible.
fn is_blank(letter: char) -> bool {
    matches!(letter,
        '\u{34f}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_commands_are_escaped() {
        assert_eq!(escape("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(escape("\u{9b}31m"), "\\u{9b}31m");
        assert_eq!(escape("\u{7f}\u{8}\u{7}"), "\\u{7f}\\u{8}\\u{7}");
        assert_eq!(escape("one\r\ntwo\tthree"), "one\\r\\ntwo\\tthree");
    }

    #[test]
    fn reordering_and_invisible_characters_are_escaped() {
        assert_eq!(escape("pay \u{202e}001\u{202c}"), "pay \\u{202e}001\\u{202c}");
        assert_eq!(
            escape("\u{2066}\u{2069}\u{200f}\u{61c}"),
            "\\u{2066}\\u{2069}\\u{200f}\\u{61c}"
        );
        assert_eq!(
            escape("a\u{200b}\u{ad}\u{feff}\u{3164}b"),
            "a\\u{200b}\\u{ad}\\u{feff}\\u{3164}b"
        );
        assert_eq!(escape("x\u{e0041}\u{e0100}\u{fe01}"), "x\\u{e0041}\\u{e0100}\\u{fe01}");
        assert_eq!(escape("\u{2028}"), "\\u{2028}");
    }

    #[test]
    fn ordinary_writing_is_left_alone() {
        for text in ["Grüße, 日本語, עברית", "⚠️ deploy ✅ 😀", "C:\\new\\table", "e\u{301}"] {
            assert_eq!(escape(text), text);
        }
        assert_eq!(escape("a\u{fe0f}⚠\u{fe0f}\u{fe0f}"), "a\\u{fe0f}⚠\u{fe0f}\\u{fe0f}");
    }

    #[test]
    fn hidden_characters_can_be_removed() {
        assert_eq!(bare("photo\u{202e}gpj\u{200b}.exe\n"), "photogpj.exe");
        assert_eq!(bare("⚠️ é.txt"), "⚠️ é.txt");
    }

    #[test]
    fn several_lines_keep_their_line_breaks() {
        assert_eq!(escape_lines("a\r\nb\n\tc\rd\u{85}e"), "a\nb\n    c\\rd\\u{85}e");
    }

    #[test]
    fn json_text_stays_the_same_json() {
        let text = "[\"a\u{202e}b\u{9b}\u{e0041} é 😀\"]";
        let escaped = escape_json(text);
        assert_eq!(escaped, "[\"a\\u202eb\\u009b\\udb40\\udc41 é 😀\"]");
        let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).expect("JSON");
        assert_eq!(value(&escaped), value(text));
    }
}
