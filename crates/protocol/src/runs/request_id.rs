//! The request id of a refused message, so that its sender can match the error to the request.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Deserializer, Value};

/// More than a valid request id may have, and still short enough for a reply.
const MAX_BYTES: usize = 4 * 1024;

/// Lenient, like most parsers: the last of duplicate keys wins, and all other content is skipped at any depth.
pub(super) fn of(bytes: &[u8]) -> Option<String> {
    let found = Deserializer::from_slice(bytes)
        .deserialize_map(RequestIdVisitor)
        .ok()
        .flatten();
    found.filter(|id| id.len() <= MAX_BYTES)
}

struct RequestIdVisitor;

impl<'de> Visitor<'de> for RequestIdVisitor {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = entries.next_key::<String>()? {
            if key == "requestId" {
                found = entries.next_value::<Value>()?.as_str().map(str::to_owned);
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}
