//! The question of one item, asked line by line. An empty line goes back to the list.

use std::fmt::Write;

use anyhow::Result;
use serde_json::Value;

use super::super::answer::Verdict;
use super::super::content::option_words;
use super::super::seen::Seen;
use super::asker::Asker;
use super::form;
use super::refusal::{KEY, Refusal, because, offered};
use crate::item::{Action, Choices, Item, Question, Step};
use crate::screen::{self, escape};

pub struct Answer {
    pub verdict: Verdict,
    pub comment: String,
}

pub const OTHER: &str = "o";

/// For a prompt that has said what else may be typed.
pub fn other(is_taken: bool) -> &'static str {
    if is_taken { ", o for other words" } else { "" }
}

/// Nothing when the person went back, or away.
pub async fn ask(seen: &Seen, presets: &[String], asker: &mut Asker) -> Result<Option<Answer>> {
    if !seen.may_respond() && !seen.may_decline() {
        screen::print(closed(seen))?;
        return Ok(None);
    }
    asker.settle().await?;
    let refusal = Refusal::of(seen);
    match put(seen, refusal.as_ref(), asker).await? {
        Asked::Back => Ok(None),
        Asked::Refused => match refusal {
            Some(refusal) => because(refusal.verdict, presets, asker).await,
            None => Ok(None),
        },
        Asked::Dismissed(steps) => because(Verdict::Dismissed(steps), presets, asker).await,
        Asked::Decided(verdict) => {
            let comment = asker.line("Comment (an empty line for none): ").await?;
            Ok(comment.map(|comment| Answer { verdict, comment }))
        }
    }
}

pub enum Asked {
    Back,
    /// Only where there is something to refuse with.
    Refused,
    Dismissed(Vec<Step>),
    Decided(Verdict),
}

fn closed(seen: &Seen) -> &'static str {
    if seen.item.can_answer {
        "The asker takes neither an answer nor a refusal here.\n\n"
    } else {
        "This one is not yours to answer.\n\n"
    }
}

async fn put(seen: &Seen, refusal: Option<&Refusal>, asker: &mut Asker) -> Result<Asked> {
    let item = &seen.item;
    match (&item.question, &item.action) {
        _ if !seen.may_respond() => refuse_only("The asker takes no answer here", refusal, asker).await,
        (Some(Question::Confirm(choices)), _) => one(choices, item, refusal, asker).await,
        (Some(Question::Select(choices)), _) if choices.many => many(choices, item, refusal, asker).await,
        (Some(Question::Select(choices)), _) => one(choices, item, refusal, asker).await,
        (Some(Question::Text), _) => text(item, refusal, asker).await,
        (Some(Question::Form { schema }), _) => form::ask(schema, item, refusal, asker).await,
        (None, Some(action)) => task(action, asker).await,
        (Some(Question::Unknown), _) if item.open_ended => text(item, refusal, asker).await,
        (Some(Question::Unknown), _) | (None, None) => {
            refuse_only("This version cannot answer this kind of question", refusal, asker).await
        }
    }
}

async fn refuse_only(why: &str, refusal: Option<&Refusal>, asker: &mut Asker) -> Result<Asked> {
    if refusal.is_none() {
        screen::print(&format!("{why}.\n"))?;
        return Ok(Asked::Back);
    }
    let prompt = format!("{why}{}; an empty line goes back: ", offered(refusal));
    let line = asker.line(&prompt).await?;
    Ok(if line.as_deref().map(str::trim) == Some(KEY) {
        Asked::Refused
    } else {
        Asked::Back
    })
}

fn listed(choices: &Choices) -> String {
    let mut text = String::new();
    for (index, option) in choices.options.iter().enumerate() {
        let about = option
            .description
            .as_deref()
            .map(|about| format!(": {}", escape(about)))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "{:>3}. {}{about}",
            index + 1,
            option_words(&option.label, &option.value)
        );
    }
    text
}

/// Numbers only: an agent chose the values and labels, and one of them may look like another's number.
async fn one(choices: &Choices, item: &Item, refusal: Option<&Refusal>, asker: &mut Asker) -> Result<Asked> {
    screen::print(&listed(choices))?;
    let takes_text = choices.allow_edit || item.open_ended;
    let other = other(takes_text);
    let no = offered(refusal);
    let prompt = format!("Your answer (a number{other}{no}; an empty line goes back): ");
    loop {
        let Some(line) = asker.line(&prompt).await? else {
            return Ok(Asked::Back);
        };
        match line.trim() {
            "" => return Ok(Asked::Back),
            KEY if refusal.is_some() => return Ok(Asked::Refused),
            OTHER if takes_text => return text(item, refusal, asker).await,
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

async fn many(choices: &Choices, item: &Item, refusal: Option<&Refusal>, asker: &mut Asker) -> Result<Asked> {
    screen::print(&listed(choices))?;
    let other = other(item.open_ended);
    let no = offered(refusal);
    let prompt = format!("Your answer (numbers with spaces{other}{no}; an empty line goes back): ");
    loop {
        let Some(line) = asker.line(&prompt).await? else {
            return Ok(Asked::Back);
        };
        match line.trim() {
            "" => return Ok(Asked::Back),
            KEY if refusal.is_some() => return Ok(Asked::Refused),
            OTHER if item.open_ended => return text(item, refusal, asker).await,
            typed => match some_picked(typed, choices) {
                Some(values) => return Ok(Asked::Decided(Verdict::Answered(values))),
                None => screen::print("Not all of these are numbers of the list.\n")?,
            },
        }
    }
}

fn some_picked(typed: &str, choices: &Choices) -> Option<Value> {
    let mut values: Vec<&str> = words(typed).map(|word| picked(word, choices)).collect::<Option<_>>()?;
    let mut known = std::collections::HashSet::new();
    values.retain(|value| known.insert(*value));
    (!values.is_empty()).then(|| values.into())
}

fn words(typed: &str) -> impl Iterator<Item = &str> {
    typed.split([' ', ',']).filter(|word| !word.is_empty())
}

/// What is typed for an answer without any words, where that is one.
const NOTHING: &str = "\"\"";

pub async fn text(item: &Item, refusal: Option<&Refusal>, asker: &mut Asker) -> Result<Asked> {
    let nothing = if item.takes_nothing() {
        ", \"\" for an empty one"
    } else {
        ""
    };
    let prompt = format!(
        "Your answer (one line{nothing}{}; an empty line goes back): ",
        offered(refusal)
    );
    let line = if item.sensitive {
        asker.hidden(&prompt).await?
    } else {
        asker.line(&prompt).await?
    };
    Ok(match line {
        None => Asked::Back,
        Some(line) if line.trim().is_empty() => Asked::Back,
        Some(line) if line.trim() == NOTHING && item.takes_nothing() => Asked::Decided(Verdict::Answered("".into())),
        Some(line) if line.trim() == KEY && refusal.is_some() => Asked::Refused,
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
        let Some(line) = asker.line(prompt).await? else {
            return Ok(Asked::Back);
        };
        match line.trim() {
            "" => return Ok(Asked::Back),
            "c" => return Ok(Asked::Decided(Verdict::Completed(steps))),
            KEY => return Ok(Asked::Dismissed(steps)),
            _ => {}
        }
    }
}

/// False when the person has gone.
async fn tick(steps: &mut [Step], asker: &mut Asker) -> Result<bool> {
    let prompt = "Which steps are done? (numbers with spaces, again to untick; an empty line changes nothing) ";
    screen::print(&checklist(steps))?;
    loop {
        let Some(line) = asker.line(prompt).await? else {
            return Ok(false);
        };
        match ticked(&line, steps) {
            Some(changed) if changed.is_empty() => return Ok(true),
            Some(changed) => {
                changed
                    .into_iter()
                    .for_each(|index| steps[index].done = !steps[index].done);
                screen::print(&checklist(steps))?;
                return Ok(true);
            }
            None => screen::print("Not all of these are numbers of the list.\n")?,
        }
    }
}

fn checklist(steps: &[Step]) -> String {
    let line = |(index, step): (usize, &Step)| {
        format!(
            "{:>3}. [{}] {}\n",
            index + 1,
            if step.done { 'x' } else { ' ' },
            escape(&step.text)
        )
    };
    steps.iter().enumerate().map(line).collect()
}

/// The places of the steps that were named, each once.
fn ticked(typed: &str, steps: &[Step]) -> Option<std::collections::BTreeSet<usize>> {
    let place = |word: &str| {
        word.parse::<usize>()
            .ok()?
            .checked_sub(1)
            .filter(|index| *index < steps.len())
    };
    words(typed).map(place).collect()
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
        assert_eq!(some_picked(",", &choices), None);
    }

    #[test]
    fn steps_are_ticked_by_numbers_that_are_there() {
        let steps = ["a", "b"].map(|text| Step {
            text: text.to_owned(),
            done: false,
        });
        assert_eq!(ticked(" 2 2, 1 ", &steps), Some([0, 1].into()));
        assert_eq!(ticked("", &steps), Some([].into()));
        for typed in ["12", "0", "b"] {
            assert_eq!(ticked(typed, &steps), None, "{typed}");
        }
    }
}
