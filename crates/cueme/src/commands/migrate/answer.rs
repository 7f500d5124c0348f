//! How a request of the mailbox was resolved: answered, cancelled, or still open.

use countersign_protocol::time::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::attachments::{Attachments, MailboxFile};
use super::request::first_instant;
use super::rows::{AnswerRow, RequestRow};

/// The hub's limit for a comment; a longer one is cut.
const MAX_COMMENT_BYTES: usize = 20_000;
const NO_ANSWER: &str = "the mailbox has no answer to it";

#[derive(Debug, PartialEq, Serialize)]
pub struct MailboxResolution {
    pub status: MailboxStatus,
    pub resolved_at: Timestamp,
    pub text: Option<String>,
    pub comment: Option<String>,
    pub files: Vec<MailboxFile>,
    /// The agent has received the answer, as far as the mailbox records it.
    pub collected: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MailboxStatus {
    Answered,
    Cancelled,
}

/// The content of an answer, from its JSON. Unreadable JSON counts as an answer without text, as in the original cueme.
#[derive(Debug, Default, PartialEq)]
pub struct AnswerContent {
    pub text: String,
    /// Images, which older versions stored inline, as `(media type, base64)`.
    pub images: Vec<(Option<String>, String)>,
}

impl AnswerContent {
    pub fn read(json: Option<&str>) -> Self {
        let json: Value = json
            .and_then(|json| serde_json::from_str(json).ok())
            .unwrap_or_default();
        let text = json["text"].as_str().unwrap_or_default().to_owned();
        let images = json["images"].as_array().map(Vec::as_slice).unwrap_or_default();
        let image = |image: &Value| {
            Some((
                image["mime_type"].as_str().map(str::to_owned),
                image["base64_data"].as_str()?.to_owned(),
            ))
        };
        Self {
            text,
            images: images.iter().filter_map(image).collect(),
        }
    }
}

/// An answer row with its parsed content and its attachments.
#[derive(Debug, Default)]
pub struct MailboxAnswer {
    pub row: AnswerRow,
    pub content: AnswerContent,
    pub attachments: Attachments,
}

/// Returns `None` for a request that is still open. An answer counts even if its request is still marked as pending:
/// the original writes the two rows one after the other.
pub fn resolution(request: &RequestRow, answer: Option<MailboxAnswer>, now: Timestamp) -> Option<MailboxResolution> {
    let updated = request.updated_at.as_deref();
    let created = request.created_at.as_deref();
    let status = request
        .status
        .as_deref()
        .unwrap_or_default()
        .trim()
        .to_ascii_uppercase();
    let Some(MailboxAnswer {
        row,
        content,
        attachments,
    }) = answer
    else {
        let comment = (status == "COMPLETED").then(|| NO_ANSWER.to_owned());
        let is_over = matches!(status.as_str(), "COMPLETED" | "CANCELLED");
        return is_over.then(|| cancelled(first_instant([updated, created], now), comment));
    };
    let resolved_at = first_instant([row.created_at.as_deref(), updated, created], now);
    if row.cancelled {
        return Some(cancelled(resolved_at, comment(&content.text)));
    }
    let text = Some(content.text);
    let files = attachments.files;
    let collected = status != "PENDING";
    Some(MailboxResolution {
        status: MailboxStatus::Answered,
        resolved_at,
        text,
        comment: None,
        files,
        collected,
    })
}

fn cancelled(resolved_at: Timestamp, comment: Option<String>) -> MailboxResolution {
    let status = MailboxStatus::Cancelled;
    let files = Vec::new();
    MailboxResolution {
        status,
        resolved_at,
        text: None,
        comment,
        files,
        collected: true,
    }
}

fn comment(text: &str) -> Option<String> {
    let text = text.trim();
    let end = (0..=text.len().min(MAX_COMMENT_BYTES))
        .rev()
        .find(|end| text.is_char_boundary(*end))?;
    Some(text[..end].to_owned()).filter(|comment| !comment.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(status: &str, answer: Option<(&str, bool)>) -> Option<(MailboxStatus, Option<String>, Option<String>)> {
        let request = RequestRow {
            status: Some(status.to_owned()),
            ..RequestRow::default()
        };
        let answer = answer.map(|(json, cancelled)| MailboxAnswer {
            row: AnswerRow {
                cancelled,
                ..AnswerRow::default()
            },
            content: AnswerContent::read(Some(json)),
            attachments: Attachments::default(),
        });
        resolution(&request, answer, Timestamp::from_millis(1)).map(|found| (found.status, found.text, found.comment))
    }

    #[test]
    fn an_answer_takes_precedence_over_the_request_status() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(resolve("PENDING", None), None);
        assert_eq!(
            resolve("PENDING", Some((r#"{"text":"go"}"#, false))),
            Some((MailboxStatus::Answered, text("go"), None))
        );
        assert_eq!(
            resolve("COMPLETED", Some(("{", false))),
            Some((MailboxStatus::Answered, text(""), None))
        );
        assert_eq!(
            resolve("CANCELLED", Some((r#"{"text":" no "}"#, true))),
            Some((MailboxStatus::Cancelled, None, text("no")))
        );
        assert_eq!(resolve("cancelled", None), Some((MailboxStatus::Cancelled, None, None)));
        assert_eq!(
            resolve("COMPLETED", None),
            Some((MailboxStatus::Cancelled, None, text(NO_ANSWER)))
        );
    }

    #[test]
    fn a_long_comment_is_cut_at_a_character_boundary() {
        let cut = comment(&"é".repeat(MAX_COMMENT_BYTES)).expect("a comment");
        assert!(cut.len() <= MAX_COMMENT_BYTES && cut.chars().all(|letter| letter == 'é'));
    }
}
