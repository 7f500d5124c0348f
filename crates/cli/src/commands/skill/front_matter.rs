//! The front matter of a SKILL.md: the subset of YAML that skills use, without a YAML library.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

const FENCE: &str = "---";
const MAX_NAME_CHARS: usize = 64;
const MAX_DESCRIPTION_CHARS: usize = 1024;
const METADATA: &str = "metadata";

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
        let rest = text
            .strip_prefix("---\n")
            .context("the page must begin with a line of three hyphens")?;
        let (inner, body) = rest
            .split_once("\n---\n")
            .context("the front matter must end with a line of three hyphens")?;
        let (mut top, metadata) = entries(inner)?;
        let mut take = |key: &str| {
            top.remove(key)
                .with_context(|| format!("the front matter needs `{key}`"))
        };
        Ok((
            Self {
                name: take("name")?,
                description: take("description")?,
                metadata,
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

type Entries = BTreeMap<String, String>;

/// The top-level entries, and those below `metadata`. Other nested entries are ignored.
fn entries(text: &str) -> Result<(Entries, Entries)> {
    let mut top = Entries::new();
    let mut metadata = Entries::new();
    let mut parent = String::new();
    for line in text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    {
        let nested = line.starts_with([' ', '\t']);
        if nested && parent != METADATA {
            continue;
        }
        let (key, value) = line
            .split_once(':')
            .with_context(|| format!("front matter: {line:?} is not a `key: value` line"))?;
        let key = key.trim();
        let value = value.trim();
        if !nested {
            parent = key.to_owned();
            if value.is_empty() {
                continue;
            }
        }
        let target = if nested { &mut metadata } else { &mut top };
        let value = scalar(value).with_context(|| format!("front matter: `{key}`"))?;
        if target.insert(key.to_owned(), value).is_some() {
            bail!("front matter: `{key}` appears twice");
        }
    }
    Ok((top, metadata))
}

fn scalar(text: &str) -> Result<String> {
    if text.starts_with('"') {
        return serde_json::from_str(text).context("the text in double quotes cannot be read");
    }
    if let Some(inner) = text.strip_prefix('\'') {
        let inner = inner.strip_suffix('\'').context("the closing quote is missing")?;
        return Ok(inner.replace("''", "'"));
    }
    if text.starts_with(['|', '>', '[', '{', '&', '*', '!']) || text.contains(": ") || text.contains(" #") {
        bail!("write the value on one line, in double quotes");
    }
    Ok(text.to_owned())
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
        let text = "---\nname: x\n# a comment\ndescription: 'It''s plain'\nallowed-tools:\n  - Bash\nmetadata:\n  a: b\n---\nBody\n";
        let (front, body) = FrontMatter::split(text).unwrap();
        assert_eq!(
            (front.name.as_str(), front.description.as_str(), body),
            ("x", "It's plain", "Body\n")
        );
        assert_eq!(front.get("a"), Some("b"));
    }

    #[test]
    fn ambiguous_front_matter_is_refused() {
        for inner in [
            "name: x",
            "name: x\ndescription: |\n  long",
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
