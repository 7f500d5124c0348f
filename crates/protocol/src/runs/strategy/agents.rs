use serde_json::Value;

use super::model::{AgentDef, AgentKind, CommandAgent, UserAgent};
use super::{llm, text};
use crate::runs::fault::{FaultList, FaultPath};
use crate::runs::object::Object;

const MAX_AGENTS: usize = 200;
const TYPES: [&str; 5] = ["llm", "user", "echo", "template", "command"];
/// The keys allowed for every agent except models.
const KEYS: [&str; 3] = ["type", "description", "config"];

/// Reads all agents, in file order.
pub(super) fn read(strategy: &Object<'_>) -> Vec<AgentDef> {
    let place = FaultPath::Key(strategy.place(), "agents");
    let faults = strategy.faults();
    let Some(agents) = strategy
        .required("agents")
        .and_then(|value| Object::of(value, place, faults))
    else {
        return Vec::new();
    };
    if agents.entries().len() > MAX_AGENTS {
        strategy.fault("agents", format!("must be at most {MAX_AGENTS} agents"));
        return Vec::new();
    }
    let agent = |(name, value): (&String, &Value)| agent(name, value, FaultPath::Entry(&place, name), faults);
    agents.entries().iter().filter_map(agent).collect()
}

fn agent(name: &str, value: &Value, place: FaultPath<'_>, faults: &FaultList) -> Option<AgentDef> {
    if name.is_empty() {
        faults.add(place, "the name of an agent must not be empty");
    }
    text::check_name(name, place, faults);
    let object = Object::of(value, place, faults)?;
    object.optional_text("description", text::ANY);
    Some(AgentDef {
        name: name.to_owned(),
        kind: kind(&object)?,
    })
}

fn kind(object: &Object<'_>) -> Option<AgentKind> {
    let known = TYPES.join(", ");
    let word = match object.entries().get("type") {
        None => "llm",
        Some(Value::String(word)) => word,
        Some(_) => {
            object.fault("type", format!("must be a string, one of {known}"));
            return None;
        }
    };
    match word {
        "llm" => Some(AgentKind::Llm(Box::new(llm::read(object)))),
        "user" => Some(user(object)),
        "echo" => Some(echo(object)),
        "template" => template(object),
        "command" => command(object),
        _ => {
            object.fault("type", format!("unknown agent type; known: {known}"));
            None
        }
    }
}

fn user(object: &Object<'_>) -> AgentKind {
    object.only(&[&KEYS]);
    let place = FaultPath::Key(object.place(), "config");
    let config = object
        .entries()
        .get("config")
        .and_then(|value| Object::of(value, place, object.faults()));
    if let Some(config) = config {
        config.only(&[&["requireInput", "presetMessage"]]);
    }
    AgentKind::User(UserAgent {
        require_input: config.and_then(|config| config.flag("requireInput")).unwrap_or(true),
        preset_message: config.and_then(|config| config.optional_text("presetMessage", text::ANY)),
    })
}

fn echo(object: &Object<'_>) -> AgentKind {
    object.only(&[&KEYS]);
    let place = FaultPath::Key(object.place(), "config");
    if let Some(config) = object
        .entries()
        .get("config")
        .and_then(|value| Object::of(value, place, object.faults()))
    {
        config.only(&[]);
    }
    AgentKind::Echo
}

fn template(object: &Object<'_>) -> Option<AgentKind> {
    object.only(&[&KEYS]);
    let place = FaultPath::Key(object.place(), "config");
    let config = Object::of(object.required("config")?, place, object.faults())?;
    config.only(&[&["template"]]);
    Some(AgentKind::Template {
        template: config.text("template", text::ANY),
    })
}

fn command(object: &Object<'_>) -> Option<AgentKind> {
    object.only(&[&KEYS]);
    let place = FaultPath::Key(object.place(), "config");
    let config = Object::of(object.required("config")?, place, object.faults())?;
    config.only(&[&["program", "args"]]);
    Some(AgentKind::Command(CommandAgent {
        program: config.text("program", text::NOT_EMPTY),
        args: config.optional_texts("args", text::ANY).unwrap_or_default(),
    }))
}
