//! A form, one prompt per field. An invalid value is asked for again.

use anyhow::Result;
use countersign_client::item::ClientItem;
use countersign_client::screen::{self, escape};
use countersign_core::Rejection;
use countersign_core::form::{Field, FieldKind, check_all, fields, value_of};
use serde_json::{Map, Value};

use super::prompter::Prompter;
use super::refusal::{KEY, RefusalOption, offered};
use super::verdict::{self, OTHER, PromptResult};
use crate::answer::PersonDecision;

pub async fn ask(
    schema: &Value,
    item: &ClientItem,
    refusal: Option<&RefusalOption>,
    asker: &mut Prompter,
) -> Result<PromptResult> {
    let sensitive = item.sensitive;
    let other = verdict::other(item.open_ended);
    let prompt = format!("Enter fills in the form{other}{}, b goes back: ", offered(refusal));
    let Some(line) = asker.line(&prompt).await? else {
        return Ok(PromptResult::Back);
    };
    match line.trim() {
        "" => {}
        KEY if refusal.is_some() => return Ok(PromptResult::Refused),
        OTHER if item.open_ended => return verdict::text(item, refusal, asker).await,
        _ => return Ok(PromptResult::Back),
    }
    let fields = fields(schema);
    let mut answer = Map::new();
    for field in &fields {
        if !fill(schema, field, sensitive, &mut answer, asker).await? {
            return Ok(PromptResult::Back);
        }
    }
    let faults = check_all(schema, &Value::Object(answer.clone()));
    if faults.is_empty() {
        return Ok(PromptResult::Decided(PersonDecision::Answered(Value::Object(answer))));
    }
    for (name, message) in faults {
        screen::print(&format!(
            "Not sent: {}\n",
            escape(format!("{name}: {message}").trim_start_matches(": "))
        ))?;
    }
    Ok(PromptResult::Back)
}

/// Asks until the field is valid. Returns false if the input has ended.
async fn fill(
    schema: &Value,
    field: &Field,
    sensitive: bool,
    answer: &mut Map<String, Value>,
    asker: &mut Prompter,
) -> Result<bool> {
    let hidden = sensitive || field.sensitive;
    loop {
        let prompt = prompt(field, hidden);
        let line = if field.read_only {
            Some(String::new())
        } else if hidden {
            asker.hidden(&prompt).await?
        } else {
            asker.line(&prompt).await?
        };
        let Some(line) = line else { return Ok(false) };
        let fault = match value(field, &line, hidden) {
            Ok(Some(value)) => {
                answer.insert(field.name.clone(), value);
                fault(schema, field, answer)
            }
            Ok(None) => {
                answer.remove(&field.name);
                fault(schema, field, answer)
            }
            Err(Rejection::InvalidField { message, .. }) => Some(message),
            Err(other) => Some(other.to_string()),
        };
        match fault {
            // Input cannot change a read-only field, so asking again would never end.
            Some(_) if field.read_only => return Ok(true),
            Some(message) => screen::print(&format!("     {}\n", escape(&message)))?,
            None => return Ok(true),
        }
    }
}

/// Checks this field with the validator that checks the whole form.
fn fault(schema: &Value, field: &Field, answer: &Map<String, Value>) -> Option<String> {
    let faults = check_all(schema, &Value::Object(answer.clone()));
    faults
        .into_iter()
        .find(|(name, _)| *name == field.name)
        .map(|(_, message)| message)
}

fn prompt(field: &Field, hidden: bool) -> String {
    let required = if field.required { " *" } else { "" };
    let hidden_note = if hidden { ", hidden" } else { "" };
    let default = field
        .default
        .as_ref()
        .filter(|_| !hidden)
        .map(|default| format!(" [{}]", escape(&plain(default))));
    let mut text = format!("{}{required} ({}{hidden_note})", escape(&field.label), hint(field));
    text.push_str(&default.unwrap_or_default());
    if let Some(description) = &field.description {
        text = format!("{text}\n     {}", escape(description));
    }
    if let FieldKind::Choice(choices) | FieldKind::Choices(choices) = &field.kind {
        for (index, (_, label)) in choices.iter().enumerate() {
            text = format!("{text}\n{:>3}. {}", index + 1, escape(label));
        }
    }
    format!("{text}\n  > ")
}

fn hint(field: &Field) -> String {
    match &field.kind {
        FieldKind::Text {
            format: Some(format), ..
        } => escape(format),
        FieldKind::Text { format: None, .. } => "text".to_owned(),
        FieldKind::Number { integer: true, .. } => "a whole number".to_owned(),
        FieldKind::Number { integer: false, .. } => "a number".to_owned(),
        FieldKind::Boolean => "yes or no".to_owned(),
        FieldKind::Choice(_) => "the number of one".to_owned(),
        FieldKind::Choices(_) => "the numbers of any, with spaces".to_owned(),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// An empty line takes the shown default.
fn value(field: &Field, line: &str, hidden: bool) -> Result<Option<Value>, Rejection> {
    if line.is_empty()
        && !hidden
        && let Some(default) = &field.default
    {
        return Ok(Some(default.clone()));
    }
    let typed = match &field.kind {
        FieldKind::Text { .. } | FieldKind::Number { .. } => line.to_owned(),
        FieldKind::Boolean => match line.trim() {
            "yes" | "y" => "true".to_owned(),
            "no" | "n" => "false".to_owned(),
            other => other.to_owned(),
        },
        // Numbers start at one for people.
        FieldKind::Choice(_) => match line.trim().parse::<usize>() {
            Ok(number) => number
                .checked_sub(1)
                .map_or_else(|| "none".to_owned(), |index| index.to_string()),
            Err(_) => line.to_owned(),
        },
        FieldKind::Choices(_) => indexes(line),
    };
    value_of(field, Some(&typed))
}

/// Numbers start at one for people. Other words are passed on and refused later.
fn indexes(line: &str) -> String {
    let index = |word: &str| match word.parse::<usize>() {
        Ok(number) => number
            .checked_sub(1)
            .map_or_else(|| "none".to_owned(), |index| index.to_string()),
        Err(_) => word.to_owned(),
    };
    line.split([' ', ','])
        .filter(|word| !word.is_empty())
        .map(index)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(property: Value) -> Field {
        fields(&json!({"properties": {"it": property}})).remove(0)
    }

    #[test]
    fn input_is_converted_to_the_schemas_type() {
        let read = |property, line| value(&field(property), line, false).ok().flatten();
        assert_eq!(read(json!({"type": "boolean"}), "yes"), Some(json!(true)));
        assert_eq!(read(json!({"type": "boolean"}), "n"), Some(json!(false)));
        assert_eq!(read(json!({"type": "boolean"}), "perhaps"), None);
        assert_eq!(read(json!({"enum": ["eu", "us"]}), "2"), Some(json!("us")));
        for line in ["0", "3", "us"] {
            assert_eq!(read(json!({"enum": ["eu", "us"]}), line), None, "{line}");
        }
        let days = json!({"type": "array", "items": {"enum": ["mon", "tue", "wed"]}});
        assert_eq!(read(days.clone(), "3, 1"), Some(json!(["wed", "mon"])));
        for line in ["0", "4", "1 x"] {
            assert_eq!(read(days.clone(), line), None, "{line}");
        }
        assert_eq!(read(json!({"type": "integer"}), "12"), Some(json!(12)));
        assert_eq!(read(json!({"type": "string", "default": "x"}), ""), Some(json!("x")));
        assert_eq!(read(json!({"type": "string"}), ""), None);
    }

    #[test]
    fn a_hidden_default_is_neither_shown_nor_taken() {
        let secret = field(json!({"type": "string", "default": "4711", "x-a2h-sensitive": true}));
        assert!(!prompt(&secret, true).contains("4711"));
        assert_eq!(value(&secret, "", true), Ok(None));
    }
}
