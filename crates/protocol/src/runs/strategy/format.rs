use serde_json::Value;

use super::{jsonc, yaml};
use crate::json::{self, JsonError};

/// The format of a strategy file, taken from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrategyFormat {
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    Yaml,
}

impl StrategyFormat {
    pub fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "jsonc" => Some(Self::Jsonc),
            "yaml" | "yml" => Some(Self::Yaml),
            _ => None,
        }
    }

    /// The name used in errors.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Json | Self::Jsonc => "JSON",
            Self::Yaml => "YAML",
        }
    }

    /// Parses to the same value for all formats. The error has line and column.
    pub(super) fn parse(self, text: &str) -> Result<Value, String> {
        match self {
            Self::Json => strict_json(text),
            Self::Jsonc => strict_json(&jsonc::without_comments(text)?),
            Self::Yaml => yaml::parse(text),
        }
    }
}

fn strict_json(text: &str) -> Result<Value, String> {
    json::parse_confidential(text.as_bytes()).map_err(|error| match error {
        JsonError::Refused { message } => place_first(message),
        JsonError::NotUtf8 { .. } => error.to_string(),
    })
}

/// Moves the position, which serde_json puts last, to the front.
fn place_first(message: String) -> String {
    match message.rsplit_once(" at line ") {
        Some((why, place)) => format!("line {place}: {why}"),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_name_determines_the_format() {
        for (path, format) in [
            ("a.json", Some(StrategyFormat::Json)),
            ("dir.yaml/a.jsonc", Some(StrategyFormat::Jsonc)),
            ("/x/y.z/a.yaml", Some(StrategyFormat::Yaml)),
            ("C:\\x\\A.YML", Some(StrategyFormat::Yaml)),
            (".json", Some(StrategyFormat::Json)),
            ("dir.json/strategy", None),
            ("a.toml", None),
            ("a.json5", None),
            ("json", None),
            ("", None),
        ] {
            assert_eq!(StrategyFormat::of_path(path), format, "{path}");
        }
    }

    #[test]
    fn a_syntax_error_starts_with_its_position() {
        assert_eq!(
            StrategyFormat::Json.parse("{\n \"a\": }").unwrap_err(),
            "line 2 column 7: expected value"
        );
        let twice = StrategyFormat::Json.parse("{\"a\":1,\n\"a\":2}").unwrap_err();
        assert_eq!(twice, "line 2 column 3: a key comes twice in one object");
        assert_eq!(
            StrategyFormat::Json.parse("").unwrap_err(),
            "line 1 column 0: EOF while parsing a value"
        );
    }

    #[test]
    fn comments_are_for_jsonc_only() {
        let text = "// a\n{\"a\": [1, 2,], /* b */}";
        assert!(StrategyFormat::Json.parse(text).is_err());
        assert_eq!(
            StrategyFormat::Jsonc.parse(text).unwrap(),
            serde_json::json!({"a": [1, 2]})
        );
    }
}
