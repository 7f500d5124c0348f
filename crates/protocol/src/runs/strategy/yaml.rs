use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use super::locate::yaml_start;
use super::read::MAX_DEPTH;
use crate::runs::fault::Position;

type Result<T, E = String> = std::result::Result<T, E>;

const TOO_LARGE: &str = "this is too large a number";

/// Reads one YAML 1.2 document, limited to what JSON can express. Values are built from parser events, not by a loader:
/// a loader expands aliases, and a short file of aliases can expand without bound.
pub fn parse(text: &str) -> Result<Value> {
    let mut reader = YamlReader {
        events: Parser::new_from_str(text),
        depth: 0,
    };
    let (event, span) = reader.next_in_document()?;
    if matches!(event, Event::StreamEnd) {
        return Err("the file is empty".to_owned());
    }
    let value = reader.value(event, span)?;
    match reader.next_in_document()? {
        (Event::StreamEnd, _) => Ok(value),
        (_, span) => Err(at(span, "a strategy is one document; remove what follows")),
    }
}

struct YamlReader<'a> {
    events: Parser<'a, StrInput<'a>>,
    depth: usize,
}

impl<'a> YamlReader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span)> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(placed(&error)),
            None => Err("the file ends too early".to_owned()),
        }
    }

    /// The next event inside the document. A second document is detected by its content.
    fn next_in_document(&mut self) -> Result<(Event<'a>, Span)> {
        loop {
            match self.next()? {
                (Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd, _) => {}
                other => return Ok(other),
            }
        }
    }

    fn value(&mut self, event: Event<'a>, span: Span) -> Result<Value> {
        match event {
            Event::Scalar(_, _, _, Some(_)) | Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) => {
                Err(at(span, "tags (!…) are not allowed"))
            }
            Event::Scalar(text, style, _, None) => scalar(text, style).map_err(|why| at(span, why)),
            Event::SequenceStart(_, None) => self.nested(span, Self::sequence),
            Event::MappingStart(_, None) => self.nested(span, Self::mapping),
            Event::Alias(_) => Err(at(span, "aliases (*…) are not allowed; write the value again")),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => Err(at(span, "a value is missing")),
        }
    }

    fn nested(&mut self, span: Span, read: fn(&mut Self) -> Result<Value>) -> Result<Value> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(at(span, &format!("nested deeper than {MAX_DEPTH} levels")));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn sequence(&mut self) -> Result<Value> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Value::Array(items)),
                (event, span) => items.push(self.value(event, span)?),
            }
        }
    }

    fn mapping(&mut self) -> Result<Value> {
        let mut entries = Map::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, _) => return Ok(Value::Object(entries)),
                (event, span) => (self.key(event, span)?, span),
            };
            match entries.entry(key.0) {
                Entry::Vacant(place) => {
                    let (event, span) = self.next()?;
                    place.insert(self.value(event, span)?);
                }
                Entry::Occupied(_) => return Err(at(key.1, "a key comes twice in one mapping")),
            }
        }
    }

    fn key(&mut self, event: Event<'a>, span: Span) -> Result<String> {
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => Err(at(span, "a key must be text")),
            other => match self.value(other, span)? {
                Value::String(key) => Ok(key),
                _ => Err(at(span, "a key must be text; put it in quotes")),
            },
        }
    }
}

fn at(span: Span, why: &str) -> String {
    yaml_start(span).before(why)
}

/// The parser quotes a character of the file behind a backtick.
fn placed(error: &ScanError) -> String {
    let kind = error.info().split('`').next().unwrap_or_default();
    let position = Position {
        line: error.marker().line(),
        column: error.marker().col() + 1,
    };
    position.before(kind.trim_end_matches([' ', ':']))
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> Result<Value, &'static str> {
    if text.contains('\0') {
        return Err("the character U+0000 is not allowed");
    }
    match style {
        ScalarStyle::Plain => plain(&text),
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted | ScalarStyle::Literal | ScalarStyle::Folded => {
            Ok(Value::String(text.into_owned()))
        }
    }
}

/// The value of an unquoted scalar in YAML's core schema.
fn plain(text: &str) -> Result<Value, &'static str> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Ok(Value::Null),
        "true" | "True" | "TRUE" => Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => Ok(Value::Bool(false)),
        _ if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") => {
            Err("this is not a supported number; put it in quotes if it is text")
        }
        _ => match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
            (Some(digits), _) if is_digits(digits, 16) => in_base(digits, 16),
            (_, Some(digits)) if is_digits(digits, 8) => in_base(digits, 8),
            _ if is_decimal(unsigned) => decimal(text),
            _ => Ok(Value::String(text.to_owned())),
        },
    }
}

fn is_digits(text: &str, base: u32) -> bool {
    !text.is_empty() && text.chars().all(|character| character.is_digit(base))
}

/// Digits with an optional decimal point and an optional exponent.
fn is_decimal(unsigned: &str) -> bool {
    let (number, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (before, after) = number.split_once('.').unwrap_or((number, ""));
    is_digits(&[before, after].concat(), 10) && is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent), 10)
}

fn in_base(digits: &str, base: u32) -> Result<Value, &'static str> {
    u64::from_str_radix(digits, base)
        .map(Value::from)
        .map_err(|_| TOO_LARGE)
}

fn decimal(text: &str) -> Result<Value, &'static str> {
    if let Ok(number) = text.parse::<i64>() {
        return Ok(number.into());
    }
    if let Ok(number) = text.parse::<u64>() {
        return Ok(number.into());
    }
    let number = text.parse::<f64>().ok().and_then(Number::from_f64);
    number.map(Value::Number).ok_or(TOO_LARGE)
}
