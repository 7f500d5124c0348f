//! The envelope on standard input: a block for the prompt, then perhaps one for the payload, each tag alone on its line.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const PROMPT: Tag = Tag { open: "<cueme_prompt>", close: "</cueme_prompt>" };
const PAYLOAD: Tag = Tag { open: "<cueme_payload>", close: "</cueme_payload>" };

struct Tag {
    open: &'static str,
    close: &'static str,
}

/// Whether the agent asks, or waits until it is told to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Cue,
    Pause,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cue => "cue",
            Self::Pause => "pause",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// As it stands between its tags, not trimmed.
    pub prompt: String,
    pub payload: Option<Map<String, Value>>,
}

/// Refused before anything is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    #[error(
        "error: stdin cannot be empty: send the prompt in tag blocks, each tag alone on its line\n\
         <cueme_prompt>\nwhat you want to say\n</cueme_prompt>"
    )]
    Empty,
    #[error(
        "error: legacy JSON envelope is not supported: send <cueme_prompt> and, if you need it, <cueme_payload> blocks"
    )]
    Json,
    #[error("error: missing <cueme_prompt> block: put each of its two tags alone on a line")]
    NoPrompt,
    #[error("error: only whitespace is allowed outside blocks")]
    Outside,
    #[error("error: <cueme_prompt> content must be non-empty")]
    BlankPrompt,
    #[error("error: invalid <cueme_payload> block: put each of its two tags alone on a line, after the prompt")]
    BrokenPayload,
    #[error("error: <cueme_payload> must be JSON object or null")]
    PayloadNotAnObject,
    #[error("error: <cueme_payload> is not supported for pause")]
    PayloadOfPause,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error(
        "error: stdin is not valid UTF-8 (byte {position}); send UTF-8, or UTF-16 that begins with a byte order mark"
    )]
    NotUtf8 { position: usize },
    #[error("error: stdin begins with a UTF-16 byte order mark but is not valid UTF-16")]
    NotUtf16,
    #[error("error: stdin contains the character U+0000 (byte {position}); remove it")]
    Nul { position: usize },
}

/// UTF-8, with or without a byte order mark, or UTF-16 with one. Nothing is guessed: a wrong guess would reach a person as
/// a question nobody asked.
pub fn decode(bytes: &[u8]) -> Result<String, DecodeError> {
    let text = match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes)?,
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes)?,
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest, 3)?,
        _ => utf8(bytes, 0)?,
    };
    match text.find('\0') {
        Some(position) => Err(DecodeError::Nul { position }),
        None => Ok(text),
    }
}

fn utf8(bytes: &[u8], offset: usize) -> Result<String, DecodeError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => Err(DecodeError::NotUtf8 { position: offset + error.valid_up_to() }),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, DecodeError> {
    let pairs = bytes.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Err(DecodeError::NotUtf16);
    }
    let units: Vec<u16> = pairs.map(|pair| unit([pair[0], pair[1]])).collect();
    String::from_utf16(&units).map_err(|_| DecodeError::NotUtf16)
}

impl Envelope {
    pub fn parse(kind: Kind, input: &str) -> Result<Self, EnvelopeError> {
        let trimmed = input.trim();
        if trimmed.is_empty() {
            return Err(EnvelopeError::Empty);
        }
        if trimmed.starts_with('{') {
            return Err(EnvelopeError::Json);
        }
        let text = input.replace("\r\n", "\n").replace('\r', "\n");
        let lines: Vec<&str> = text.split('\n').collect();
        if kind == Kind::Pause && (place(&lines, PAYLOAD.open).is_some() || place(&lines, PAYLOAD.close).is_some()) {
            return Err(EnvelopeError::PayloadOfPause);
        }
        let (before, prompt, rest) = block(&lines, &PROMPT).ok_or(EnvelopeError::NoPrompt)?;
        outside(before)?;
        let prompt = prompt.join("\n");
        if prompt.trim().is_empty() {
            return Err(EnvelopeError::BlankPrompt);
        }
        Ok(Self { prompt, payload: payload(rest)? })
    }
}

fn payload(lines: &[&str]) -> Result<Option<Map<String, Value>>, EnvelopeError> {
    if place(lines, PAYLOAD.open).is_none() && place(lines, PAYLOAD.close).is_none() {
        return outside(lines).map(|()| None);
    }
    let (between, payload, after) = block(lines, &PAYLOAD).ok_or(EnvelopeError::BrokenPayload)?;
    outside(between)?;
    outside(after)?;
    let text = payload.join("\n");
    match text.trim() {
        "" | "null" => Ok(None),
        text => serde_json::from_str(text).map(Some).map_err(|_| EnvelopeError::PayloadNotAnObject),
    }
}

fn outside(lines: &[&str]) -> Result<(), EnvelopeError> {
    if lines.iter().all(|line| line.trim().is_empty()) { Ok(()) } else { Err(EnvelopeError::Outside) }
}

fn place(lines: &[&str], tag: &str) -> Option<usize> {
    lines.iter().position(|line| line.trim() == tag)
}

type Lines<'l, 't> = &'l [&'t str];

/// What stands before, in and after the block. The first closing line counts, wherever it is.
fn block<'l, 't>(lines: Lines<'l, 't>, tag: &Tag) -> Option<(Lines<'l, 't>, Lines<'l, 't>, Lines<'l, 't>)> {
    let (open, close) = (place(lines, tag.open)?, place(lines, tag.close)?);
    (open < close).then(|| (&lines[..open], &lines[open + 1..close], &lines[close + 1..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cue(input: &str) -> Result<Envelope, EnvelopeError> {
        Envelope::parse(Kind::Cue, input)
    }

    fn prompt(text: &str) -> String {
        format!("<cueme_prompt>\n{text}\n</cueme_prompt>\n")
    }

    #[test]
    fn a_prompt_is_kept_as_it_stands() {
        let envelope = cue(&prompt("  two\n\n  lines ")).expect("an envelope");
        assert_eq!(envelope, Envelope { prompt: "  two\n\n  lines ".to_owned(), payload: None });
        let windows = cue("\r\n <cueme_prompt>\t\r\na\r\nb\rc\r\n</cueme_prompt>\r\n").expect("an envelope");
        assert_eq!(windows.prompt, "a\nb\nc");
    }

    #[test]
    fn every_broken_envelope_has_its_own_words() {
        use EnvelopeError::*;
        let cases = [
            ("", Empty),
            (" \n\t", Empty),
            ("{\"prompt\":\"hi\"}", Json),
            ("hi", NoPrompt),
            ("<cueme_prompt>hi</cueme_prompt>", NoPrompt),
            ("<cueme_prompt>\nhi", NoPrompt),
            ("hi\n</cueme_prompt>", NoPrompt),
            ("</cueme_prompt>\nhi\n<cueme_prompt>", NoPrompt),
            ("<CUEME_PROMPT>\nhi\n</CUEME_PROMPT>", NoPrompt),
            ("before\n<cueme_prompt>\nhi\n</cueme_prompt>", Outside),
            ("<cueme_prompt>\n \t\n</cueme_prompt>", BlankPrompt),
            ("<cueme_prompt>\n</cueme_prompt>", BlankPrompt),
            ("<cueme_prompt>\nhi\n</cueme_prompt>\nafter", Outside),
            ("<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\n{}", BrokenPayload),
            ("<cueme_prompt>\nhi\n</cueme_prompt>\n{}\n</cueme_payload>", BrokenPayload),
            ("<cueme_prompt>\nhi\n</cueme_prompt>\n</cueme_payload>\n<cueme_payload>", BrokenPayload),
            ("<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>{}</cueme_payload>", Outside),
            ("<cueme_prompt>\nhi\n</cueme_prompt>\nx\n<cueme_payload>\n{}\n</cueme_payload>", Outside),
            ("<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\n{}\n</cueme_payload>\nx", Outside),
            ("<cueme_payload>\n{}\n</cueme_payload>\n<cueme_prompt>\nhi\n</cueme_prompt>", Outside),
            ("<cueme_prompt>\na\n</cueme_prompt>\n<cueme_prompt>\nb\n</cueme_prompt>", Outside),
            ("<cueme_prompt>\nsays\n</cueme_prompt>\nalone\n</cueme_prompt>", Outside),
        ];
        for (input, error) in cases {
            assert_eq!(cue(input), Err(error), "{input:?}");
        }
    }

    #[test]
    fn a_payload_is_an_object_or_nothing() {
        let with = |payload: &str| cue(&format!("{}<cueme_payload>\n{payload}\n</cueme_payload>", prompt("hi")));
        for nothing in ["", "  ", "null", " null\n"] {
            assert_eq!(with(nothing).expect("an envelope").payload, None, "{nothing:?}");
        }
        for other in ["[]", "\"text\"", "1", "true", "{", "{} {}", "nul"] {
            assert_eq!(with(other), Err(EnvelopeError::PayloadNotAnObject), "{other:?}");
        }
        let payload = with("{\"b\": 1,\n \"a\": [2]}").expect("an envelope").payload.expect("a payload");
        assert_eq!(Value::Object(payload).to_string(), json!({"b": 1, "a": [2]}).to_string());
    }

    #[test]
    fn payload_tags_inside_the_prompt_are_text() {
        let envelope = cue(&prompt("<cueme_payload>\n{}\n</cueme_payload>")).expect("an envelope");
        assert!(envelope.prompt.contains("<cueme_payload>") && envelope.payload.is_none());
    }

    #[test]
    fn a_pause_has_no_payload() {
        let input = format!("{}<cueme_payload>\nnull\n</cueme_payload>", prompt("hi"));
        assert_eq!(Envelope::parse(Kind::Pause, &input), Err(EnvelopeError::PayloadOfPause));
        assert_eq!(Envelope::parse(Kind::Pause, &prompt("hi")).expect("an envelope").prompt, "hi");
    }

    #[test]
    fn byte_order_marks_are_honoured_and_nothing_is_guessed() {
        let text = "grüße 日本\n";
        let utf16 = |unit: fn(u16) -> [u8; 2], mark: [u8; 2]| -> Vec<u8> {
            mark.into_iter().chain(text.encode_utf16().flat_map(unit)).collect()
        };
        assert_eq!(decode(text.as_bytes()).as_deref(), Ok(text));
        assert_eq!(decode(&[b"\xEF\xBB\xBF", text.as_bytes()].concat()).as_deref(), Ok(text));
        assert_eq!(decode(&utf16(u16::to_le_bytes, [0xFF, 0xFE])).as_deref(), Ok(text));
        assert_eq!(decode(&utf16(u16::to_be_bytes, [0xFE, 0xFF])).as_deref(), Ok(text));
        assert_eq!(decode(b"caf\xE9"), Err(DecodeError::NotUtf8 { position: 3 }));
        assert_eq!(decode(b"\xEF\xBB\xBFab\xFF"), Err(DecodeError::NotUtf8 { position: 5 }));
        assert_eq!(decode(b"\xFF\xFEa"), Err(DecodeError::NotUtf16));
        assert_eq!(decode(b"a\0b"), Err(DecodeError::Nul { position: 1 }));
    }
}
