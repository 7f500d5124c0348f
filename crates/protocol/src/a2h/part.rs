//! Context parts: text, data or a file. They are checked by reference and kept unchanged, because people see the
//! original, and a part may be large.

use serde_json::{Map, Value};

use super::envelope::EnvelopeError;
use super::fields::{FieldPath, is_uri};
use super::wire_enum::{WireEnum, wire_enum};

wire_enum!(PartKind { Text = "text", Data = "data", File = "file" });

type Checked = Result<(), EnvelopeError>;

pub(super) fn checked(part: Value, place: FieldPath<'_>) -> Result<Value, EnvelopeError> {
    check(&part, place)?;
    Ok(part)
}

fn check(part: &Value, place: FieldPath<'_>) -> Checked {
    let members = Members::of(part, place)?;
    match members.kind()? {
        PartKind::Text => members.required("text", "a string", Value::is_string)?,
        PartKind::Data => members.required("data", "an object", Value::is_object)?,
        PartKind::File => {
            members.required("file", "an object", Value::is_object)?;
            check_file(&members.entries["file"], FieldPath::Key(&place, "file"))?;
        }
    }
    members.optional("metadata", "an object", Value::is_object)
}

fn check_file(file: &Value, place: FieldPath<'_>) -> Checked {
    let members = Members::of(file, place)?;
    members.required("uri", "an absolute URI", |uri| uri.as_str().is_some_and(is_uri))?;
    members.optional("name", "a string", Value::is_string)?;
    members.optional("mime_type", "a string", Value::is_string)
}

struct Members<'a> {
    entries: &'a Map<String, Value>,
    place: FieldPath<'a>,
}

impl<'a> Members<'a> {
    fn of(value: &'a Value, place: FieldPath<'a>) -> Result<Self, EnvelopeError> {
        match value {
            Value::Object(entries) => Ok(Self { entries, place }),
            other => Err(place.expected("an object", other)),
        }
    }

    fn kind(&self) -> Result<PartKind, EnvelopeError> {
        self.required("kind", "a string", Value::is_string)?;
        let word = self.entries["kind"].as_str().and_then(PartKind::from_word);
        let message = || format!("must be one of {}", PartKind::WORDS.join(", "));
        word.ok_or_else(|| FieldPath::Key(&self.place, "kind").invalid(message()))
    }

    fn required(&self, key: &str, wanted: &str, fits: impl Fn(&Value) -> bool) -> Checked {
        if !self.entries.contains_key(key) {
            return Err(FieldPath::Key(&self.place, key).invalid("is missing"));
        }
        self.optional(key, wanted, fits)
    }

    fn optional(&self, key: &str, wanted: &str, fits: impl Fn(&Value) -> bool) -> Checked {
        match self.entries.get(key) {
            Some(value) if !fits(value) => Err(FieldPath::Key(&self.place, key).invalid(format!("must be {wanted}"))),
            Some(_) | None => Ok(()),
        }
    }
}
