//! Size limits for messages of agents and for answers of people.

use countersign_protocol::a2h::bounds::{
    MAX_CHECKLIST, MAX_KEY_CHARS, MAX_LABELS, MAX_NAME_CHARS, MAX_RESOLVERS, MAX_TAGS, MAX_TASK_BYTES,
};
use countersign_protocol::visible;
use serde_json::Value;

use crate::message::{Content, FileNote};
use crate::rejection::Rejection;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub max_request_bytes: usize,
    pub max_body_bytes: usize,
    pub max_part_bytes: usize,
    pub max_context_parts: usize,
    pub max_state_bytes: usize,
}

/// Per answer, like the limits below.
pub const MAX_FILES: usize = 10;
pub const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;
pub const MAX_FILES_BYTES: u64 = 20 * 1024 * 1024;
const MAX_FILE_NAME_BYTES: usize = 200;
const MAX_COMMENT_BYTES: usize = 20_000;

impl Limits {
    /// `wire_bytes` is the size of the whole message; a small message cannot contain a part that is too large.
    pub fn check(&self, content: &Content, wire_bytes: usize) -> Result<(), Rejection> {
        if content
            .body
            .as_ref()
            .is_some_and(|body| body.len() > self.max_body_bytes)
        {
            return Err(Rejection::field(
                "body",
                format!("keep it within {} bytes", self.max_body_bytes),
            ));
        }
        check_names(content)?;
        self.check_context(&content.context, wire_bytes)
    }

    fn check_context(&self, parts: &[Value], wire_bytes: usize) -> Result<(), Rejection> {
        if parts.len() > self.max_context_parts {
            return Err(Rejection::field(
                "context",
                format!("send at most {} parts", self.max_context_parts),
            ));
        }
        let candidates = if wire_bytes > self.max_part_bytes { parts } else { &[] };
        for (index, part) in candidates.iter().enumerate() {
            if part.to_string().len() > self.max_part_bytes {
                let field = format!("context[{index}]");
                return Err(Rejection::field(
                    field,
                    format!("keep a part within {} bytes", self.max_part_bytes),
                ));
            }
        }
        Ok(())
    }

    pub fn check_state(&self, state: &str) -> Result<(), Rejection> {
        if state.len() > self.max_state_bytes {
            return Err(Rejection::field(
                "state",
                format!("keep it within {} bytes", self.max_state_bytes),
            ));
        }
        Ok(())
    }
}

fn check_names(content: &Content) -> Result<(), Rejection> {
    let agent = &content.agent;
    check_name("agent.id", &agent.id)?;
    check_name("agent.run_id", &agent.run_id)?;
    check_name("agent.project", agent.project.as_deref().unwrap_or_default())?;
    check_count("agent.labels", agent.labels.len(), MAX_LABELS)?;
    for (name, value) in &agent.labels {
        check_name("agent.labels", name)?;
        check_name("agent.labels", value)?;
    }
    check_count("tags", content.tags.len(), MAX_TAGS)?;
    for (index, tag) in content.tags.iter().enumerate() {
        check_name(&format!("tags[{index}]"), tag)?;
    }
    check_count("allowed_resolvers", content.resolvers.len(), MAX_RESOLVERS)?;
    content
        .resolvers
        .iter()
        .try_for_each(|actor| check_name("allowed_resolvers", actor.as_str()))?;
    match &content.matter {
        crate::Payload::Task(task) => check_task(task),
        crate::Payload::Ask(_) | crate::Payload::Notify => Ok(()),
    }
}

fn check_task(task: &crate::message::Task) -> Result<(), Rejection> {
    check_count("action.checklist", task.checklist.len(), MAX_CHECKLIST)?;
    let within = |text: &str| text.len() <= MAX_TASK_BYTES;
    if !within(&task.instructions) {
        return Err(Rejection::field(
            "action.instructions",
            format!("keep it within {MAX_TASK_BYTES} bytes"),
        ));
    }
    if !task.verification.as_deref().is_none_or(within) {
        return Err(Rejection::field(
            "action.verification",
            format!("keep it within {MAX_TASK_BYTES} bytes"),
        ));
    }
    Ok(())
}

fn check_name(field: &str, text: &str) -> Result<(), Rejection> {
    if text.chars().count() > MAX_NAME_CHARS {
        return Err(Rejection::field(
            field,
            format!("keep it within {MAX_NAME_CHARS} characters"),
        ));
    }
    Ok(())
}

fn check_count(field: &str, count: usize, max: usize) -> Result<(), Rejection> {
    if count > max {
        return Err(Rejection::field(
            field,
            format!("send at most {max} entries, not {count}"),
        ));
    }
    Ok(())
}

pub fn check_idempotency_key(key: &str) -> Result<(), Rejection> {
    if key.is_empty() || key.chars().count() > MAX_KEY_CHARS {
        let message = format!("give a key of 1 to {MAX_KEY_CHARS} characters, unique for this decision");
        return Err(Rejection::field("idempotency_key", message));
    }
    Ok(())
}

pub fn check_comment(comment: &str) -> Result<(), Rejection> {
    if comment.len() > MAX_COMMENT_BYTES {
        return Err(Rejection::field(
            "comment",
            format!("keep it within {MAX_COMMENT_BYTES} bytes"),
        ));
    }
    Ok(())
}

pub fn check_files(files: &[FileNote]) -> Result<(), Rejection> {
    check_count("files", files.len(), MAX_FILES)?;
    for (index, file) in files.iter().enumerate() {
        if !is_file_name(&file.name) {
            let message = format!(
                "give a plain name of 1 to {MAX_FILE_NAME_BYTES} bytes, without a path and invisible characters"
            );
            return Err(Rejection::field(format!("files[{index}].name"), message));
        }
        if files[..index].iter().any(|earlier| earlier.name == file.name) {
            return Err(Rejection::field(
                format!("files[{index}].name"),
                "two files have this name; rename one",
            ));
        }
        if file.size > MAX_FILE_BYTES {
            return Err(Rejection::field(
                format!("files[{index}]"),
                format!("keep a file within {MAX_FILE_BYTES} bytes"),
            ));
        }
        check_name(&format!("files[{index}].media_type"), &file.media_type)?;
    }
    if files.iter().map(|file| file.size).sum::<u64>() > MAX_FILES_BYTES {
        return Err(Rejection::field(
            "files",
            format!("keep them within {MAX_FILES_BYTES} bytes together"),
        ));
    }
    Ok(())
}

/// A file name that is safe on every system and has no hidden characters.
pub fn is_file_name(name: &str) -> bool {
    (1..=MAX_FILE_NAME_BYTES).contains(&name.len())
        && !matches!(name, "." | "..")
        && !name.contains(['/', '\\'])
        && visible::escape(name) == name
}
