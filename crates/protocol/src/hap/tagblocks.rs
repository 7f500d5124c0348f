//! The envelope on stdin: a prompt block and an optional payload block, with each tag alone on its line.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const PROMPT: Tag = Tag {
    open: "<cueme_prompt>",
    close: "</cueme_prompt>",
};
const PAYLOAD: Tag = Tag {
    open: "<cueme_payload>",
    close: "</cueme_payload>",
};

const MAX_EXCERPT_CHARS: usize = 40;

struct Tag {
    open: &'static str,
    close: &'static str,
}

/// A question, or a pause until the person continues it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CueKind {
    Cue,
    Pause,
}

impl CueKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cue => "cue",
            Self::Pause => "pause",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct CueEnvelope {
    /// The text between the tags, not trimmed.
    pub prompt: String,
    pub payload: Option<Map<String, Value>>,
}

/// A malformed envelope; nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CueEnvelopeError {
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
    #[error("error: only whitespace is allowed outside blocks: line {line} is {text}")]
    Outside { line: usize, text: String },
    #[error("error: <cueme_prompt> content must be non-empty")]
    BlankPrompt,
    #[error("error: invalid <cueme_payload> block: put each of its two tags alone on a line, after the prompt")]
    BrokenPayload,
    #[error("error: <cueme_payload> must be JSON object or null: {why}")]
    PayloadNotAnObject { why: String },
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

/// Decodes UTF-8 with or without a byte order mark, or UTF-16 with one. Encodings are not guessed: after a wrong guess
/// a person would see garbled text.
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
        Err(error) => Err(DecodeError::NotUtf8 {
            position: offset + error.valid_up_to(),
        }),
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

impl CueEnvelope {
    pub fn parse(kind: CueKind, input: &str) -> Result<Self, CueEnvelopeError> {
        let trimmed = input.trim();
        if trimmed.is_empty() {
            return Err(CueEnvelopeError::Empty);
        }
        if trimmed.starts_with('{') {
            return Err(CueEnvelopeError::Json);
        }
        let text = input.replace("\r\n", "\n").replace('\r', "\n");
        let lines: Vec<&str> = text.split('\n').collect();
        if kind == CueKind::Pause
            && (line_of(&lines, PAYLOAD.open).is_some() || line_of(&lines, PAYLOAD.close).is_some())
        {
            return Err(CueEnvelopeError::PayloadOfPause);
        }
        let (before, prompt, rest) = block(&lines, &PROMPT).ok_or(CueEnvelopeError::NoPrompt)?;
        outside(before, 1)?;
        let text = prompt.join("\n");
        if text.trim().is_empty() {
            return Err(CueEnvelopeError::BlankPrompt);
        }
        // Line numbers start at one, and both tags are lines too.
        let next = before.len() + prompt.len() + 3;
        Ok(Self {
            prompt: text,
            payload: payload(rest, next)?,
        })
    }
}

/// `first` is the line number of `lines[0]`.
fn payload(lines: &[&str], first: usize) -> Result<Option<Map<String, Value>>, CueEnvelopeError> {
    if line_of(lines, PAYLOAD.open).is_none() && line_of(lines, PAYLOAD.close).is_none() {
        return outside(lines, first).map(|()| None);
    }
    let (between, payload, after) = block(lines, &PAYLOAD).ok_or(CueEnvelopeError::BrokenPayload)?;
    outside(between, first)?;
    let begin = first + between.len() + 1;
    outside(after, begin + payload.len() + 1)?;
    let text = payload.join("\n");
    if text.trim().is_empty() {
        return Ok(None);
    }
    match serde_json::from_str(&text) {
        Ok(Value::Null) => Ok(None),
        Ok(Value::Object(payload)) => Ok(Some(payload)),
        Ok(other) => Err(CueEnvelopeError::PayloadNotAnObject {
            why: format!("it is {}", name(&other)),
        }),
        Err(error) => Err(CueEnvelopeError::PayloadNotAnObject {
            why: broken(&error, begin),
        }),
    }
}

fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Converts the parser's line number, which counts from the start of the payload, into a line number of stdin.
fn broken(error: &serde_json::Error, begin: usize) -> String {
    let line = error.line();
    let column = error.column();
    let message = error.to_string();
    let reason = message
        .strip_suffix(&format!(" at line {line} column {column}"))
        .unwrap_or(&message);
    format!(
        "{reason} at line {} of stdin, column {column}",
        begin + line.saturating_sub(1)
    )
}

fn outside(lines: &[&str], first: usize) -> Result<(), CueEnvelopeError> {
    let stray = lines.iter().zip(first..).find(|(line, _)| !line.trim().is_empty());
    stray.map_or(Ok(()), |(text, line)| {
        Err(CueEnvelopeError::Outside {
            line,
            text: excerpt(text.trim()),
        })
    })
}

fn excerpt(text: &str) -> String {
    let start: String = text.chars().take(MAX_EXCERPT_CHARS).collect();
    if start.len() == text.len() {
        format!("{start:?}")
    } else {
        format!("{:?}", start + "…")
    }
}

fn line_of(lines: &[&str], tag: &str) -> Option<usize> {
    lines.iter().position(|line| line.trim() == tag)
}

type Lines<'l, 't> = &'l [&'t str];

/// The lines before, in and after the block. The first closing tag counts, even if it comes before the opening one.
fn block<'l, 't>(lines: Lines<'l, 't>, tag: &Tag) -> Option<(Lines<'l, 't>, Lines<'l, 't>, Lines<'l, 't>)> {
    let open = line_of(lines, tag.open)?;
    let close = line_of(lines, tag.close)?;
    (open < close).then(|| (&lines[..open], &lines[open + 1..close], &lines[close + 1..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cue(input: &str) -> Result<CueEnvelope, CueEnvelopeError> {
        CueEnvelope::parse(CueKind::Cue, input)
    }

    fn prompt(text: &str) -> String {
        format!("<cueme_prompt>\n{text}\n</cueme_prompt>\n")
    }

    #[test]
    fn a_prompt_is_kept_verbatim() {
        let envelope = cue(&prompt("  two\n\n  lines ")).expect("an envelope");
        assert_eq!(
            envelope,
            CueEnvelope {
                prompt: "  two\n\n  lines ".to_owned(),
                payload: None
            }
        );
        let windows = cue("\r\n <cueme_prompt>\t\r\na\r\nb\rc\r\n</cueme_prompt>\r\n").expect("an envelope");
        assert_eq!(windows.prompt, "a\nb\nc");
    }

    #[test]
    fn every_malformed_envelope_has_its_own_error() {
        use CueEnvelopeError::*;
        let outside = |line: usize, text: &str| Outside {
            line,
            text: format!("{text:?}"),
        };
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
            ("before\n<cueme_prompt>\nhi\n</cueme_prompt>", outside(1, "before")),
            ("<cueme_prompt>\n \t\n</cueme_prompt>", BlankPrompt),
            ("<cueme_prompt>\n</cueme_prompt>", BlankPrompt),
            (
                "<cueme_prompt>\nhi\n</cueme_prompt>\n\n after\nall",
                outside(5, "after"),
            ),
            (
                "<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\n{}",
                BrokenPayload,
            ),
            (
                "<cueme_prompt>\nhi\n</cueme_prompt>\n{}\n</cueme_payload>",
                BrokenPayload,
            ),
            (
                "<cueme_prompt>\nhi\n</cueme_prompt>\n</cueme_payload>\n<cueme_payload>",
                BrokenPayload,
            ),
            (
                "<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>{}</cueme_payload>",
                outside(4, "<cueme_payload>{}</cueme_payload>"),
            ),
            (
                "<cueme_prompt>\nhi\n</cueme_prompt>\nx\n<cueme_payload>\n{}\n</cueme_payload>",
                outside(4, "x"),
            ),
            (
                "<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\n{}\n</cueme_payload>\nx",
                outside(7, "x"),
            ),
            (
                "<cueme_payload>\n{}\n</cueme_payload>\n<cueme_prompt>\nhi\n</cueme_prompt>",
                outside(1, "<cueme_payload>"),
            ),
            (
                "<cueme_prompt>\na\n</cueme_prompt>\n<cueme_prompt>\nb\n</cueme_prompt>",
                outside(4, "<cueme_prompt>"),
            ),
            (
                "<cueme_prompt>\nsays\n</cueme_prompt>\nalone\n</cueme_prompt>",
                outside(4, "alone"),
            ),
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
        for (other, wanted) in [
            ("[]", "it is a list"),
            ("\"text\"", "it is a text"),
            ("1", "it is a number"),
            ("true", "it is true or false"),
            ("{", "EOF while parsing an object at line 5 of stdin, column 1"),
            ("{} {}", "trailing characters at line 5 of stdin, column 4"),
            ("\n {\"a\": 1,}", "trailing comma at line 6 of stdin, column 10"),
            ("nul", "EOF while parsing a value at line 5 of stdin, column 3"),
        ] {
            let error = with(other).expect_err("no object");
            let expected = format!("error: <cueme_payload> must be JSON object or null: {wanted}");
            assert_eq!(error.to_string(), expected, "{other:?}");
        }
        let payload = with("{\"b\": 1,\n \"a\": [2]}")
            .expect("an envelope")
            .payload
            .expect("a payload");
        assert_eq!(
            Value::Object(payload).to_string(),
            json!({"b": 1, "a": [2]}).to_string()
        );
    }

    #[test]
    fn payload_tags_inside_the_prompt_are_text() {
        let envelope = cue(&prompt("<cueme_payload>\n{}\n</cueme_payload>")).expect("an envelope");
        assert!(envelope.prompt.contains("<cueme_payload>") && envelope.payload.is_none());
    }

    #[test]
    fn a_pause_has_no_payload() {
        let input = format!("{}<cueme_payload>\nnull\n</cueme_payload>", prompt("hi"));
        assert_eq!(
            CueEnvelope::parse(CueKind::Pause, &input),
            Err(CueEnvelopeError::PayloadOfPause)
        );
        assert_eq!(
            CueEnvelope::parse(CueKind::Pause, &prompt("hi"))
                .expect("an envelope")
                .prompt,
            "hi"
        );
    }

    #[test]
    fn byte_order_marks_are_honoured_and_encodings_are_not_guessed() {
        let text = "grüße 日本\n";
        let utf16 = |unit: fn(u16) -> [u8; 2], mark: [u8; 2]| -> Vec<u8> {
            mark.into_iter().chain(text.encode_utf16().flat_map(unit)).collect()
        };
        assert_eq!(decode(text.as_bytes()).as_deref(), Ok(text));
        assert_eq!(
            decode(&[b"\xEF\xBB\xBF", text.as_bytes()].concat()).as_deref(),
            Ok(text)
        );
        assert_eq!(decode(&utf16(u16::to_le_bytes, [0xFF, 0xFE])).as_deref(), Ok(text));
        assert_eq!(decode(&utf16(u16::to_be_bytes, [0xFE, 0xFF])).as_deref(), Ok(text));
        assert_eq!(decode(b"caf\xE9"), Err(DecodeError::NotUtf8 { position: 3 }));
        assert_eq!(decode(b"\xEF\xBB\xBFab\xFF"), Err(DecodeError::NotUtf8 { position: 5 }));
        assert_eq!(decode(b"\xFF\xFEa"), Err(DecodeError::NotUtf16));
        assert_eq!(decode(b"a\0b"), Err(DecodeError::Nul { position: 1 }));
    }
}
