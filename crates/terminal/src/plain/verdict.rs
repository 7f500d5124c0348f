//! Asks one item's question line by line. An empty line goes back to the list.

use std::fmt::Write;

use anyhow::Result;
use countersign_client::item::{ClientItem, open_steps};
use countersign_client::screen::{self, escape};
use countersign_core::vocabulary::Action;
use countersign_protocol::api::inbox::{ChecklistStep, Choices, ItemQuestion, TaskDetails};
use serde_json::Value;

use super::form;
use super::prompter::Prompter;
use super::refusal::{KEY, RefusalOption, ask_reason, offered};
use crate::answer::PersonDecision;
use crate::content::option_label;
use crate::inbox_entry::InboxEntry;

pub struct PlainAnswer {
    pub verdict: PersonDecision,
    pub comment: String,
}

pub const OTHER: &str = "o";

/// The free text part of a prompt.
pub fn other(is_taken: bool) -> &'static str {
    if is_taken { ", o for other words" } else { "" }
}

/// Returns `None` if the person went back or the input ended.
pub async fn ask(entry: &InboxEntry, presets: &[String], asker: &mut Prompter) -> Result<Option<PlainAnswer>> {
    if !entry.may_respond() && !entry.may_decline() {
        screen::print(closed(entry))?;
        return Ok(None);
    }
    asker.discard_early_keys().await?;
    let refusal = RefusalOption::of(entry);
    match ask_question(entry, refusal.as_ref(), asker).await? {
        PromptResult::Back => Ok(None),
        PromptResult::Refused => match refusal {
            Some(refusal) => ask_reason(refusal.verdict, presets, asker).await,
            None => Ok(None),
        },
        PromptResult::Dismissed(steps) => ask_reason(PersonDecision::Dismissed(steps), presets, asker).await,
        PromptResult::Decided(verdict) => {
            let comment = asker.line("Comment (an empty line for none): ").await?;
            Ok(comment.map(|comment| PlainAnswer { verdict, comment }))
        }
    }
}

pub enum PromptResult {
    Back,
    /// Only if there is a way to refuse.
    Refused,
    Dismissed(Vec<ChecklistStep>),
    Decided(PersonDecision),
}

fn closed(entry: &InboxEntry) -> &'static str {
    if entry.item.can_answer {
        "The asker takes neither an answer nor a refusal here.\n\n"
    } else if entry.item.held.is_some() {
        "Another answer is on hold. Look again in a moment.\n\n"
    } else {
        "This one is not yours to answer.\n\n"
    }
}

async fn ask_question(
    entry: &InboxEntry,
    refusal: Option<&RefusalOption>,
    asker: &mut Prompter,
) -> Result<PromptResult> {
    let item = &entry.item;
    match (&item.question, &item.action) {
        _ if !entry.may_respond() => refuse_only("The asker takes no answer here", refusal, asker).await,
        (Some(ItemQuestion::Confirm(choices)), _) => one(choices, item, refusal, asker).await,
        (Some(ItemQuestion::Select(choices)), _) if choices.many => many(choices, item, refusal, asker).await,
        (Some(ItemQuestion::Select(choices)), _) => one(choices, item, refusal, asker).await,
        (Some(ItemQuestion::Text), _) => text(item, refusal, asker).await,
        (Some(ItemQuestion::Form { schema }), _) => form::ask(schema, item, refusal, asker).await,
        (None, Some(action)) => task(action, asker).await,
        (Some(ItemQuestion::Unknown), _) if item.open_ended => text(item, refusal, asker).await,
        (Some(ItemQuestion::Unknown), _) | (None, None) => {
            refuse_only("This version cannot answer this kind of question", refusal, asker).await
        }
    }
}

async fn refuse_only(why: &str, refusal: Option<&RefusalOption>, asker: &mut Prompter) -> Result<PromptResult> {
    if refusal.is_none() {
        screen::print(&format!("{why}.\n"))?;
        return Ok(PromptResult::Back);
    }
    let prompt = format!("{why}{}; an empty line goes back: ", offered(refusal));
    let line = asker.line(&prompt).await?;
    Ok(if line.as_deref().map(str::trim) == Some(KEY) {
        PromptResult::Refused
    } else {
        PromptResult::Back
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
            option_label(&option.label, &option.value)
        );
    }
    text
}

/// Accepts numbers only: the agent chooses values and labels, and one could look like another's number.
async fn one(
    choices: &Choices,
    item: &ClientItem,
    refusal: Option<&RefusalOption>,
    asker: &mut Prompter,
) -> Result<PromptResult> {
    screen::print(&listed(choices))?;
    let takes_text = choices.allow_edit || item.open_ended;
    let other = other(takes_text);
    let no = offered(refusal);
    let prompt = format!("Your answer (a number{other}{no}; an empty line goes back): ");
    loop {
        let Some(line) = asker.line(&prompt).await? else {
            return Ok(PromptResult::Back);
        };
        match line.trim() {
            "" => return Ok(PromptResult::Back),
            KEY if refusal.is_some() => return Ok(PromptResult::Refused),
            OTHER if takes_text => return text(item, refusal, asker).await,
            typed => match picked(typed, choices) {
                Some(value) => return Ok(PromptResult::Decided(PersonDecision::Answered(value.into()))),
                None => screen::print("There is no such number.\n")?,
            },
        }
    }
}

fn picked<'a>(typed: &str, choices: &'a Choices) -> Option<&'a str> {
    let index = typed.parse::<usize>().ok()?.checked_sub(1)?;
    choices.options.get(index).map(|option| option.value.as_str())
}

async fn many(
    choices: &Choices,
    item: &ClientItem,
    refusal: Option<&RefusalOption>,
    asker: &mut Prompter,
) -> Result<PromptResult> {
    screen::print(&listed(choices))?;
    let other = other(item.open_ended);
    let no = offered(refusal);
    let prompt = format!("Your answer (numbers with spaces{other}{no}; an empty line goes back): ");
    loop {
        let Some(line) = asker.line(&prompt).await? else {
            return Ok(PromptResult::Back);
        };
        match line.trim() {
            "" => return Ok(PromptResult::Back),
            KEY if refusal.is_some() => return Ok(PromptResult::Refused),
            OTHER if item.open_ended => return text(item, refusal, asker).await,
            typed => match some_picked(typed, choices) {
                Some(values) => return Ok(PromptResult::Decided(PersonDecision::Answered(values))),
                None => screen::print("Not all of these are numbers of the list.\n")?,
            },
        }
    }
}

fn some_picked(typed: &str, choices: &Choices) -> Option<Value> {
    let mut values: Vec<&str> = split_words(typed)
        .map(|word| picked(word, choices))
        .collect::<Option<_>>()?;
    let mut known = std::collections::HashSet::new();
    values.retain(|value| known.insert(*value));
    (!values.is_empty()).then(|| values.into())
}

fn split_words(typed: &str) -> impl Iterator<Item = &str> {
    typed.split([' ', ',']).filter(|word| !word.is_empty())
}

/// The input for an empty answer, where one is allowed.
const EMPTY_ANSWER: &str = "\"\"";

pub async fn text(item: &ClientItem, refusal: Option<&RefusalOption>, asker: &mut Prompter) -> Result<PromptResult> {
    let nothing = if item.allows_empty() {
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
        None => PromptResult::Back,
        Some(line) if line.trim().is_empty() => PromptResult::Back,
        Some(line) if line.trim() == EMPTY_ANSWER && item.allows_empty() => {
            PromptResult::Decided(PersonDecision::Answered("".into()))
        }
        Some(line) if line.trim() == KEY && refusal.is_some() => PromptResult::Refused,
        Some(line) => PromptResult::Decided(PersonDecision::Answered(line.into())),
    })
}

async fn task(action: &TaskDetails, asker: &mut Prompter) -> Result<PromptResult> {
    let mut steps = action.checklist.clone().unwrap_or_default();
    loop {
        if !steps.is_empty() && !tick(&mut steps, asker).await? {
            return Ok(PromptResult::Back);
        }
        let prompt = "c says it is done, r says you can't do it with a reason; an empty line goes back: ";
        match reply(&["c", KEY], prompt, asker).await? {
            "c" if !is_done_meant(&steps, asker).await? => {}
            "c" => return Ok(PromptResult::Decided(PersonDecision::Completed(steps))),
            KEY => return Ok(PromptResult::Dismissed(steps)),
            _ => return Ok(PromptResult::Back),
        }
    }
}

/// Asks once more if steps are open. A no, or the end of the input, goes back to the steps.
async fn is_done_meant(steps: &[ChecklistStep], asker: &mut Prompter) -> Result<bool> {
    let Some(open) = open_steps(steps) else { return Ok(true) };
    let prompt = format!("{open}. Send {} anyway? (y or n): ", Action::Done.label());
    Ok(reply(&["y", "n"], &prompt, asker).await? == "y")
}

/// Asks until the line is one of the replies. An empty line and the end of the input count as an empty reply.
async fn reply(replies: &[&'static str], prompt: &str, asker: &mut Prompter) -> Result<&'static str> {
    loop {
        let line = asker.line(prompt).await?.unwrap_or_default();
        if line.trim().is_empty() {
            return Ok("");
        }
        if let Some(reply) = replies.iter().find(|reply| **reply == line.trim()) {
            return Ok(reply);
        }
    }
}

/// Returns false if the input has ended.
async fn tick(steps: &mut [ChecklistStep], asker: &mut Prompter) -> Result<bool> {
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

fn checklist(steps: &[ChecklistStep]) -> String {
    let line = |(index, step): (usize, &ChecklistStep)| {
        format!(
            "{:>3}. [{}] {}\n",
            index + 1,
            if step.done { 'x' } else { ' ' },
            escape(&step.text)
        )
    };
    steps.iter().enumerate().map(line).collect()
}

/// The indexes of the named steps, without duplicates.
fn ticked(typed: &str, steps: &[ChecklistStep]) -> Option<std::collections::BTreeSet<usize>> {
    let index = |word: &str| {
        word.parse::<usize>()
            .ok()?
            .checked_sub(1)
            .filter(|index| *index < steps.len())
    };
    split_words(typed).map(index).collect()
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
    fn steps_are_ticked_by_existing_numbers_only() {
        let steps = ["a", "b"].map(|text| ChecklistStep {
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
