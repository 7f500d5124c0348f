//! From the fields of the panel to the verdict they stand for.

use countersign_core::answer;
use countersign_core::form::{self, check_all, value_of};
use countersign_core::limits::check_comment;
use countersign_core::message::Task;
use countersign_core::question::Ask;
use countersign_core::{Content, Matter, Question, Rejection, Verdict};
use countersign_protocol::a2h::{CheckItem, Choice};
use serde_json::{Map, Value};

use super::faults::Faults;
use super::roles::denial;
use crate::inbox::web::form::Fields;

#[derive(Debug, PartialEq)]
pub struct Reading {
    pub verdict: Verdict,
    pub comment: Option<String>,
}

/// Says everything that is wrong at once; the core has the last word all the same.
pub fn read(content: &Content, fields: &Fields) -> Result<Reading, Faults> {
    let pressed = fields.get("verdict");
    let (verdict, comment) = match &content.matter {
        Matter::Ask(ask) => match pressed {
            Some("declined") => (Verdict::Declined, said(fields)),
            Some("denied") => (Verdict::Answered(denied(ask)?), said(fields)),
            // A choice of a confirm is a button of its own.
            Some("answered") | None => (Verdict::Answered(value(&ask.question, fields)?), said(fields)),
            Some(_) => return Err(no_button()),
        },
        Matter::Task(task) => match pressed {
            Some("completed") => (Verdict::Completed(ticked(task, fields)), said(fields)),
            Some("dismissed") => (Verdict::Dismissed(ticked(task, fields)), said(fields)),
            Some(_) | None => return Err(no_button()),
        },
        Matter::Notify => return Err(Faults::one("", "a notice wants no answer")),
    };
    let comment = Some(comment).filter(|comment| !comment.is_empty());
    if let Some(Err(rejection)) = comment.as_deref().map(check_comment) {
        return Err(Faults::one("comment", message_of(rejection)));
    }
    Ok(Reading { verdict, comment })
}

fn no_button() -> Faults {
    Faults::one("", "press one of the buttons")
}

/// Browsers send line breaks in the way of mail; agents get them in the way of everybody else.
pub fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The reason that was picked, the one that was written, and the comment: whichever button was pressed, the agent gets
/// all of it.
fn said(fields: &Fields) -> String {
    let said = ["preset", "reason", "comment"].map(|name| lines(fields.text(name)).trim().to_owned());
    said.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn denied(ask: &Ask) -> Result<Value, Faults> {
    let choice = denial(&ask.question).ok_or_else(|| Faults::one("", "there is nothing to deny here: decline"))?;
    Ok(choice.value.as_str().into())
}

fn value(question: &Question, fields: &Fields) -> Result<Value, Faults> {
    let value = match question {
        Question::Confirm { options, allow_edit } | Question::Select { options, allow_edit, many: false } => {
            one(options, *allow_edit, fields)?
        }
        Question::Select { options, many: true, .. } => {
            fields.all("value").map(|picked| offered(options, picked)).collect()
        }
        Question::Text => lines(fields.text("value")).into(),
        Question::Form { schema } => return filled_in(schema, fields),
    };
    answer::check(question, &value).map_err(|rejection| Faults::one("value", message_of(rejection)))?;
    Ok(value)
}

/// Picked or written, never both: nobody could say which of the two was meant.
fn one(options: &[Choice], allow_edit: bool, fields: &Fields) -> Result<Value, Faults> {
    let picked = fields.get("value").filter(|picked| !picked.is_empty());
    let written = Some(lines(fields.text("typed"))).filter(|typed| allow_edit && !typed.trim().is_empty());
    match (picked, written) {
        (Some(_), Some(_)) => Err(Faults::one(
            "typed",
            "you picked a choice and wrote an answer of your own: empty this, or send only this",
        )),
        (Some(picked), None) => Ok(offered(options, picked)),
        (None, Some(written)) => Ok(written.into()),
        (None, None) if allow_edit => Err(Faults::one("value", "pick a choice, or write an answer of your own")),
        (None, None) => Err(Faults::one("value", "pick a choice")),
    }
}

/// The value of a choice as the asker spelled it: on its way through a form its line breaks may have changed.
fn offered(options: &[Choice], picked: &str) -> Value {
    let is_it = |option: &&Choice| option.value == picked || lines(&option.value) == lines(picked);
    options.iter().find(is_it).map_or(picked, |option| &option.value).into()
}

/// The name under which a field of a form is sent.
pub fn control(name: &str) -> String {
    format!("field.{name}")
}

fn filled_in(schema: &Value, fields: &Fields) -> Result<Value, Faults> {
    let (mut answer, mut faults) = (Map::new(), Faults::default());
    for field in form::fields(schema) {
        let control = control(&field.name);
        let typed = fields.get(&control).map(lines);
        match value_of(&field, typed.as_deref()) {
            Ok(Some(value)) => drop(answer.insert(field.name, value)),
            Ok(None) => {}
            Err(rejection) => faults.add(control, message_of(rejection)),
        }
    }
    let answer = Value::Object(answer);
    let unread = faults.clone();
    for (name, message) in check_all(schema, &answer) {
        let control = if name.is_empty() { name } else { control(&name) };
        if unread.of(&control).is_empty() {
            faults.add(control, message);
        }
    }
    if faults.is_empty() { Ok(answer) } else { Err(faults) }
}

/// The task's own items, each ticked or not. Nothing where there is no list.
fn ticked(task: &Task, fields: &Fields) -> Option<Vec<CheckItem>> {
    let done: Vec<usize> = fields.all("done").filter_map(|index| index.parse().ok()).collect();
    let items = task.checklist.iter().enumerate();
    let items = items.map(|(index, item)| CheckItem { text: item.text.clone(), done: done.contains(&index) });
    Some(items.collect()).filter(|items: &Vec<CheckItem>| !items.is_empty())
}

fn message_of(rejection: Rejection) -> String {
    match rejection {
        Rejection::InvalidField { message, .. } => message,
        other @ (Rejection::NotApplicable(_)
        | Rejection::NotAuthorized(_)
        | Rejection::AlreadyTerminal { .. }
        | Rejection::NotDue) => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
