//! The rows of the mailbox, as they are stored.

use rusqlite::Row;
use rusqlite::types::ValueRef;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentRow {
    pub agent_id: String,
    pub runtime: Option<String>,
    pub project_dir: Option<String>,
    pub terminal: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestRow {
    pub request_id: String,
    pub agent_id: String,
    pub prompt: String,
    pub payload: Option<String>,
    pub status: Option<String>,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerRow {
    pub rowid: i64,
    pub response_json: Option<String>,
    pub cancelled: bool,
    pub created_at: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileRow {
    /// The path, relative to the directory of the mailbox.
    pub file: String,
    pub mime_type: Option<String>,
}

/// Reads a column as text, independent of its declared type and of the type of the stored value.
pub fn text(row: &Row, index: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    })
}

pub fn text_or_empty(row: &Row, index: usize) -> rusqlite::Result<String> {
    text(row, index).map(Option::unwrap_or_default)
}

pub fn flag(row: &Row, index: usize) -> rusqlite::Result<bool> {
    let text = text_or_empty(row, index)?;
    Ok(!matches!(
        text.trim().to_ascii_lowercase().as_str(),
        "" | "0" | "0.0" | "false"
    ))
}
