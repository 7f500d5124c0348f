//! The constraints of a field in people's words.

use countersign_core::form::FieldKind;
use serde_json::Number;

use crate::language::{say, t};

/// A short sentence such as `Whole number, 1 to 500`; empty if there is nothing to say.
pub fn demand(kind: &FieldKind) -> String {
    let parts = match kind {
        FieldKind::Text {
            format,
            min_length,
            max_length,
            ..
        } => vec![
            format.as_deref().and_then(format_words),
            length(*min_length, *max_length),
            form_of(kind).map(|_| t("in a certain form").to_owned()),
        ],
        FieldKind::Number {
            integer,
            min,
            max,
            step,
        } => vec![
            integer.then(|| t("whole number").to_owned()),
            range(min.as_ref(), max.as_ref()),
            step.as_ref().map(|step| say!("in steps of {step}", step = step)),
        ],
        FieldKind::Boolean | FieldKind::Choice(_) | FieldKind::Choices(_) => Vec::new(),
    };
    sentence(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// The form of a text as its agent wrote it: a pattern, or the name of a format that has no words here.
pub fn form_of(kind: &FieldKind) -> Option<&str> {
    let FieldKind::Text { format, pattern, .. } = kind else {
        return None;
    };
    let unknown = format.as_deref().filter(|format| !is_known(format));
    pattern.as_deref().or(unknown)
}

fn is_known(format: &str) -> bool {
    matches!(format, "date" | "time" | "date-time") || format_words(format).is_some()
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase());
    first.into_iter().flatten().chain(chars).collect()
}

/// `None` for the formats whose control says it all, and for unknown ones.
fn format_words(format: &str) -> Option<String> {
    let words = match format {
        "email" => t("email address"),
        "uri" => t("web address, such as https://example.com"),
        "hostname" => t("host name, such as example.com"),
        "ipv4" => t("IPv4 address, such as 192.0.2.1"),
        "ipv6" => t("IPv6 address, such as 2001:db8::1"),
        "uuid" => "UUID",
        _ => return None,
    };
    Some(words.to_owned())
}

fn length(min: Option<u64>, max: Option<u64>) -> Option<String> {
    match (min, max) {
        (None | Some(0 | 1), None) => None,
        (None | Some(0), Some(max)) => Some(say!("up to {max} characters", max = max)),
        (Some(min), None) => Some(say!("at least {min} characters", min = min)),
        (Some(min), Some(max)) => Some(say!("{min} to {max} characters", min = min, max = max)),
    }
}

fn range(min: Option<&Number>, max: Option<&Number>) -> Option<String> {
    match (min, max) {
        (Some(min), Some(max)) => Some(say!("{min} to {max}", min = min, max = max)),
        (Some(min), None) => Some(say!("{min} or more", min = min)),
        (None, Some(max)) => Some(say!("up to {max}", max = max)),
        (None, None) => None,
    }
}
