//! What became of a request.

use countersign_protocol::time::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::attach::{Attached, File};
use super::request::first_instant;
use super::rows::{AnswerRow, RequestRow};

/// As much of it as the hub takes.
const MOST_COMMENT_BYTES: usize = 20_000;
const NO_ANSWER: &str = "the mailbox has no answer to it";

#[derive(Debug, PartialEq, Serialize)]
pub struct Resolution {
    pub status: Status,
    pub resolved_at: Timestamp,
    pub text: Option<String>,
    pub comment: Option<String>,
    pub files: Vec<File>,
    /// Its agent has had it, as far as the mailbox knows.
    pub collected: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Answered,
    Cancelled,
}

/// The part of an answer that stands in its JSON. Anything unreadable is an answer without a text, as for the original.
#[derive(Debug, Default, PartialEq)]
pub struct Said {
    pub text: String,
    /// Pictures of older versions, as `(media type, base64)`.
    pub images: Vec<(Option<String>, String)>,
}

impl Said {
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

/// A row of the mailbox with everything that hangs on it.
#[derive(Debug, Default)]
pub struct Answer {
    pub row: AnswerRow,
    pub said: Said,
    pub attached: Attached,
}

/// Nothing for a request that is still open. An answer counts even where its request was not marked: the original writes the
/// two one after the other.
pub fn resolution(request: &RequestRow, answer: Option<Answer>, now: Timestamp) -> Option<Resolution> {
    let updated = request.updated_at.as_deref();
    let created = request.created_at.as_deref();
    let status = request
        .status
        .as_deref()
        .unwrap_or_default()
        .trim()
        .to_ascii_uppercase();
    let Some(Answer { row, said, attached }) = answer else {
        let comment = (status == "COMPLETED").then(|| NO_ANSWER.to_owned());
        let is_over = matches!(status.as_str(), "COMPLETED" | "CANCELLED");
        return is_over.then(|| cancelled(first_instant([updated, created], now), comment));
    };
    let resolved_at = first_instant([row.created_at.as_deref(), updated, created], now);
    if row.cancelled {
        return Some(cancelled(resolved_at, comment(&said.text)));
    }
    let text = Some(said.text);
    let files = attached.files;
    let collected = status != "PENDING";
    Some(Resolution {
        status: Status::Answered,
        resolved_at,
        text,
        comment: None,
        files,
        collected,
    })
}

fn cancelled(resolved_at: Timestamp, comment: Option<String>) -> Resolution {
    let status = Status::Cancelled;
    let files = Vec::new();
    Resolution {
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
    let end = (0..=text.len().min(MOST_COMMENT_BYTES))
        .rev()
        .find(|end| text.is_char_boundary(*end))?;
    Some(text[..end].to_owned()).filter(|comment| !comment.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: &str, answer: Option<(&str, bool)>) -> Option<(Status, Option<String>, Option<String>)> {
        let request = RequestRow {
            status: Some(status.to_owned()),
            ..RequestRow::default()
        };
        let answer = answer.map(|(json, cancelled)| Answer {
            row: AnswerRow {
                cancelled,
                ..AnswerRow::default()
            },
            said: Said::read(Some(json)),
            attached: Attached::default(),
        });
        resolution(&request, answer, Timestamp::from_millis(1)).map(|found| (found.status, found.text, found.comment))
    }

    #[test]
    fn what_became_of_a_request_is_read_from_its_answer_first() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(told("PENDING", None), None);
        assert_eq!(
            told("PENDING", Some((r#"{"text":"go"}"#, false))),
            Some((Status::Answered, text("go"), None))
        );
        assert_eq!(
            told("COMPLETED", Some(("{", false))),
            Some((Status::Answered, text(""), None))
        );
        assert_eq!(
            told("CANCELLED", Some((r#"{"text":" no "}"#, true))),
            Some((Status::Cancelled, None, text("no")))
        );
        assert_eq!(told("cancelled", None), Some((Status::Cancelled, None, None)));
        assert_eq!(
            told("COMPLETED", None),
            Some((Status::Cancelled, None, text(NO_ANSWER)))
        );
    }

    #[test]
    fn a_long_word_is_cut_between_letters() {
        let cut = comment(&"é".repeat(MOST_COMMENT_BYTES)).expect("a comment");
        assert!(cut.len() <= MOST_COMMENT_BYTES && cut.chars().all(|letter| letter == 'é'));
    }
}
