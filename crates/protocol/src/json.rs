//! Strict JSON: refuses documents that two parsers could read differently.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

/// The maximum nesting of arrays and objects.
pub const MAX_DEPTH: usize = 64;
/// The maximum number of values in a document, nested ones included. A value of two bytes on the wire takes a hundred
/// bytes or more in memory.
pub const MAX_VALUES: usize = 200_000;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    #[error("the text is not UTF-8 at byte {position}")]
    NotUtf8 { position: usize },
    /// The message says what is wrong, and at which line and column.
    #[error("not acceptable as JSON: {message}")]
    Refused { message: String },
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        Self::Refused {
            message: error.to_string(),
        }
    }
}

/// Parses one document. Besides syntax errors it refuses: a duplicate key, a number outside the range of a double,
/// nesting deeper than [`MAX_DEPTH`], more than [`MAX_VALUES`], U+0000 in a string, and text after the document.
pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
    parse_with(bytes, duplicate)
}

/// Like [`parse`], with errors that repeat nothing of the document.
pub(crate) fn parse_confidential(bytes: &[u8]) -> Result<Value, JsonError> {
    parse_with(bytes, |_| "a key comes twice in one object".to_owned())
}

fn parse_with(bytes: &[u8], duplicate: fn(&str) -> String) -> Result<Value, JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|error| JsonError::NotUtf8 {
        position: error.valid_up_to(),
    })?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let values_left = Cell::new(MAX_VALUES);
    let value = Strict {
        depth_left: MAX_DEPTH,
        values_left: &values_left,
        duplicate,
    }
    .deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct Strict<'c> {
    depth_left: usize,
    /// Shared by the whole document.
    values_left: &'c Cell<usize>,
    /// The error for a duplicate key.
    duplicate: fn(&str) -> String,
}

impl Strict<'_> {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        match self.depth_left.checked_sub(1) {
            Some(depth_left) => Ok(Self { depth_left, ..self }),
            None => Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels"))),
        }
    }

    fn count<E: de::Error>(self) -> Result<(), E> {
        let left = self.values_left.get().checked_sub(1);
        let left = left.ok_or_else(|| E::custom(format_args!("more than {MAX_VALUES} values")))?;
        self.values_left.set(left);
        Ok(())
    }
}

fn checked<E: de::Error>(text: &str) -> Result<&str, E> {
    if text.contains('\0') {
        Err(E::custom("the character U+0000 is not allowed in a string"))
    } else {
        Ok(text)
    }
}

fn duplicate(key: &str) -> String {
    let shown: String = key.chars().take(64).collect();
    format!("the key {shown:?} comes twice in one object")
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Number::from_f64(number)
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        checked(text).map(|text| Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            checked(&key)?;
            match object.entry(key) {
                Entry::Vacant(slot) => {
                    slot.insert(entries.next_value_seed(inner)?);
                }
                Entry::Occupied(slot) => return Err(de::Error::custom((self.duplicate)(slot.key()))),
            }
        }
        Ok(Value::Object(object))
    }
}

/// The original text of one field of an object; other fields are skipped.
pub fn raw_field<'a>(object: &'a str, key: &str) -> Result<Option<&'a RawValue>, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_str(object);
    let found = deserializer.deserialize_map(RawField { key })?;
    deserializer.end()?;
    Ok(found)
}

struct RawField<'k> {
    key: &'k str,
}

impl<'de> Visitor<'de> for RawField<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(FieldName(key)) = entries.next_key()? {
            if key != self.key {
                entries.next_value::<IgnoredAny>()?;
            } else if found.replace(entries.next_value()?).is_some() {
                return Err(de::Error::custom(duplicate(&key)));
            }
        }
        Ok(found)
    }
}

/// A key, borrowed from the text unless it contains escapes.
#[derive(serde::Deserialize)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

/// The object without the given fields; other keys and values keep their text and order.
pub fn without_fields(object: &str, keys: &[&str]) -> Result<String, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_str(object);
    let entries = deserializer.deserialize_map(RawEntries)?;
    deserializer.end()?;
    let mut text = String::with_capacity(object.len());
    text.push('{');
    for (key, value) in entries {
        let FieldName(name) = serde_json::from_str(key)?;
        if keys.contains(&name.as_ref()) {
            continue;
        }
        if text.len() > 1 {
            text.push(',');
        }
        text.extend([key, ":", value]);
    }
    text.push('}');
    Ok(text)
}

struct RawEntries;

impl<'de> Visitor<'de> for RawEntries {
    type Value = Vec<(&'de str, &'de str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some((key, value)) = entries.next_entry::<&'de RawValue, &'de RawValue>()? {
            found.push((key.get(), value.get()));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(bytes: &[u8]) -> String {
        parse(bytes).unwrap_err().to_string()
    }

    #[test]
    fn a_plain_document_parses_as_usual() {
        let text = r#" {"a":[1,-2,3.5,1e3,true,false,null,"\u00e9\n"],"b":{"a":18446744073709551615}} "#;
        assert_eq!(
            parse(text.as_bytes()).unwrap(),
            serde_json::from_str::<Value>(text).unwrap()
        );
        assert_eq!(parse(b"-0.0").unwrap(), json!(-0.0));
    }

    #[test]
    fn a_key_may_not_come_twice_at_any_depth() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"x":{"a":1,"b":2,"\u0061":3}}]"#] {
            assert!(
                refusal(text.as_bytes()).contains(r#"the key "a" comes twice"#),
                "{text}"
            );
        }
        assert!(refusal(br#"{"a":1,"a":1}"#).contains("line 1 column"));
        assert!(parse(br#"{"a":{"a":1},"b":{"a":1}}"#).is_ok());
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(MAX_DEPTH).as_bytes()).is_ok());
        assert!(refusal(nested(MAX_DEPTH + 1).as_bytes()).contains("nested deeper than 64"));
        let objects = format!("{}1{}", r#"{"a":"#.repeat(MAX_DEPTH + 1), "}".repeat(MAX_DEPTH + 1));
        assert!(refusal(objects.as_bytes()).contains("nested deeper than 64"));
        assert!(parse("[".repeat(1_000_000).as_bytes()).is_err());
    }

    #[test]
    fn the_number_of_values_has_a_limit() {
        let zeros = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        assert!(
            parse(zeros(MAX_VALUES - 1).as_bytes()).is_ok(),
            "the array counts as one value"
        );
        assert!(refusal(zeros(MAX_VALUES).as_bytes()).contains("more than 200000 values"));
        let spread = format!("[{},{}]", zeros(MAX_VALUES / 2), zeros(MAX_VALUES / 2));
        assert!(refusal(spread.as_bytes()).contains("more than 200000 values"));
        let keys: Vec<String> = (0..MAX_VALUES).map(|key| format!("\"{key}\":0")).collect();
        assert!(refusal(format!("{{{}}}", keys.join(",")).as_bytes()).contains("more than 200000 values"));
    }

    #[test]
    fn hostile_text_is_refused() {
        let hostile: [&[u8]; 22] = [
            b"",
            b" ",
            b"{",
            b"[1,]",
            b"{\"a\":1,}",
            b"{a:1}",
            b"'a'",
            b"01",
            b"+1",
            b".5",
            b"1.",
            b"NaN",
            b"Infinity",
            b"1e400",
            b"-1e400",
            b"{} {}",
            b"nullx",
            b"\xef\xbb\xbf{}",
            b"\"\\ud800\"",
            b"\"\\udc00\\ud800\"",
            b"\"\x01\"",
            b"/**/1",
        ];
        for bytes in hostile {
            assert!(parse(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(parse(b"\"a\xff\""), Err(JsonError::NotUtf8 { position: 2 }));
        assert_eq!(parse(b"\"\xed\xa0\x80\""), Err(JsonError::NotUtf8 { position: 1 }));
        assert!(refusal(b"1e400").contains("number out of range"));
    }

    #[test]
    fn the_null_character_is_refused_in_strings_and_keys() {
        for text in [r#""a\u0000""#, r#"{"\u0000":1}"#, r#"[{"a":["\u0000"]}]"#] {
            assert!(refusal(text.as_bytes()).contains("U+0000"), "{text}");
        }
    }

    #[test]
    fn a_raw_field_keeps_its_spelling() {
        let object = r#"{ "a" : {"state":1}, "st\u0061te" : { "z":1.50, "a" : 1e2 } , "b":null}"#;
        let text = |key| raw_field(object, key).map(|field| field.map(RawValue::get));
        assert_eq!(text("state"), Ok(Some(r#"{ "z":1.50, "a" : 1e2 }"#)));
        assert_eq!(text("b"), Ok(Some("null")));
        assert_eq!(text("c"), Ok(None));
        assert!(raw_field("[]", "a").is_err());
        assert!(raw_field("{} x", "a").is_err());
        assert!(raw_field(r#"{"a":1,"a":2}"#, "a").is_err());
    }

    #[test]
    fn fields_are_removed_and_the_rest_is_unchanged() {
        let object = "{ \"b\" : 1.0 ,\n \"\\u0061\":{ \"x\" :1e0},\"k\\u0065y\":[ 1 ] }";
        assert_eq!(
            without_fields(object, &["a"]).unwrap(),
            "{\"b\":1.0,\"k\\u0065y\":[ 1 ]}"
        );
        assert_eq!(
            without_fields(object, &["b", "key"]).unwrap(),
            "{\"\\u0061\":{ \"x\" :1e0}}"
        );
        assert_eq!(without_fields(object, &["a", "b", "key"]).unwrap(), "{}");
        assert!(without_fields("[]", &["a"]).is_err());
    }
}
