//! Every command shown in a page must exist in this program.

use clap::{CommandFactory, Parser};
use countersign_protocol::time::Timestamp;
use serde_json::{Value, json};

use super::render::page;
use super::settings::tests::every_kind;
use super::shell_lines::{self, words};
use crate::args::{AgentSideCommand, Cli, CliCommand, ContentArgs, RequestArgs};

const OUR_PAGES: [&str; 6] = [
    include_str!("../../../../../plugin/skills/build-ask/SKILL.md"),
    include_str!("../../../../../plugin/skills/build-notify/SKILL.md"),
    include_str!("../../../../../plugin/skills/build-task/SKILL.md"),
    include_str!("../../../../../docs/skills.md"),
    include_str!("../../../../../docs/cli.md"),
    include_str!("../../../../../docs/cli-agents.md"),
];

/// The lines of shell blocks that call this program.
fn commands(page: &str) -> Vec<String> {
    let mut lines = shell_lines::lines(page);
    lines.retain(|line| line.starts_with("countersign "));
    lines
}

fn check(page: &str) -> usize {
    let commands = commands(page);
    for line in &commands {
        let parsed = Cli::command().try_get_matches_from(words(line));
        assert!(
            parsed.is_ok(),
            "{line}: {}",
            parsed.err().map(|error| error.to_string()).unwrap_or_default()
        );
    }
    commands.len()
}

#[test]
fn the_commands_of_our_pages_are_understood() {
    for page in OUR_PAGES {
        assert!(check(page) > 0, "no commands in {page}");
    }
}

#[test]
fn the_commands_of_built_pages_are_understood() {
    for settings in every_kind() {
        assert!(check(&page(&settings).unwrap()) > 1, "{}", settings.name());
    }
}

/// The envelope of a page, and the command that sends the same.
fn pair(page: &str) -> (Value, AgentSideCommand) {
    let block = page
        .split("```json\n")
        .find(|block| block.contains("\"type\""))
        .unwrap();
    let envelope = serde_json::from_str(block.split("```").next().unwrap()).unwrap();
    let sends = |line: &&String| ["ask", "task", "notify"].contains(&line.split(' ').nth(1).unwrap_or_default());
    let line = commands(page).iter().find(sends).unwrap().clone();
    let Some(CliCommand::AgentSide(command)) = Cli::parse_from(words(&line)).command else {
        panic!("{line}")
    };
    (envelope, command)
}

fn same_content(envelope: &Value, content: &ContentArgs) {
    let priority = content.priority.map(|priority| priority.to_string());
    assert_eq!(envelope["title"], json!(content.title));
    assert_eq!(envelope["idempotency_key"], json!(content.key));
    assert_eq!(envelope["priority"], json!(priority));
    assert_eq!(envelope["agent"]["run_id"], json!(content.run));
    assert_eq!(envelope["agent"]["runtime"], json!(content.runtime));
    assert_eq!(
        envelope["agent"].get("project"),
        content.project.as_ref().map(|name| json!(name)).as_ref()
    );
    assert_eq!(envelope["tags"].as_array().cloned().unwrap_or_default(), content.tags);
    assert!(envelope["body"].is_string() && content.body_file.is_some());
}

fn same_request(envelope: &Value, inner: &Value, request: &RequestArgs) {
    let at = Timestamp::parse_rfc3339(envelope["expires_at"].as_str().unwrap()).unwrap();
    assert_eq!(request.expires.unwrap().from(at), at);
    assert_eq!(inner["allowed_resolvers"], json!(request.to));
    assert_eq!(inner["callback"]["url"], json!(request.callback));
    let auth = request.callback_auth.as_ref();
    assert_eq!(
        inner["callback"]["auth"]["scheme"],
        json!(auth.map(|auth| auth.scheme.as_str()))
    );
    let named = inner["callback"]["auth"]
        .get("secret_ref")
        .or(inner["callback"]["auth"].get("token_ref"));
    assert_eq!(named, auth.map(|auth| json!(auth.reference)).as_ref());
    assert_eq!(
        (request.callback.is_some(), true),
        (request.detach, request.state.is_some())
    );
}

#[test]
fn the_command_of_a_page_sends_its_envelope() {
    for settings in every_kind() {
        let (envelope, command) = pair(&page(&settings).unwrap());
        match command {
            AgentSideCommand::Ask(ask) => {
                let request = &envelope["request"];
                same_content(&envelope, &ask.content);
                same_request(&envelope, request, &ask.request);
                let options = json!([{"value": "approve", "label": ask.yes.unwrap()}, {"value": "deny", "label": ask.no.unwrap()}]);
                assert_eq!((&request["mode"], ask.confirm), (&json!("confirm"), true));
                assert_eq!((&request["options"], ask.default.as_deref()), (&options, Some("no")));
                assert_eq!(request["default_on_expire"], "deny");
            }
            AgentSideCommand::Task(task) => {
                let action = &envelope["action"];
                same_content(&envelope, &task.content);
                same_request(&envelope, action, &task.request);
                let checklist: Vec<Value> = task.checklist.iter().map(|text| json!({ "text": text })).collect();
                assert_eq!(action["checklist"], json!(checklist));
                assert_eq!(action["verification"], json!(task.verification));
                assert!(action["instructions"].is_string() && task.instructions_file.is_some());
            }
            AgentSideCommand::Notify(notify) => same_content(&envelope, &notify.content),
            other => panic!("{other:?}"),
        }
    }
}
