//! Size limits for messages of agents and for answers of people.

use countersign_protocol::a2h::limits::{
    MAX_CHECKLIST, MAX_KEY_CHARS, MAX_LABELS, MAX_NAME_CHARS, MAX_RESOLVERS, MAX_TAGS, MAX_TASK_BYTES,
};
use countersign_protocol::escape;

use crate::message::{Content, FileNote, Payload, Task};
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
    /// `wire_bytes` is the size of the whole message; a small message cannot contain a part that is too large. The id of the
    /// agent needs no check: the credential has it too.
    pub fn check(&self, content: &Content, wire_bytes: usize) -> Result<(), Rejection> {
        let body = content.body.as_deref().unwrap_or_default();
        check_bytes("body", body, self.max_body_bytes)?;
        let agent = &content.agent;
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
        if let Payload::Task(task) = &content.payload {
            check_task(task)?;
        }
        ensure(content.context.len() <= self.max_context_parts, "context", || {
            format!("send at most {} parts", self.max_context_parts)
        })?;
        if wire_bytes > self.max_part_bytes {
            for (index, part) in content.context.iter().enumerate() {
                let is_within = part.to_string().len() <= self.max_part_bytes;
                ensure(is_within, &format!("context[{index}]"), || {
                    format!("keep a part within {} bytes", self.max_part_bytes)
                })?;
            }
        }
        Ok(())
    }

    pub fn check_state(&self, state: &str) -> Result<(), Rejection> {
        check_bytes("state", state, self.max_state_bytes)
    }
}

fn ensure(holds: bool, field: &str, rule: impl FnOnce() -> String) -> Result<(), Rejection> {
    if holds {
        Ok(())
    } else {
        Err(Rejection::field(field, rule()))
    }
}

fn check_bytes(field: &str, text: &str, max: usize) -> Result<(), Rejection> {
    ensure(text.len() <= max, field, || format!("keep it within {max} bytes"))
}

fn check_task(task: &Task) -> Result<(), Rejection> {
    check_count("action.checklist", task.checklist.len(), MAX_CHECKLIST)?;
    check_bytes("action.instructions", &task.instructions, MAX_TASK_BYTES)?;
    let verification = task.verification.as_deref().unwrap_or_default();
    check_bytes("action.verification", verification, MAX_TASK_BYTES)
}

fn check_name(field: &str, text: &str) -> Result<(), Rejection> {
    ensure(text.chars().count() <= MAX_NAME_CHARS, field, || {
        format!("keep it within {MAX_NAME_CHARS} characters")
    })
}

fn check_count(field: &str, count: usize, max: usize) -> Result<(), Rejection> {
    ensure(count <= max, field, || {
        format!("send at most {max} entries, not {count}")
    })
}

pub fn check_idempotency_key(key: &str) -> Result<(), Rejection> {
    let is_within = !key.is_empty() && key.chars().count() <= MAX_KEY_CHARS;
    ensure(is_within, "idempotency_key", || {
        format!("give a key of 1 to {MAX_KEY_CHARS} characters, unique for this decision")
    })
}

pub fn check_comment(comment: &str) -> Result<(), Rejection> {
    check_bytes("comment", comment, MAX_COMMENT_BYTES)
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
        && escape::escape(name) == name
}
