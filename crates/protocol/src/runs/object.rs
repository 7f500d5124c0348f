use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::fault::{FaultList, FaultPath};

/// The largest integer that every JSON parser represents exactly.
pub(super) const MAX_SAFE: i64 = (1 << 53) - 1;

/// Constraints on a text.
#[derive(Clone, Copy)]
pub(super) struct TextRule {
    pub may_be_empty: bool,
    pub max_bytes: usize,
}

/// One JSON object being read. Every accessor reports its own faults and then returns a placeholder.
#[derive(Clone, Copy)]
pub(super) struct Object<'a> {
    entries: &'a Map<String, Value>,
    place: FaultPath<'a>,
    faults: &'a FaultList,
}

impl<'a> Object<'a> {
    pub fn of(value: &'a Value, place: FaultPath<'a>, faults: &'a FaultList) -> Option<Self> {
        let Value::Object(entries) = value else {
            faults.add(place, expected("an object", value));
            return None;
        };
        Some(Self { entries, place, faults })
    }

    pub fn entries(&self) -> &'a Map<String, Value> {
        self.entries
    }

    pub fn place(&self) -> &FaultPath<'a> {
        &self.place
    }

    pub fn faults(&self) -> &'a FaultList {
        self.faults
    }

    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    pub fn fault(&self, key: &'static str, why: impl Into<String>) {
        self.faults.add(FaultPath::Key(&self.place, key), why);
    }

    /// Reports every other key as a fault.
    pub fn only(&self, known: &[&[&str]]) {
        let known = known.concat();
        let why = match known.as_slice() {
            [] => "unknown key; none is known here".to_owned(),
            some => format!("unknown key; known: {}", some.join(", ")),
        };
        for key in self.entries.keys().filter(|key| !known.contains(&key.as_str())) {
            self.faults.add(FaultPath::Entry(&self.place, key), why.as_str());
        }
    }

    /// A required field.
    pub fn required(&self, key: &'static str) -> Option<&'a Value> {
        let found = self.entries.get(key);
        if found.is_none() {
            self.fault(key, "is missing");
        }
        found
    }

    pub fn text(&self, key: &'static str, rule: TextRule) -> String {
        self.required(key)
            .and_then(|value| text(value, FaultPath::Key(&self.place, key), self.faults, rule))
            .unwrap_or_default()
    }

    pub fn optional_text(&self, key: &'static str, rule: TextRule) -> Option<String> {
        text(
            self.entries.get(key)?,
            FaultPath::Key(&self.place, key),
            self.faults,
            rule,
        )
    }

    pub fn flag(&self, key: &'static str) -> Option<bool> {
        match self.entries.get(key)? {
            Value::Bool(flag) => Some(*flag),
            other => {
                self.fault(key, expected("true or false", other));
                None
            }
        }
    }

    pub fn number(&self, key: &'static str) -> Option<f64> {
        match self.entries.get(key)? {
            Value::Number(number) => number.as_f64(),
            other => {
                self.fault(key, expected("a number", other));
                None
            }
        }
    }

    pub fn whole(&self, key: &'static str, range: RangeInclusive<i64>) -> Option<i64> {
        let value = self.entries.get(key)?;
        let found = whole(value).filter(|number| range.contains(number));
        if found.is_none() {
            let (from, to) = range.into_inner();
            self.fault(key, format!("must be a whole number from {from} to {to}"));
        }
        found
    }

    /// One of the known words; the first one is the placeholder after a fault.
    pub fn word<T: Copy>(&self, key: &'static str, known: &[(&str, T)]) -> T {
        self.required(key);
        self.optional_word(key, known).unwrap_or(known[0].1)
    }

    pub fn optional_word<T: Copy>(&self, key: &'static str, known: &[(&str, T)]) -> Option<T> {
        let value = self.entries.get(key)?;
        let found = known.iter().find(|(word, _)| value.as_str() == Some(word));
        if found.is_none() {
            let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
            self.fault(key, format!("must be one of {}", words.join(", ")));
        }
        found.map(|(_, meaning)| *meaning)
    }

    pub fn list(&self, key: &'static str) -> Option<&'a [Value]> {
        match self.entries.get(key)? {
            Value::Array(items) => Some(items),
            other => {
                self.fault(key, expected("an array", other));
                None
            }
        }
    }

    pub fn optional_texts(&self, key: &'static str, rule: TextRule) -> Option<Vec<String>> {
        let place = FaultPath::Key(&self.place, key);
        let items = self.list(key)?.iter().enumerate();
        Some(
            items
                .filter_map(|(index, item)| text(item, FaultPath::Item(&place, index), self.faults, rule))
                .collect(),
        )
    }

    pub fn optional_map(&self, key: &'static str) -> Option<Map<String, Value>> {
        match self.entries.get(key)? {
            Value::Object(entries) => Some(entries.clone()),
            other => {
                self.fault(key, expected("an object", other));
                None
            }
        }
    }
}

fn text(value: &Value, place: FaultPath<'_>, faults: &FaultList, rule: TextRule) -> Option<String> {
    let Value::String(text) = value else {
        faults.add(place, expected("a string", value));
        return None;
    };
    if text.is_empty() && !rule.may_be_empty {
        faults.add(place, "must not be empty");
    } else if text.len() > rule.max_bytes {
        faults.add(
            place,
            format!("must be at most {} bytes, not {}", rule.max_bytes, text.len()),
        );
    } else {
        return Some(text.clone());
    }
    None
}

/// `3.0` counts as a whole number too: JSON has one number type.
fn whole(value: &Value) -> Option<i64> {
    let number = value.as_number()?;
    number.as_i64().or_else(|| {
        let number = number.as_f64()?;
        (number.fract() == 0.0 && number.abs() <= MAX_SAFE as f64).then_some(number as i64)
    })
}

/// Names the kind of the value and never the value: it may come from a foreign file.
pub(super) fn expected(wanted: &str, found: &Value) -> String {
    let kind = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    format!("must be {wanted}, not {kind}")
}
