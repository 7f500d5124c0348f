//! The constraints of a field in people's words.

use countersign_core::form::FieldKind;
use serde_json::Number;

/// A short sentence such as `Whole number, 1 to 500`; empty if there is nothing to say.
pub fn demand(kind: &FieldKind) -> String {
    let parts = match kind {
        FieldKind::Text {
            format,
            min_length,
            max_length,
            pattern,
            ..
        } => vec![
            format.as_deref().and_then(format_words),
            length(*min_length, *max_length),
            pattern.as_ref().map(|pattern| format!("must match {pattern}")),
        ],
        FieldKind::Number {
            integer,
            min,
            max,
            step,
        } => vec![
            integer.then(|| "whole number".to_owned()),
            range(min.as_ref(), max.as_ref()),
            step.as_ref().map(|step| format!("in steps of {step}")),
        ],
        FieldKind::Boolean | FieldKind::Choice(_) | FieldKind::Choices(_) => Vec::new(),
    };
    sentence(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// `None` for the formats whose control says it all.
fn format_words(format: &str) -> Option<String> {
    let words = match format {
        "date" | "time" | "date-time" => return None,
        "email" => "email address",
        "uri" => "web address, such as https://example.com",
        "hostname" => "host name, such as example.com",
        "ipv4" => "IPv4 address, such as 192.0.2.1",
        "ipv6" => "IPv6 address, such as 2001:db8::1",
        "uuid" => "UUID",
        other => return Some(format!("format: {other}")),
    };
    Some(words.to_owned())
}

fn length(min: Option<u64>, max: Option<u64>) -> Option<String> {
    match (min, max) {
        (None | Some(0 | 1), None) => None,
        (None | Some(0), Some(max)) => Some(format!("up to {max} characters")),
        (Some(min), None) => Some(format!("at least {min} characters")),
        (Some(min), Some(max)) => Some(format!("{min} to {max} characters")),
    }
}

fn range(min: Option<&Number>, max: Option<&Number>) -> Option<String> {
    match (min, max) {
        (Some(min), Some(max)) => Some(format!("{min} to {max}")),
        (Some(min), None) => Some(format!("{min} or more")),
        (None, Some(max)) => Some(format!("up to {max}")),
        (None, None) => None,
    }
}
