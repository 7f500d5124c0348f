//! The front matter of a SKILL.md.

use std::collections::BTreeMap;

use anyhow::{Context, Error, Result};
use countersign_protocol::runs::strategy::parse_yaml;
use serde_json::Value;

const FENCE: &str = "---";
const MAX_NAME_CHARS: usize = 64;
const MAX_DESCRIPTION_CHARS: usize = 1024;

#[derive(Debug, Clone, PartialEq)]
pub struct FrontMatter {
    pub name: String,
    pub description: String,
    pub metadata: BTreeMap<String, String>,
}

impl FrontMatter {
    /// Values are written as JSON strings, which every YAML reader understands.
    pub fn to_text(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut text = format!(
            "{FENCE}\nname: {}\ndescription: {}\n",
            self.name,
            quoted(&self.description)
        );
        if !self.metadata.is_empty() {
            text.push_str("metadata:\n");
            text.extend(
                self.metadata
                    .iter()
                    .map(|(key, value)| format!("  {key}: {}\n", quoted(value))),
            );
        }
        text + FENCE + "\n"
    }

    /// The front matter and the text after it.
    pub fn split(text: &str) -> Result<(Self, &str)> {
        text.strip_prefix("---\n")
            .context("the page must begin with a line of three hyphens")?;
        let (front, body) = text
            .split_once("\n---\n")
            .context("the front matter must end with a line of three hyphens")?;
        let front = parse_yaml(front).map_err(|why| Error::msg(format!("front matter: {why}")))?;
        let required = |key: &str| {
            let value = front.get(key).and_then(scalar);
            value.with_context(|| format!("the front matter needs `{key}`"))
        };
        let metadata = front.get("metadata").and_then(Value::as_object);
        let metadata = metadata.into_iter().flatten();
        Ok((
            Self {
                name: required("name")?,
                description: required("description")?,
                metadata: metadata
                    .filter_map(|(key, value)| Some((key.clone(), scalar(value)?)))
                    .collect(),
            },
            body,
        ))
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    pub fn required(&self, key: &str) -> Result<&str> {
        self.get(key)
            .with_context(|| format!("the metadata of the front matter needs `{key}`"))
    }

    /// The limits that skill installers set for names and descriptions.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let hyphens = self.name.starts_with('-') || self.name.ends_with('-') || self.name.contains("--");
        if self.name.is_empty() || self.name.len() > MAX_NAME_CHARS || hyphens || !self.name.bytes().all(plain) {
            faults.push(format!(
                "name: use 1 to {MAX_NAME_CHARS} lower case letters, digits and single hyphens"
            ));
        }
        let length = self.description.chars().count();
        if self.description.trim().is_empty() || length > MAX_DESCRIPTION_CHARS {
            faults.push(format!(
                "description: use 1 to {MAX_DESCRIPTION_CHARS} characters, not {length}"
            ));
        }
        if self.description.contains(['<', '>']) {
            faults.push("description: leave out < and >".to_owned());
        }
        faults
    }
}

/// The text of a scalar; authors leave numbers and truth values without quotes.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_reads_back_as_it_was_written() {
        let metadata = [("countersign-hub".to_owned(), "https://hub.example".to_owned())].into();
        let front = FrontMatter {
            name: "acme-ask".into(),
            description: "Say \"yes\": or no # really".into(),
            metadata,
        };
        let text = front.to_text() + "# Body\n\n---\n";
        assert_eq!(FrontMatter::split(&text).unwrap(), (front, "# Body\n\n---\n"));
    }

    #[test]
    fn the_usual_yaml_of_other_authors_is_read() {
        let text = "---\nname: x\n# a comment\ndescription: 'It''s plain'\nallowed-tools:\n  - Bash\nmetadata:\n  a: b\n  version: 2\n---\nBody\n";
        let (front, body) = FrontMatter::split(text).unwrap();
        assert_eq!(
            (front.name.as_str(), front.description.as_str(), body),
            ("x", "It's plain", "Body\n")
        );
        assert_eq!((front.get("a"), front.get("version")), (Some("b"), Some("2")));
        let text = "---\nname: x\ndescription: >-\n  two\n  lines\n---\n";
        assert_eq!(FrontMatter::split(text).unwrap().0.description, "two lines");
    }

    #[test]
    fn ambiguous_front_matter_is_refused() {
        for inner in [
            "name: x",
            "name: x\ndescription: *alias",
            "name: x\ndescription: a: b",
            "name: x\nname: y\ndescription: d",
            "name: x\ndescription: \"open",
            "name: x\ndescription: 'open",
            "name: x\ndescription: d\nwords",
        ] {
            assert!(
                FrontMatter::split(&format!("---\n{inner}\n---\nBody\n")).is_err(),
                "{inner}"
            );
        }
        for text in ["", "name: x", "---\nname: x\ndescription: d\n"] {
            assert!(FrontMatter::split(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_and_descriptions_have_limits() {
        let faults = |name: &str, description: &str| {
            FrontMatter {
                name: name.into(),
                description: description.into(),
                metadata: BTreeMap::new(),
            }
            .faults()
            .len()
        };
        assert_eq!(faults("acme-ask", "d"), 0);
        assert_eq!(faults(&"a".repeat(64), &"d".repeat(1024)), 0);
        for name in ["", "Acme", "-a", "a-", "a--b", "a_b", &"a".repeat(65)] {
            assert_eq!(faults(name, "d"), 1, "{name}");
        }
        for description in ["", " ", "a <b>", &"d".repeat(1025)] {
            assert_eq!(faults("a", description), 1, "{description}");
        }
    }
}
