//! Reads the fields of a JSON object by name and type; errors name the path.

use std::fmt;

use serde_json::Value;

use super::envelope::EnvelopeError;
use super::wire_enum::WireEnum;
use crate::time::Timestamp;

type Result<T> = std::result::Result<T, EnvelopeError>;

/// The path of a value. A chain of borrows, so that it costs nothing until an error is formatted.
#[derive(Clone, Copy)]
pub(super) enum FieldPath<'a> {
    Root,
    Key(&'a FieldPath<'a>, &'a str),
    Item(&'a FieldPath<'a>, usize),
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(FieldPath::Root, key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

impl FieldPath<'_> {
    pub fn invalid(&self, message: impl Into<String>) -> EnvelopeError {
        EnvelopeError::Invalid {
            field: self.to_string(),
            message: message.into(),
        }
    }

    pub fn expected(&self, wanted: &str, found: &Value) -> EnvelopeError {
        self.invalid(format!("must be {wanted}, not {}", kind_of(found)))
    }

    pub fn text(&self, value: Value) -> Result<String> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(self.expected("a string", &other)),
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// An object being read. Reading a field removes it, so that large values are moved and not copied.
///
/// An envelope has few fields, which a search finds faster than hashes.
pub(super) struct FieldReader<'a> {
    entries: Vec<(String, Value)>,
    pub place: FieldPath<'a>,
}

impl<'a> FieldReader<'a> {
    pub fn of(value: Value, place: FieldPath<'a>) -> Result<Self> {
        match value {
            Value::Object(entries) => Ok(Self {
                entries: entries.into_iter().collect(),
                place,
            }),
            other => Err(place.expected("an object", &other)),
        }
    }

    pub fn invalid(&self, key: &str, message: impl Into<String>) -> EnvelopeError {
        FieldPath::Key(&self.place, key).invalid(message)
    }

    /// A required field.
    pub fn required<T>(&self, key: &str, found: Option<T>) -> Result<T> {
        found.ok_or_else(|| self.invalid(key, "is missing"))
    }

    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _)| name == key)
    }

    pub fn any(&mut self, key: &str) -> Option<Value> {
        let at = self.entries.iter().position(|(name, _)| name == key)?;
        Some(self.entries.swap_remove(at).1)
    }

    pub fn text(&mut self, key: &str) -> Result<Option<String>> {
        let Some(value) = self.any(key) else { return Ok(None) };
        FieldPath::Key(&self.place, key).text(value).map(Some)
    }

    pub fn required_text(&mut self, key: &str) -> Result<String> {
        let found = self.text(key)?;
        self.required(key, found)
    }

    /// A required string of at least one character.
    pub fn required_name(&mut self, key: &str) -> Result<String> {
        let text = self.required_text(key)?;
        if text.is_empty() {
            Err(self.invalid(key, "must not be empty"))
        } else {
            Ok(text)
        }
    }

    pub fn flag(&mut self, key: &str) -> Result<Option<bool>> {
        match self.any(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(FieldPath::Key(&self.place, key).expected("true or false", &other)),
        }
    }

    pub fn word<W: WireEnum>(&mut self, key: &str) -> Result<Option<W>> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match W::from_word(&text) {
            Some(word) => Ok(Some(word)),
            None => Err(self.invalid(key, format!("must be one of {}", W::WORDS.join(", ")))),
        }
    }

    pub fn required_word<W: WireEnum>(&mut self, key: &str) -> Result<W> {
        let found = self.word(key)?;
        self.required(key, found)
    }

    /// A date-time, as the original text and as an instant.
    pub fn instant(&mut self, key: &str) -> Result<Option<(String, Timestamp)>> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match Timestamp::parse_rfc3339(&text) {
            Some(instant) => Ok(Some((text, instant))),
            None => Err(self.invalid(key, "must be an RFC 3339 date-time such as 2026-06-04T15:48:30Z")),
        }
    }

    pub fn uri(&mut self, key: &str) -> Result<Option<String>> {
        match self.text(key)? {
            Some(text) if !is_uri(&text) => Err(self.invalid(key, "must be an absolute URI")),
            found => Ok(found),
        }
    }

    /// An object with arbitrary content.
    pub fn object_value(&mut self, key: &str) -> Result<Option<Value>> {
        match self.any(key) {
            None => Ok(None),
            Some(value @ Value::Object(_)) => Ok(Some(value)),
            Some(other) => Err(FieldPath::Key(&self.place, key).expected("an object", &other)),
        }
    }

    pub fn object<T>(&mut self, key: &str, read: impl FnOnce(FieldReader<'_>) -> Result<T>) -> Result<Option<T>> {
        let Some(value) = self.any(key) else { return Ok(None) };
        FieldReader::of(value, FieldPath::Key(&self.place, key))
            .and_then(read)
            .map(Some)
    }

    pub fn list<T>(&mut self, key: &str, read: impl Fn(Value, FieldPath<'_>) -> Result<T>) -> Result<Option<Vec<T>>> {
        let found = self.any(key);
        let place = FieldPath::Key(&self.place, key);
        match found {
            None => Ok(None),
            Some(Value::Array(items)) => {
                let items = items.into_iter().enumerate();
                items
                    .map(|(index, item)| read(item, FieldPath::Item(&place, index)))
                    .collect::<Result<_>>()
                    .map(Some)
            }
            Some(other) => Err(place.expected("an array", &other)),
        }
    }

    pub fn texts(&mut self, key: &str) -> Result<Option<Vec<String>>> {
        self.list(key, |item, place| place.text(item))
    }

    /// The fields that were not read yet.
    pub fn rest(self) -> Vec<(String, Value)> {
        self.entries
    }
}

/// RFC 3986: a scheme, a colon, and only URI characters.
pub(super) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let scheme_ok = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    let is_escape = |text: &str| text.len() >= 2 && text.bytes().take(2).all(|digit| digit.is_ascii_hexdigit());
    let rest_ok = rest.bytes().all(is_allowed) && rest.split('%').skip(1).all(is_escape);
    scheme_ok && !rest.is_empty() && rest_ok
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_a_scheme_and_only_uri_characters() {
        for text in [
            "https://a.example/x?y=%20#z",
            "urn:uuid:1",
            "mailto:a@b.example",
            "http://[::1]:80/",
        ] {
            assert!(is_uri(text), "{text}");
        }
        for text in [
            "",
            "a.example/x",
            ":x",
            "1http://a",
            "https:",
            "https://a b",
            "https://ä.example",
            "http://a/%zz",
        ] {
            assert!(!is_uri(text), "{text}");
        }
    }

    #[test]
    fn a_field_path_is_displayed_with_dots_and_indexes() {
        let request = FieldPath::Key(&FieldPath::Root, "request");
        let options = FieldPath::Key(&request, "options");
        let option = FieldPath::Item(&options, 1);
        assert_eq!(FieldPath::Key(&option, "value").to_string(), "request.options[1].value");
    }
}
