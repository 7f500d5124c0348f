//! The question of one item, asked line by line. An empty line goes back to the list.

use std::fmt::Write;

use anyhow::Result;
use serde_json::Value;

use super::super::answer::{Editor, Verdict};
use super::super::content::option_words;
use super::super::seen::Seen;
use super::asker::Asker;
use super::form;
use crate::item::{Action, Choices, Question, Step};
use crate::screen::{self, escape};

pub struct Answer {
    pub verdict: Verdict,
    pub comment: String,
}

const REJECT: &str = "r";
const OTHER: &str = "o";

/// Nothing when the person went back, or away.
pub async fn ask(seen: &Seen, presets: &[String], asker: &mut Asker) -> Result<Option<Answer>> {
    if !seen.may_respond() && !seen.may_decline() {
        screen::print("This one is not yours to answer.\n\n")?;
        return Ok(None);
    }
    asker.settle().await?;
    let item = &seen.item;
    let asked = match (&item.question, &item.action) {
        _ if !seen.may_respond() => decline_only(asker).await?,
        (Some(Question::Confirm(choices)), _) => one(choices, item.sensitive, asker).await?,
        (Some(Question::Select(choices)), _) if choices.many => many(choices, asker).await?,
        (Some(Question::Select(choices)), _) => one(choices, item.sensitive, asker).await?,
        (Some(Question::Text), _) => text(item.sensitive, asker).await?,
        (Some(Question::Form { schema }), _) => form::ask(schema, item.sensitive, asker).await?,
        (None, Some(action)) => task(action, asker).await?,
        (Some(Question::Unknown), _) | (None, None) => {
            screen::print("This version cannot answer this kind of question.\n")?;
            Asked::Back
        }
    };
    finish(seen, presets, asked, asker).await
}

pub enum Asked {
    Back,
    Reject,
    Decided(Verdict),
}

async fn finish(seen: &Seen, presets: &[String], asked: Asked, asker: &mut Asker) -> Result<Option<Answer>> {
    match asked {
        Asked::Back => Ok(None),
        Asked::Reject => reject(seen, presets, asker).await,
        Asked::Decided(verdict) => {
            let comment = asker.line("Comment (an empty line for none): ").await?;
            Ok(comment.map(|comment| Answer { verdict, comment }))
        }
    }
}

async fn decline_only(asker: &mut Asker) -> Result<Asked> {
    let line = asker.line("The asker takes no answer here: r declines, an empty line goes back. ").await?;
    Ok(if line.as_deref().map(str::trim) == Some(REJECT) { Asked::Reject } else { Asked::Back })
}

fn listed(choices: &Choices) -> String {
    let mut text = String::new();
    for (index, option) in choices.options.iter().enumerate() {
        let about = option.description.as_deref().map(|about| format!(": {}", escape(about))).unwrap_or_default();
        let _ = writeln!(text, "{:>3}. {}{about}", index + 1, option_words(&option.label, &option.value));
    }
    text
}

/// Numbers only: an agent chose the values and labels, and one of them may look like another's number.
async fn one(choices: &Choices, sensitive: bool, asker: &mut Asker) -> Result<Asked> {
    screen::print(&listed(choices))?;
    let other = if choices.allow_edit { ", o for other words" } else { "" };
    let prompt = format!("Your answer (a number{other}, r to reject; an empty line goes back): ");
    loop {
        let Some(line) = asker.line(&prompt).await? else { return Ok(Asked::Back) };
        match line.trim() {
            "" => return Ok(Asked::Back),
            REJECT => return Ok(Asked::Reject),
            OTHER if choices.allow_edit => return text(sensitive, asker).await,
            typed => match picked(typed, choices) {
                Some(value) => return Ok(Asked::Decided(Verdict::Answered(value.into()))),
                None => screen::print("There is no such number.\n")?,
            },
        }
    }
}

fn picked<'a>(typed: &str, choices: &'a Choices) -> Option<&'a str> {
    let index = typed.parse::<usize>().ok()?.checked_sub(1)?;
    choices.options.get(index).map(|option| option.value.as_str())
}

async fn many(choices: &Choices, asker: &mut Asker) -> Result<Asked> {
    screen::print(&listed(choices))?;
    loop {
        let prompt = "Your answer (numbers with spaces, r to reject; an empty line goes back): ";
        let Some(line) = asker.line(prompt).await? else { return Ok(Asked::Back) };
        match line.trim() {
            "" => return Ok(Asked::Back),
            REJECT => return Ok(Asked::Reject),
            typed => match some_picked(typed, choices) {
                Some(values) => return Ok(Asked::Decided(Verdict::Answered(values))),
                None => screen::print("Not all of these are numbers of the list.\n")?,
            },
        }
    }
}

fn some_picked(typed: &str, choices: &Choices) -> Option<Value> {
    let words = typed.split([' ', ',']).filter(|word| !word.is_empty());
    let mut values: Vec<&str> = words.map(|word| picked(word, choices)).collect::<Option<_>>()?;
    let mut known = std::collections::HashSet::new();
    values.retain(|value| known.insert(*value));
    Some(values.into())
}

async fn text(sensitive: bool, asker: &mut Asker) -> Result<Asked> {
    let prompt = "Your answer (one line, r to reject; an empty line goes back): ";
    let line = if sensitive { asker.hidden(prompt).await? } else { asker.line(prompt).await? };
    Ok(match line {
        None => Asked::Back,
        Some(line) if line.trim().is_empty() => Asked::Back,
        Some(line) if line.trim() == REJECT => Asked::Reject,
        Some(line) => Asked::Decided(Verdict::Answered(line.into())),
    })
}

async fn task(action: &Action, asker: &mut Asker) -> Result<Asked> {
    let mut steps = action.checklist.clone().unwrap_or_default();
    if !steps.is_empty() && !tick(&mut steps, asker).await? {
        return Ok(Asked::Back);
    }
    loop {
        let prompt = "c completes the task, r dismisses it with a reason; an empty line goes back: ";
        let Some(line) = asker.line(prompt).await? else { return Ok(Asked::Back) };
        match line.trim() {
            "" => return Ok(Asked::Back),
            "c" => return Ok(Asked::Decided(Verdict::Completed(steps))),
            REJECT => return Ok(Asked::Reject),
            _ => {}
        }
    }
}

/// False when the person has gone.
async fn tick(steps: &mut [Step], asker: &mut Asker) -> Result<bool> {
    for (index, step) in steps.iter().enumerate() {
        let done = if step.done { 'x' } else { ' ' };
        screen::print(&format!("{:>3}. [{done}] {}\n", index + 1, escape(&step.text)))?;
    }
    let Some(line) = asker.line("Which steps are done? (numbers with spaces, an empty line for none of them) ").await?
    else {
        return Ok(false);
    };
    for number in line.split([' ', ',']).filter_map(|word| word.parse::<usize>().ok()) {
        if let Some(step) = number.checked_sub(1).and_then(|index| steps.get_mut(index)) {
            step.done = true;
        }
    }
    Ok(true)
}

async fn reject(seen: &Seen, presets: &[String], asker: &mut Asker) -> Result<Option<Answer>> {
    let declined = seen.may_decline().then_some(Verdict::Declined);
    let Some(verdict) = Editor::of(seen).deny().or(declined) else {
        screen::print("The asker takes no refusal here.\n")?;
        return Ok(None);
    };
    for (index, reason) in presets.iter().enumerate() {
        screen::print(&format!("{:>3}. {}\n", index + 1, escape(reason)))?;
    }
    let Some(line) = asker.line("Why? (a number, or your own words; an empty line goes back) ").await? else {
        return Ok(None);
    };
    let preset = line.trim().parse::<usize>().ok().and_then(|number| presets.get(number.checked_sub(1)?));
    let comment = preset.map_or(line.trim(), String::as_str).to_owned();
    Ok((!comment.is_empty()).then_some(Answer { verdict, comment }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_are_picked_by_their_numbers_alone() {
        let options = json!([{"value": "2", "label": "1"}, {"value": "b", "label": "B"}]);
        let choices: Choices = serde_json::from_value(json!({ "options": options })).unwrap();
        assert_eq!(picked("1", &choices), Some("2"));
        assert_eq!(picked("2", &choices), Some("b"));
        for typed in ["0", "3", "b", "B", "-1"] {
            assert_eq!(picked(typed, &choices), None, "{typed}");
        }
        assert_eq!(some_picked("2, 1 2", &choices), Some(json!(["b", "2"])));
        assert_eq!(some_picked("1 x", &choices), None);
    }
}
