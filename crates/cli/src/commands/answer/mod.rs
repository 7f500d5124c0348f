//! `answer`: reads the item, turns the input into the value its question wants, and sends one resolution.

mod choice;
mod files;
mod form;
mod item_ref;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use countersign_client::hub::{ClientError, HubClient, typed};
use countersign_client::item::{ClientItem, open_steps};
use countersign_client::screen::{self, escape};
use countersign_core::form::only_text_field;
use countersign_protocol::api::inbox::{ChecklistStep, ItemQuestion};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::AnswerArgs;

pub use choice::roles;
pub use form::{kind_label, read_free_text};
pub use item_ref::ItemRef;

#[derive(Deserialize)]
struct ResolveReply {
    status: String,
    resolution_id: String,
}

pub async fn run(
    mut args: AnswerArgs,
    client: &HubClient,
    data: impl Fn() -> Result<PathBuf>,
    json: bool,
) -> Result<String> {
    let id = &args.take_item().id(client, data).await?;
    let args = &args;
    let item = read_item(id, client).await?;
    if let Some(outcome) = already_decided(&item) {
        bail!(outcome);
    }
    let body = resolution(args, &item)?;
    let reply = match client.post(&["v1", "messages", id, "resolve"], &body).await {
        Ok(reply) => reply,
        Err(error) => return Err(explain(error, id, client).await),
    };
    if json {
        return Ok(screen::json(&reply));
    }
    let reply: ResolveReply = typed(&reply)?;
    // The item is read back for the actor, because the hub attests it.
    let decided = read_item(id, client)
        .await
        .ok()
        .and_then(|item| item.short_outcome_text());
    let text = decided.unwrap_or(reply.status);
    // Values from a file or standard input are not echoed: they may be long or sensitive.
    let filled_in = if args.fields.is_empty() {
        String::new()
    } else {
        form::filled_in(&item, &body["value"])
    };
    Ok(format!(
        "\"{}\" {} ({})\n{filled_in}",
        escape(&item.title),
        escape(&text),
        escape(&reply.resolution_id)
    ))
}

async fn read_item(id: &str, client: &HubClient) -> Result<ClientItem, ClientError> {
    typed(&client.get(&["v1", "inbox", id], &[]).await?)
}

/// Replaces an `already_terminal` error with the decision that came first.
async fn explain(error: ClientError, id: &str, client: &HubClient) -> anyhow::Error {
    if error.has_code("already_terminal")
        && let Ok(item) = read_item(id, client).await
        && let Some(outcome) = already_decided(&item)
    {
        return anyhow!(outcome);
    }
    error.into()
}

fn already_decided(item: &ClientItem) -> Option<String> {
    let winner = item.resolution.as_ref()?;
    Some(format!(
        "{} is already {} at {} (already_terminal)",
        item.id,
        item.short_outcome_text().unwrap_or_default(),
        winner.resolved_at
    ))
}

/// The body of the resolve call.
fn resolution(args: &AnswerArgs, item: &ClientItem) -> Result<Value> {
    let mut body = if args.decline {
        json!({ "resolution": "declined" })
    } else if args.complete {
        json!({ "resolution": "completed" })
    } else if args.dismiss {
        json!({ "resolution": "dismissed" })
    } else {
        answered(args, item)?
    };
    let steps = ticked(&args.check, item)?;
    if args.complete && !args.open_steps {
        check_no_open_steps(&steps)?;
    }
    if !args.check.is_empty() {
        body["checklist"] = json!(steps);
    }
    if let Some(comment) = &args.comment {
        body["comment"] = comment.as_str().into();
    }
    Ok(body)
}

/// A value, files, or both.
fn answered(args: &AnswerArgs, item: &ClientItem) -> Result<Value> {
    let mut body = json!({ "resolution": "answered" });
    let has_value = args.text.is_some() || !args.values.is_empty() || !args.fields.is_empty();
    if has_value || args.files.is_empty() {
        body["value"] = value(args, item)?;
    }
    if !args.files.is_empty() {
        if !item.open_ended {
            bail!(
                "{} takes no files: only what an agent in a terminal asks does (invalid_field)",
                item.id
            );
        }
        body["files"] = files::read(&args.files)?;
    }
    Ok(body)
}

fn value(args: &AnswerArgs, item: &ClientItem) -> Result<Value> {
    let Some(question) = &item.question else {
        return Err(not_a_question(item));
    };
    if let Some(text) = &args.text {
        check_takes_text(item, question)?;
        let text = text_value(text, args, item)?;
        return Ok(match question {
            ItemQuestion::Form { schema } if !item.open_ended => form::with_only_text(schema, text),
            _ => text,
        });
    }
    if let ItemQuestion::Select(choices) = question
        && choices.many
        && args.fields.is_empty()
    {
        return choice::many(choices, &args.values).map(Value::from);
    }
    let typed = match args.values.as_slice() {
        [] => "",
        [typed] => typed,
        _ => bail!("{} takes one value: put it in quotes (invalid_field)", item.id),
    };
    match question {
        ItemQuestion::Form { schema } if args.fields.is_empty() => form::read_answer(schema, typed),
        ItemQuestion::Form { schema } => form::from_fields(schema, &args.fields),
        _ if !args.fields.is_empty() => bail!("{} is not a form: --field does not fit (invalid_field)", item.id),
        ItemQuestion::Confirm(choices) => choice::confirm(choices, typed).map(Value::from),
        ItemQuestion::Select(choices) => choice::select(choices, typed).map(Value::from),
        ItemQuestion::Text => text_value(typed, args, item),
        ItemQuestion::Unknown => Ok(typed.into()),
    }
}

/// A non-blank text, unless files come with it or an empty answer is allowed.
fn text_value(typed: &str, args: &AnswerArgs, item: &ClientItem) -> Result<Value> {
    let text = form::read_free_text(typed)?;
    if text.trim().is_empty() && args.files.is_empty() && !item.allows_empty() {
        bail!("--text is blank: write something (invalid_field)");
    }
    Ok(text.into())
}

/// Refuses here, with a hint, text that the hub would refuse.
fn check_takes_text(item: &ClientItem, question: &ItemQuestion) -> Result<()> {
    match question {
        _ if item.open_ended => Ok(()),
        ItemQuestion::Text | ItemQuestion::Unknown => Ok(()),
        ItemQuestion::Form { schema } if only_text_field(schema).is_some() => Ok(()),
        ItemQuestion::Confirm(choices) | ItemQuestion::Select(choices) if choices.allow_edit && !choices.many => Ok(()),
        ItemQuestion::Confirm(choices) | ItemQuestion::Select(choices) => {
            bail!(
                "{} takes no other text: answer with {} (invalid_field)",
                item.id,
                choice::list(&choices.options)
            )
        }
        ItemQuestion::Form { .. } => {
            bail!(
                "{} takes no free text: fill in its form with --field NAME=VALUE (invalid_field)",
                item.id
            )
        }
    }
}

fn not_a_question(item: &ClientItem) -> anyhow::Error {
    match item.verb.as_str() {
        "task" => anyhow!("{} is a task: end it with --done or --cant-do (invalid_field)", item.id),
        verb => anyhow!("{} is a {verb}: it asks nothing (validation_error)", item.id),
    }
}

/// Names the open steps, because a person may have overlooked them.
fn check_no_open_steps(steps: &[ChecklistStep]) -> Result<()> {
    let Some(open) = open_steps(steps) else { return Ok(()) };
    let numbered = (1..).zip(steps).filter(|(_, step)| !step.done);
    let named: Vec<String> = numbered
        .map(|(number, step)| format!("{number} ({})", escape(&step.text)))
        .collect();
    bail!(
        "{open}: {}. Tick each finished step with --check N, or add --open-steps to send it anyway (invalid_field)",
        named.join(", ")
    )
}

/// The whole checklist with the named steps done; steps already done stay done.
fn ticked(numbers: &[usize], item: &ClientItem) -> Result<Vec<ChecklistStep>> {
    let mut steps = item
        .action
        .as_ref()
        .and_then(|action| action.checklist.clone())
        .unwrap_or_default();
    let count = steps.len();
    for number in numbers {
        let step = number.checked_sub(1).and_then(|index| steps.get_mut(index));
        let Some(step) = step else {
            bail!(
                "--check {number}: the checklist of {} has {count} steps (invalid_field)",
                item.id
            );
        };
        step.done = true;
    }
    Ok(steps)
}
