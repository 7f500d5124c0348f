use serde_json::Value;

use super::model::{LlmAgent, ModelOptions, PromptTemplate};
use super::text;
use crate::runs::fault::FaultPath;
use crate::runs::object::{MAX_SAFE, Object};

const TOOLS: [&str; 1] = ["ask_question"];
/// Tools of other programs that read these files. Only these names may be repeated in an error.
const TOOLS_NOT_OFFERED: [&str; 23] = [
    "create_file",
    "delete_file",
    "edit_file",
    "glob",
    "launch_strategy",
    "list_directory",
    "list_skills",
    "list_strategy",
    "load_skill",
    "lsp_request",
    "move_file",
    "read_file",
    "restore_file",
    "run_command",
    "search_files",
    "todo_add",
    "todo_clear",
    "todo_complete",
    "todo_get",
    "todo_get_next",
    "todo_remove",
    "webfetch",
    "write_file",
];
const KEYS: [&str; 10] = [
    "type",
    "description",
    "model",
    "systemPrompt",
    "systemPromptTemplate",
    "tools",
    "providerOptions",
    "modelOptions",
    "outputSchema",
    "maxSteps",
];
const OPTION_KEYS: [&str; 8] = [
    "temperature",
    "topP",
    "topK",
    "maxOutputTokens",
    "maxRetries",
    "frequencyPenalty",
    "presencePenalty",
    "seed",
];
/// Used by other programs; accepted here in any form and ignored.
const UNUSED_KEYS: [&str; 3] = ["mcpServers", "skills", "context"];
const MAX_U32: i64 = u32::MAX as i64;

pub(super) fn read(object: &Object<'_>) -> LlmAgent {
    object.only(&[&KEYS, &UNUSED_KEYS]);
    LlmAgent {
        model: object.optional_text("model", text::NOT_EMPTY),
        system_prompt: object.optional_text("systemPrompt", text::ANY),
        system_prompt_template: prompt_template(object),
        tools: tools(object),
        provider_options: object.optional_map("providerOptions"),
        model_options: model_options(object).unwrap_or_default(),
        output_schema: object.optional_map("outputSchema").map(Into::into),
        max_steps: at_most_u32(object.whole("maxSteps", 1..=MAX_U32)),
    }
}

fn prompt_template(object: &Object<'_>) -> Option<PromptTemplate> {
    let place = FaultPath::Key(object.place(), "systemPromptTemplate");
    let template = Object::of(object.entries().get("systemPromptTemplate")?, place, object.faults())?;
    template.only(&[&["template", "variables"]]);
    Some(PromptTemplate {
        template: template.text("template", text::ANY),
        variables: template.optional_map("variables").unwrap_or_default(),
    })
}

fn tools(object: &Object<'_>) -> Vec<String> {
    let tools = object.optional_texts("tools", text::ANY).unwrap_or_default();
    let place = FaultPath::Key(object.place(), "tools");
    let written = object.entries().get("tools").and_then(Value::as_array);
    for (index, tool) in written.into_iter().flatten().enumerate() {
        if let Some(tool) = tool.as_str().filter(|tool| !TOOLS.contains(tool)) {
            object.faults().add(FaultPath::Item(&place, index), unknown_tool(tool));
        }
    }
    tools
}

fn unknown_tool(tool: &str) -> String {
    let known = TOOLS.join(", ");
    let what = match TOOLS_NOT_OFFERED.iter().find(|name| **name == tool) {
        Some(name) => format!("the tool {name} is not offered by this hub"),
        None => "unknown tool".to_owned(),
    };
    format!("{what}; known: {known}. Leave it out, or do its work in an agent of type command")
}

fn model_options(object: &Object<'_>) -> Option<ModelOptions> {
    let place = FaultPath::Key(object.place(), "modelOptions");
    let options = Object::of(object.entries().get("modelOptions")?, place, object.faults())?;
    options.only(&[&OPTION_KEYS]);
    Some(ModelOptions {
        temperature: options.number("temperature"),
        top_p: options.number("topP"),
        top_k: options.whole("topK", 0..=MAX_SAFE).map(i64::unsigned_abs),
        max_output_tokens: options.whole("maxOutputTokens", 1..=MAX_SAFE).map(i64::unsigned_abs),
        max_retries: at_most_u32(options.whole("maxRetries", 0..=MAX_U32)),
        frequency_penalty: options.number("frequencyPenalty"),
        presence_penalty: options.number("presencePenalty"),
        seed: options.whole("seed", -MAX_SAFE..=MAX_SAFE),
    })
}

fn at_most_u32(number: Option<i64>) -> Option<u32> {
    number.and_then(|number| u32::try_from(number).ok())
}
