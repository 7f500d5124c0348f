//! Parses the fields of the answer form into a verdict.

use countersign_core::form::{self, Field, FieldKind, check_all, value_of};
use countersign_core::limits::check_comment;
use countersign_core::message::{FileNote, Task};
use countersign_core::question::{self, Ask};
use countersign_core::{Content, Payload, Question, Rejection, Verdict};
use countersign_protocol::a2h::{CheckItem, Choice};
use serde_json::{Map, Value};

use super::form_errors::FormErrors;
use super::local_time::zoned;
use super::roles::denial;
use crate::language::{counted, say, t};
use crate::layout::form::FormFields;

/// The input that confirms open steps, and the name of its error.
pub const OPEN_STEPS: &str = "open_steps";

#[derive(Debug, PartialEq)]
pub struct ParsedAnswer {
    pub verdict: Verdict,
    pub comment: Option<String>,
}

/// Returns all errors at once. The core still validates the verdict afterwards.
pub fn parse_answer(content: &Content, fields: &FormFields, files: &[FileNote]) -> Result<ParsedAnswer, FormErrors> {
    let pressed = fields.get("verdict");
    let (verdict, comment) = match &content.payload {
        Payload::Ask(ask) => match pressed {
            Some("declined") if !files.is_empty() => return Err(no_answer_for(files)),
            Some("declined") => (Verdict::Declined, comment_text(fields)),
            Some("denied") => (answered(denied(ask)?, files), comment_text(fields)),
            // The choices of a confirm are submit buttons, so `verdict` may be absent.
            Some("answered") | None => (
                answered(value(ask, fields, !files.is_empty())?, files),
                comment_text(fields),
            ),
            Some(_) => return Err(no_button()),
        },
        Payload::Task(task) => match pressed {
            Some("completed") => (Verdict::Completed(completed(task, fields)?), comment_text(fields)),
            Some("dismissed") => (Verdict::Dismissed(ticked(task, fields)), comment_text(fields)),
            Some(_) | None => return Err(no_button()),
        },
        Payload::Notify => return Err(FormErrors::single("", "a notice needs no answer")),
    };
    let comment = Some(comment).filter(|comment| !comment.is_empty());
    if let Some(Err(rejection)) = comment.as_deref().map(check_comment) {
        return Err(FormErrors::single("comment", message_of(rejection)));
    }
    Ok(ParsedAnswer { verdict, comment })
}

fn no_button() -> FormErrors {
    FormErrors::single("", "press one of the buttons")
}

fn no_answer_for(files: &[FileNote]) -> FormErrors {
    let what = files.first().map_or(t("a file"), |file| &file.name);
    FormErrors::single(
        "files",
        say!(
            "{file} can only be sent with an answer: remove it, or answer",
            file = what
        ),
    )
}

fn answered(value: Value, files: &[FileNote]) -> Verdict {
    if files.is_empty() {
        Verdict::Answered(value)
    } else {
        Verdict::AnsweredWith {
            value,
            files: files.to_vec(),
        }
    }
}

/// Browsers send CRLF line breaks; agents get LF.
pub fn normalize_newlines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Joins the picked reason, the typed reason and the comment. The agent gets all three, for every button.
fn comment_text(fields: &FormFields) -> String {
    let comment_text =
        ["preset", "reason", "comment"].map(|name| normalize_newlines(fields.text(name)).trim().to_owned());
    comment_text
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn denied(ask: &Ask) -> Result<Value, FormErrors> {
    let choice = denial(&ask.question)
        .ok_or_else(|| FormErrors::single("", "this question has no choice that says no; skip it instead"))?;
    Ok(choice.value.as_str().into())
}

/// Reads the answer, which is either picked, filled in or typed. Two of them at once are an error, because it would be
/// unclear which one was meant.
fn value(ask: &Ask, fields: &FormFields, has_files: bool) -> Result<Value, FormErrors> {
    if let Some(written) = written(ask, fields) {
        return match &ask.question {
            Question::Confirm { .. } | Question::Select { .. } if picked(fields).next().is_some() => {
                Err(FormErrors::single("typed", question::PICKED_AND_WROTE))
            }
            Question::Form { schema } if is_filled_in(schema, fields) => {
                Err(FormErrors::single("typed", question::FILLED_IN_AND_WROTE))
            }
            Question::Confirm { .. } | Question::Select { .. } | Question::Text | Question::Form { .. } => {
                checked(ask, written.into(), has_files, "typed")
            }
        };
    }
    let value = match &ask.question {
        Question::Confirm { options, .. }
        | Question::Select {
            options, many: false, ..
        } => single_choice(ask, options, fields, has_files)?,
        // Files alone may be the answer, here and below.
        Question::Select { .. } if has_files && picked(fields).next().is_none() => "".into(),
        Question::Select { options, .. } => picked(fields).map(|picked| offered(options, picked)).collect(),
        Question::Text => normalize_newlines(fields.text("value")).into(),
        Question::Form { schema } if has_files && !is_filled_in(schema, fields) => {
            filled_in(schema, fields).unwrap_or_else(|_| "".into())
        }
        Question::Form { schema } => return filled_in(schema, fields),
    };
    checked(ask, value, has_files, "value")
}

fn checked(ask: &Ask, value: Value, has_files: bool, input_name: &str) -> Result<Value, FormErrors> {
    let fits = question::check_ask(ask, &value, has_files);
    fits.map_err(|rejection| FormErrors::single(input_name, message_of(rejection)))?;
    Ok(value)
}

fn picked(fields: &FormFields) -> impl Iterator<Item = &str> {
    fields.all("value").filter(|picked| !picked.is_empty())
}

/// True if the person may answer in own words besides the offered choices.
pub fn takes_own_words(ask: &Ask) -> bool {
    match ask.question {
        Question::Confirm { allow_edit, .. }
        | Question::Select {
            allow_edit,
            many: false,
            ..
        } => allow_edit || ask.open_ended,
        Question::Select { many: true, .. } | Question::Form { .. } => ask.open_ended,
        Question::Text => false,
    }
}

fn written(ask: &Ask, fields: &FormFields) -> Option<String> {
    Some(normalize_newlines(fields.text("typed"))).filter(|typed| takes_own_words(ask) && !typed.trim().is_empty())
}

fn single_choice(ask: &Ask, options: &[Choice], fields: &FormFields, has_files: bool) -> Result<Value, FormErrors> {
    match picked(fields).next() {
        Some(picked) => Ok(offered(options, picked)),
        None if has_files => Ok("".into()),
        None if takes_own_words(ask) => Err(FormErrors::single(
            "value",
            "pick a choice, or write an answer of your own",
        )),
        None => Err(FormErrors::single("value", "pick a choice")),
    }
}

/// The value of a choice exactly as the asker sent it: browsers may change its line breaks.
fn offered(options: &[Choice], picked: &str) -> Value {
    let is_it =
        |option: &&Choice| option.value == picked || normalize_newlines(&option.value) == normalize_newlines(picked);
    options.iter().find(is_it).map_or(picked, |option| &option.value).into()
}

/// The input name of a form field.
pub fn input_name(name: &str) -> String {
    format!("field.{name}")
}

/// The submitted value of a field; multiple choices as indices separated by blanks, as the core parses them.
pub fn submitted_value(field: &Field, fields: &FormFields) -> Option<String> {
    let name = input_name(&field.name);
    match field.kind {
        FieldKind::Choices(_) => {
            let picked: Vec<&str> = fields.all(&name).filter(|index| !index.is_empty()).collect();
            (!picked.is_empty()).then(|| picked.join(" "))
        }
        FieldKind::Text { .. } => fields
            .get(&name)
            .map(|typed| zoned(field, fields, normalize_newlines(typed))),
        FieldKind::Number { .. } | FieldKind::Boolean | FieldKind::Choice(_) => {
            fields.get(&name).map(normalize_newlines)
        }
    }
}

/// True if the person changed a field from its default.
fn is_filled_in(schema: &Value, fields: &FormFields) -> bool {
    form::fields(schema)
        .iter()
        .filter(|field| !field.read_only)
        .any(|field| {
            let sent = submitted_value(field, fields).filter(|sent| !sent.trim().is_empty());
            sent.is_some_and(|sent| match value_of(field, Some(&sent)) {
                Ok(value) => value != field.default,
                Err(_) => true,
            })
        })
}

fn filled_in(schema: &Value, fields: &FormFields) -> Result<Value, FormErrors> {
    let mut answer = Map::new();
    let mut faults = FormErrors::default();
    for field in form::fields(schema) {
        let input_name = input_name(&field.name);
        let typed = submitted_value(&field, fields);
        match value_of(&field, typed.as_deref()) {
            Ok(Some(value)) => drop(answer.insert(field.name, value)),
            Ok(None) => {}
            Err(rejection) => faults.add(input_name, message_of(rejection)),
        }
    }
    let answer = Value::Object(answer);
    let unread = faults.clone();
    for (name, message) in check_all(schema, &answer) {
        let input_name = if name.is_empty() { name } else { input_name(&name) };
        if unread.of(&input_name).is_empty() {
            faults.add(input_name, message);
        }
    }
    if faults.is_empty() { Ok(answer) } else { Err(faults) }
}

/// Completing a task with open steps needs a second press, because a person may have overlooked them.
fn completed(task: &Task, fields: &FormFields) -> Result<Option<Vec<CheckItem>>, FormErrors> {
    let steps = ticked(task, fields);
    let open = steps.iter().flatten().filter(|step| !step.done).count();
    match open {
        0 => Ok(steps),
        _ if fields.text(OPEN_STEPS) == "yes" => Ok(steps),
        open => {
            let message = counted(open, "1 step is open", "{count} steps are open");
            Err(FormErrors::single(OPEN_STEPS, message))
        }
    }
}

/// The checklist of the task with the ticks of the person; `None` if the task has no checklist.
fn ticked(task: &Task, fields: &FormFields) -> Option<Vec<CheckItem>> {
    let done: Vec<usize> = fields.all("done").filter_map(|index| index.parse().ok()).collect();
    let items = task.checklist.iter().enumerate();
    let items = items.map(|(index, item)| CheckItem {
        text: item.text.clone(),
        done: done.contains(&index),
    });
    Some(items.collect()).filter(|items: &Vec<CheckItem>| !items.is_empty())
}

fn message_of(rejection: Rejection) -> String {
    match rejection {
        Rejection::InvalidField { message, .. } => message,
        other @ (Rejection::NotApplicable(_)
        | Rejection::NotAuthorized(_)
        | Rejection::AlreadyTerminal { .. }
        | Rejection::NotDue
        | Rejection::Held { .. }
        | Rejection::NotHeld) => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
