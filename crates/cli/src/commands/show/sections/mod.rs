//! The page of one message, section by section. Empty sections are left out.

use std::fmt::Write;

use countersign_client::item::{ClientItem, file_label, outcome_remarks};
use countersign_client::screen::{actor_label, escape, instant_label, quote};
use countersign_core::form::{self, Field};
use countersign_core::schema::sensitive_fields;
use countersign_protocol::api::inbox::{
    ChecklistStep, Choices, ItemDelivery, ItemPart, ItemQuestion, ItemResolution, ItemSource, TaskDetails,
};
use serde_json::Value;

use crate::commands::answer::{kind_label, roles};

pub fn render(item: &ClientItem, now: jiff::Timestamp) -> String {
    let mut page = head(item, now);
    page.push_str(&titled("Body", &quote(item.body.as_deref().unwrap_or_default())));
    for (index, part) in item.context.iter().enumerate() {
        page.push_str(&context(index + 1, part));
    }
    if let Some(question) = &item.question {
        page.push_str(&question_section(question));
    }
    if let Some(action) = &item.action {
        page.push_str(&action_section(action, sent_back(item)));
    }
    page.push_str(&declared_default(item));
    if item.status == "open" {
        page.push_str(&titled("How to answer", &how_to_answer(item)));
    }
    if let Some(resolution) = &item.resolution {
        page.push_str(&resolution_section(item, resolution, now));
    }
    if let Some(delivery) = &item.delivery {
        page.push_str(&delivery_section(delivery, now));
    }
    page
}

fn titled(title: &str, text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("\n{title}\n{text}")
    }
}

fn head(item: &ClientItem, now: jiff::Timestamp) -> String {
    let agent = &item.agent;
    let mut lines = vec![
        ("Title", item.title.clone()),
        ("Message", format!("{}, {}, {}", item.id, item.kind(), item.status)),
        ("Agent", who(item)),
    ];
    let project = if item.is_of_run() { "Strategy" } else { "Project" };
    lines.extend(agent.project.clone().map(|name| (project, name)));
    lines.extend(item.terminal_label().map(|label| ("Terminal", label)));
    lines.extend(item.presence_text(now).map(|note| ("Presence", note)));
    lines.extend(item.supersedes().map(|ids| ("Supersedes", ids)));
    let labels: Vec<String> = agent
        .labels
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    lines.push(("Labels", labels.join(", ")));
    lines.push(("Priority", item.priority.clone()));
    lines.push(("Tags", item.tags.join(", ")));
    lines.push(("Asked", instant_label(&item.created_at, now)));
    if item.status == "open" {
        let expiry = item.expires_at.as_ref().zip(item.expiry_text(now));
        lines.extend(expiry.map(|(at, text)| ("Expiry", format!("{at}, {text}"))));
    }
    lines.extend(item.held_text().map(|held| ("On hold", held)));
    lines.push(("Resolvers", resolvers(item)));
    lines.extend(item.source.as_ref().map(|source| ("Came by", came_by(source))));
    if item.sensitive {
        lines.push((
            "Sensitive",
            "yes: answer values are kept out of logs and lists".to_owned(),
        ));
    }
    let lines = lines.into_iter().filter(|(_, text)| !text.is_empty());
    lines
        .map(|(name, text)| format!("{name:<10} {}\n", escape(&text)))
        .collect()
}

/// For a terminal, the agent and the run are the same.
fn who(item: &ClientItem) -> String {
    let agent = &item.agent;
    if item.is_cue() {
        return item.asker_with_id();
    }
    if item.is_of_run() {
        return format!("{}, run {}", item.asker(), agent.run_id);
    }
    format!("{}, run {} ({})", item.asker_with_id(), agent.run_id, agent.runtime)
}

fn came_by(source: &ItemSource) -> String {
    match format!("{} {}", source.family, source.version).trim() {
        "" => source.door.clone(),
        version => format!("{} ({version})", source.door),
    }
}

fn resolvers(item: &ClientItem) -> String {
    let you = if item.can_answer {
        " (you may answer)"
    } else {
        " (you may not answer)"
    };
    let names = item.resolvers.iter().map(|actor| actor_label(actor));
    let names = names.collect::<Vec<_>>().join(", ");
    match item.status.as_str() {
        "open" => names + you,
        _ => names,
    }
}

fn context(number: usize, part: &ItemPart) -> String {
    let (kind, text) = match part {
        ItemPart::Text { text } => ("text", quote(text)),
        ItemPart::Data { data } => ("data", quote(&pretty(data))),
        ItemPart::File { file } => {
            let about: Vec<&str> = [&file.name, &file.mime_type]
                .into_iter()
                .flatten()
                .map(String::as_str)
                .collect();
            (
                "file, an unchecked link",
                quote(&format!("{} {}", file.uri, about.join(" "))),
            )
        }
        ItemPart::Unknown => ("of a kind this version does not know", String::new()),
    };
    format!("\nContext {number}: {kind}\n{text}")
}

fn question_section(question: &ItemQuestion) -> String {
    match question {
        ItemQuestion::Confirm(choices) => titled("Confirm", &options(choices)),
        ItemQuestion::Select(choices) if choices.many => titled("Select one or more", &options(choices)),
        ItemQuestion::Select(choices) => titled("Select one", &options(choices)),
        ItemQuestion::Text => "\nText\n  an answer in your own words\n".to_owned(),
        ItemQuestion::Form { schema } => titled("Form", &fields(schema)),
        ItemQuestion::Unknown => "\nA question of a kind this version does not know\n".to_owned(),
    }
}

fn options(choices: &Choices) -> String {
    let mut text = String::new();
    for (index, option) in choices.options.iter().enumerate() {
        let description = option
            .description
            .as_deref()
            .map(|text| format!(": {}", escape(text)))
            .unwrap_or_default();
        let label = Some(&option.label).filter(|label| **label != option.value);
        let label = label.map(|label| format!(" ({})", escape(label))).unwrap_or_default();
        let _ = writeln!(text, "  {}. {}{label}{description}", index + 1, escape(&option.value));
    }
    text
}

/// The commands to type. They never contain the agent's text, because people paste them into a shell.
fn how_to_answer(item: &ClientItem) -> String {
    let (answers, other) = match (&item.question, &item.action) {
        (Some(ItemQuestion::Confirm(choices)), _) => (spoken(choices), choices.allow_edit),
        (Some(ItemQuestion::Select(choices)), _) if choices.many => (vec!["NUMBER..."], false),
        (Some(ItemQuestion::Select(choices)), _) => (vec!["NUMBER"], choices.allow_edit),
        (Some(ItemQuestion::Text), _) if item.allows_empty() => (
            vec!["--text TEXT    (may be empty)", "-    (a text on standard input)"],
            false,
        ),
        (Some(ItemQuestion::Text), _) => (vec!["--text TEXT", "-    (a text on standard input)"], false),
        (Some(ItemQuestion::Form { .. }), _) => (
            vec!["--field NAME=VALUE ...", "-    (a JSON object on standard input)"],
            false,
        ),
        (Some(ItemQuestion::Unknown), _) => (vec!["VALUE"], false),
        (None, Some(_)) => (vec!["--done [--check N]...", "--cant-do"], false),
        (None, None) => (vec![], false),
    };
    let is_text = matches!(item.question, Some(ItemQuestion::Text));
    let other = (other || item.open_ended && !is_text).then_some("--text TEXT");
    let files = item.open_ended.then_some("--file PATH ...    (also beside the others)");
    let decline = item
        .question
        .as_ref()
        .filter(|_| item.permissions.ignore)
        .map(|_| "--skip");
    let answers = answers.into_iter().chain(other).chain(files).chain(decline);
    let answers = answers.map(|answer| format!("  countersign answer {} {answer}\n", escape(&item.id)));
    answers.chain(the_run(item)).collect()
}

fn the_run(item: &ClientItem) -> Option<String> {
    item.is_of_run().then(|| {
        format!(
            "  countersign runs follow {}    (the whole run)\n",
            escape(&item.agent.run_id)
        )
    })
}

/// `yes` and `no` if they stand for an option, and the numbers of the others.
fn spoken(choices: &Choices) -> Vec<&'static str> {
    let (yes, no) = roles(choices);
    let parts: Vec<&str> = [yes.and(Some("yes")), no.and(Some("no"))]
        .into_iter()
        .flatten()
        .collect();
    let number = (choices.options.len() > parts.len()).then_some("NUMBER");
    parts.into_iter().chain(number).collect()
}

/// The head shows a single-value default; a form's default is shown here, unless a field is sensitive.
fn declared_default(item: &ClientItem) -> String {
    let secret = match &item.question {
        Some(ItemQuestion::Form { schema }) => item.sensitive || !sensitive_fields(schema).is_empty(),
        _ => item.sensitive,
    };
    match &item.default_on_expire {
        Some(default @ (Value::Object(_) | Value::Array(_))) if !secret => {
            titled("Answer at expiry", &quote(&pretty(default)))
        }
        Some(_) | None => String::new(),
    }
}

fn fields(schema: &Value) -> String {
    form::fields(schema).iter().map(field).collect()
}

fn field(field: &Field) -> String {
    let marks = [
        field.required.then_some("required"),
        field.sensitive.then_some("sensitive"),
    ];
    let kinds = std::iter::once(kind_label(field)).chain(marks.into_iter().flatten().map(str::to_owned));
    let title = Some(field.label.as_str()).filter(|label| *label != field.name);
    let about = field
        .description
        .as_deref()
        .or(title)
        .map(|text| format!(": {}", escape(text)))
        .unwrap_or_default();
    let kinds = escape(&kinds.collect::<Vec<_>>().join(", "));
    format!("  {} ({kinds}){about}\n", escape(&field.name))
}

/// A checklist that was sent back is shown with the outcome instead.
fn action_section(action: &TaskDetails, sent_back: &[ChecklistStep]) -> String {
    let mut text = titled("Instructions", &quote(&action.instructions));
    if sent_back.is_empty() {
        text.push_str(&titled(
            "Checklist",
            &steps(action.checklist.as_deref().unwrap_or_default()),
        ));
    }
    text.push_str(&titled(
        "Verification",
        &quote(action.verification.as_deref().unwrap_or_default()),
    ));
    text
}

fn sent_back(item: &ClientItem) -> &[ChecklistStep] {
    item.resolution
        .as_ref()
        .and_then(|resolution| resolution.checklist.as_deref())
        .unwrap_or_default()
}

fn steps(steps: &[ChecklistStep]) -> String {
    let mut text = String::new();
    for (index, step) in steps.iter().enumerate() {
        let tick = if step.done { 'x' } else { ' ' };
        let _ = writeln!(text, "  {}. [{tick}] {}", index + 1, escape(&step.text));
    }
    text
}

fn resolution_section(item: &ClientItem, resolution: &ItemResolution, now: jiff::Timestamp) -> String {
    let outcome = escape(&item.outcome_text().unwrap_or_default());
    let mut text = format!("\nOutcome\n  {outcome}{}\n", outcome_remarks(resolution));
    let _ = writeln!(text, "  {}", instant_label(&resolution.resolved_at, now));
    let _ = writeln!(text, "  {}", escape(&resolution.resolution_id));
    if let Some(value @ (Value::Object(_) | Value::Array(_))) = &resolution.value {
        text.push_str(&titled("Answer", &quote(&pretty(value))));
    }
    text.push_str(&titled("Comment", &quote(item.comment().unwrap_or_default())));
    let files: String = resolution
        .files
        .iter()
        .map(|file| format!("  {}\n", escape(&file_label(file))))
        .collect();
    text.push_str(&titled("Files sent", &files));
    text.push_str(&titled(
        "Checklist sent back",
        &steps(resolution.checklist.as_deref().unwrap_or_default()),
    ));
    text
}

fn delivery_section(delivery: &ItemDelivery, now: jiff::Timestamp) -> String {
    let mut text = format!(
        "\nDelivery\n  {}, attempts so far: {}\n",
        escape(&delivery.state),
        delivery.attempts
    );
    if let Some(at) = &delivery.delivered_at {
        let _ = writeln!(text, "  delivered {}", instant_label(at, now));
    }
    if let Some(at) = &delivery.next_attempt_at {
        let _ = writeln!(text, "  next attempt {}", instant_label(at, now));
    }
    if let Some(error) = &delivery.last_error {
        let _ = writeln!(text, "  last error: {}", escape(error));
    }
    text
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;
