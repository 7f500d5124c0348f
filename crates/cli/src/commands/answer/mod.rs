//! `answer`: reads the item, turns the input into the value its question wants, and sends one resolution.

mod choice;
mod files;
mod form;

use anyhow::{Result, anyhow, bail};
use countersign_client::hub::{ClientError, HubClient, typed};
use countersign_client::item::ClientItem;
use countersign_client::screen::{self, escape};
use countersign_protocol::api::inbox::{ChecklistStep, ItemQuestion};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::AnswerArgs;

pub use choice::roles;
pub use form::{kind_label, read_free_text};

#[derive(Deserialize)]
struct ResolveReply {
    status: String,
    resolution_id: String,
}

pub async fn run(args: &AnswerArgs, client: &HubClient, json: bool) -> Result<String> {
    let item = read_item(&args.id, client).await?;
    if let Some(outcome) = already_decided(&item) {
        bail!(outcome);
    }
    let body = resolution(args, &item)?;
    let reply = match client.post(&["v1", "messages", &args.id, "resolve"], &body).await {
        Ok(reply) => reply,
        Err(error) => return Err(explain(error, &args.id, client).await),
    };
    if json {
        return Ok(screen::json(&reply));
    }
    let reply: ResolveReply = typed(&reply)?;
    // The item is read back for the actor, because the hub attests it.
    let decided = read_item(&args.id, client)
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
        "{} ({})\n{filled_in}",
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
    if !args.check.is_empty() {
        body["checklist"] = json!(ticked(&args.check, item)?);
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
        return text_value(text, args, item);
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
        ItemQuestion::Form { .. } if args.fields.is_empty() => form::read_object(typed),
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
        "task" => anyhow!(
            "{} is a task: end it with --complete or --dismiss (invalid_field)",
            item.id
        ),
        verb => anyhow!("{} is a {verb}: it asks nothing (validation_error)", item.id),
    }
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        answer: AnswerArgs,
    }

    fn args(arguments: &[&str]) -> AnswerArgs {
        Line::parse_from(["answer", "msg_1"].iter().chain(arguments)).answer
    }

    fn item(verb: &str, extra: &Value) -> ClientItem {
        let mut item = json!({
            "id": "msg_1", "type": verb, "status": "open", "title": "t", "priority": "normal",
            "agent": {"id": "bot", "run_id": "r", "runtime": "cli"}, "created_at": "2026-06-04T15:00:00.000Z",
        });
        item.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        serde_json::from_value(item).unwrap()
    }

    fn task() -> ClientItem {
        let checklist = json!([{"text": "a", "done": true}, {"text": "b"}, {"text": "c", "done": false}]);
        item(
            "task",
            &json!({"action": {"instructions": "do", "checklist": checklist}}),
        )
    }

    #[test]
    fn a_task_is_sent_back_with_its_ticked_checklist() {
        let body = resolution(&args(&["--complete", "--check", "3", "--comment", "done"]), &task()).unwrap();
        let steps = json!([{"text": "a", "done": true}, {"text": "b", "done": false}, {"text": "c", "done": true}]);
        assert_eq!(
            body,
            json!({"resolution": "completed", "checklist": steps, "comment": "done"})
        );
        let body = resolution(&args(&["--dismiss"]), &task()).unwrap();
        assert_eq!(body, json!({"resolution": "dismissed"}));
        for number in ["0", "4"] {
            assert!(resolution(&args(&["--complete", "--check", number]), &task()).is_err());
        }
    }

    #[test]
    fn a_task_takes_no_value() {
        let error = resolution(&args(&["yes"]), &task()).unwrap_err();
        assert!(error.to_string().contains("--complete"));
    }

    #[test]
    fn an_answer_is_translated_and_text_is_not() {
        let options = json!([{"value": "approve", "label": "Ship it"}, {"value": "deny", "label": "Hold"}]);
        let ask = item(
            "ask",
            &json!({"question": {"kind": "confirm", "options": options, "allow_edit": true}}),
        );
        let body = resolution(&args(&["no"]), &ask).unwrap();
        assert_eq!(body, json!({"resolution": "answered", "value": "deny"}));
        let body = resolution(&args(&["--text", "no"]), &ask).unwrap();
        assert_eq!(body, json!({"resolution": "answered", "value": "no"}));
        let body = resolution(&args(&["--decline"]), &ask).unwrap();
        assert_eq!(body, json!({"resolution": "declined"}));
    }

    #[test]
    fn several_values_answer_only_a_question_for_many() {
        let options = json!([{"value": "r", "label": "Red"}, {"value": "g", "label": "Green"}]);
        let question = |many| {
            item(
                "ask",
                &json!({"question": {"kind": "select", "options": options, "many": many}}),
            )
        };
        let body = resolution(&args(&["Green", "1"]), &question(true)).unwrap();
        assert_eq!(body, json!({"resolution": "answered", "value": ["g", "r"]}));
        let body = resolution(&args(&["2"]), &question(true)).unwrap();
        assert_eq!(body, json!({"resolution": "answered", "value": ["g"]}));
        assert!(resolution(&args(&["r", "g"]), &question(false)).is_err());
    }

    #[test]
    fn a_text_is_sent_as_it_is_typed() {
        let ask = item("ask", &json!({"question": {"kind": "text"}}));
        for arguments in [&["yes, go on"][..], &["--text", "yes, go on"]] {
            let body = resolution(&args(arguments), &ask).unwrap();
            assert_eq!(body, json!({"resolution": "answered", "value": "yes, go on"}));
        }
        for blank in [&["--text", " "][..], &["--text", ""], &[" "]] {
            let error = resolution(&args(blank), &ask).unwrap_err().to_string();
            assert!(error.contains("--text is blank"), "{blank:?}: {error}");
        }
        assert!(resolution(&args(&["yes,", "go on"]), &ask).is_err());
        assert!(resolution(&args(&["--field", "a=b"]), &ask).is_err());
    }

    #[test]
    fn free_text_is_refused_where_the_question_does_not_allow_it() {
        let options = json!([{"value": "r", "label": "Red"}, {"value": "g", "label": "Green"}]);
        let form = json!({"kind": "form", "schema": {"properties": {"a": {"type": "string"}}}});
        for (question, wanted) in [
            (
                json!({"kind": "select", "options": options, "many": true, "allow_edit": true}),
                "r (Red), g",
            ),
            (json!({"kind": "confirm", "options": options}), "r (Red), g"),
            (form, "--field"),
        ] {
            let error = resolution(
                &args(&["--text", "blue"]),
                &item("ask", &json!({ "question": question })),
            );
            let error = error.unwrap_err().to_string();
            assert!(error.contains(wanted) && error.contains("msg_1"), "{error}");
            let open = item("ask", &json!({"question": question, "open_ended": true}));
            let body = resolution(&args(&["--text", "blue"]), &open).unwrap();
            assert_eq!(body, json!({"resolution": "answered", "value": "blue"}));
        }
    }

    #[test]
    fn a_run_takes_an_empty_text_and_a_decision_by_word_or_number() {
        let text = item(
            "ask",
            &countersign_client::item::test_data::asked(&json!({"kind": "text"})),
        );
        for arguments in [&[""][..], &["--text", ""]] {
            assert_eq!(
                resolution(&args(arguments), &text).unwrap(),
                json!({"resolution": "answered", "value": ""})
            );
        }
        let options =
            json!([{"value": "allow", "label": "Allow once"}, {"value": "deny-session", "label": "Deny in this run"}]);
        let permission = item(
            "ask",
            &countersign_client::item::test_data::asked(&json!({"kind": "select", "options": options})),
        );
        for word in ["deny-session", "Deny in this run", "2"] {
            let body = resolution(&args(&[word]), &permission).unwrap();
            assert_eq!(
                body,
                json!({"resolution": "answered", "value": "deny-session"}),
                "{word}"
            );
        }
    }

    #[test]
    fn files_are_for_open_ended_questions_alone() {
        let ask = item("ask", &json!({"question": {"kind": "text"}}));
        let error = resolution(&args(&["--file", "/nowhere"]), &ask)
            .unwrap_err()
            .to_string();
        assert!(error.contains("takes no files"), "{error}");
        let error = resolution(&args(&["--file", "/nowhere"]), &task())
            .unwrap_err()
            .to_string();
        assert!(error.contains("takes no files"), "{error}");
    }

    #[test]
    fn a_late_answer_is_told_the_earlier_decision() {
        let won = json!({
            "resolution_id": "res_1", "resolution": "answered", "value": "approve", "edited": false, "defaulted": false,
            "actor": "human:ann", "resolved_at": "2026-06-04T15:00:01.000Z",
        });
        let item = item("ask", &json!({"resolution": won}));
        let expected = "msg_1 is already answered approve by human:ann at 2026-06-04T15:00:01.000Z (already_terminal)";
        assert_eq!(already_decided(&item).as_deref(), Some(expected));
    }
}
