//! The id of a request that was refused, so that its sender learns which one that was, whatever is wrong with it.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Deserializer, Value};

/// More than a request may have, and too short to be a burden in a reply.
const MAX_BYTES: usize = 4 * 1024;

/// As most readers do: of a key that comes twice the last one is taken, and what lies beside it is passed over, however deep.
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
