//! Files attached to an answer: reading them from a request, and serving them as downloads.

use axum::http::header::{self, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use countersign_core::Digest;
use countersign_core::limits::{MAX_FILES, check_files};
use countersign_core::message::{FileNote, Resolution};
use countersign_protocol::id::MessageId;
use countersign_store::ops::terminal::Attachment;
use serde::Deserialize;
use serde_json::Value;

use crate::Hub;
use crate::http::chunked_body::chunked_body;
use crate::limits::memory_budget::MemoryPermit;
use crate::problem::Problem;

/// Request limit for an answer with the largest allowed set of files, in base64.
pub const MAX_BYTES_WITH_FILES: usize = 28 * 1024 * 1024;
const OCTET_STREAM: &str = "application/octet-stream";

#[derive(Debug, Default)]
pub struct AttachedFiles {
    pub notes: Vec<FileNote>,
    /// The file contents, in the order of `notes`.
    pub bodies: Vec<Vec<u8>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileInput {
    name: String,
    media_type: Option<String>,
    data: String,
}

impl AttachedFiles {
    /// Reads `files` of a request: null, or a list of `{name, media_type?, data}` with the bytes in base64.
    pub fn read(files: Value) -> Result<Self, Problem> {
        let files = match files {
            Value::Null => return Ok(Self::default()),
            Value::Array(files) => files,
            _ => {
                return Err(Problem::validation(
                    "files",
                    "files must be a list of {name, media_type, data}",
                ));
            }
        };
        if files.len() > MAX_FILES {
            return Err(Problem::invalid("files", format!("send at most {MAX_FILES} files")));
        }
        let mut attached = Self::default();
        for (index, file) in files.into_iter().enumerate() {
            let field = format!("files[{index}]");
            let given: FileInput = serde_json::from_value(file)
                .map_err(|error| Problem::validation(&field, format!("{field}: {error}")))?;
            let body = STANDARD
                .decode(given.data)
                .map_err(|_| Problem::invalid(format!("{field}.data"), "must be the file contents in base64"))?;
            attached.add(given.name, given.media_type, body);
        }
        check_files(&attached.notes)?;
        Ok(attached)
    }

    /// Adds a file without checking it; `check_files` does that.
    pub fn add(&mut self, name: String, media_type: Option<String>, body: Vec<u8>) {
        self.notes.push(FileNote {
            name,
            media_type: media_type
                .filter(|name| !name.trim().is_empty())
                .unwrap_or_else(|| OCTET_STREAM.to_owned()),
            size: body.len() as u64,
            sha256: Digest::of(&body).to_string(),
        });
        self.bodies.push(body);
    }
}

/// A download of untrusted content. The headers keep browsers from rendering it as a page.
pub fn download(name: &str, media_type: &'static str, body: Vec<u8>, permit: Option<MemoryPermit>) -> Response {
    const HEADERS: [(HeaderName, HeaderValue); 3] = [
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-store")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("default-src 'none'; sandbox"),
        ),
    ];
    let disposition = format!("attachment; filename*=UTF-8''{}", percent_encoded(name));
    let named = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_str(&disposition).unwrap_or_else(|_| HeaderValue::from_static("attachment")),
        ),
    ];
    (HEADERS, named, chunked_body(body, permit)).into_response()
}

/// Serves a file of an answer. The calling function has checked that `caller` may see it; its bytes count against the
/// memory budget of `caller` until they are sent.
pub async fn attachment_response(
    hub: &Hub,
    caller: &str,
    id: &MessageId,
    resolution: &Resolution,
    index: usize,
) -> Result<Response, Problem> {
    let note = resolution.files.get(index).ok_or_else(Problem::no_file)?;
    let row_index = i64::try_from(index).map_err(|_| Problem::no_file())?;
    let permit = hub
        .limits
        .memory
        .acquire(caller, usize::try_from(note.size).unwrap_or(usize::MAX))
        .await?;
    let body = hub
        .store
        .run(Attachment {
            id: id.clone(),
            index: row_index,
        })
        .await?
        .ok_or_else(Problem::no_file)?;
    Ok(download(&note.name, OCTET_STREAM, body, permit))
}

fn percent_encoded(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(files: Value) -> String {
        let problem = AttachedFiles::read(files).expect_err("a refusal");
        problem.field().unwrap_or_default().to_owned()
    }

    #[test]
    fn file_is_read_with_its_size_and_digest() {
        let attached = AttachedFiles::read(json!([{"name": "a b.txt", "data": "aGk="}])).expect("a file");
        assert_eq!(attached.bodies, [b"hi"]);
        let note = &attached.notes[0];
        assert_eq!(
            (note.name.as_str(), note.media_type.as_str(), note.size),
            ("a b.txt", OCTET_STREAM, 2)
        );
        assert_eq!(note.sha256, Digest::of(b"hi").to_string());
        assert!(AttachedFiles::read(Value::Null).expect("nothing").notes.is_empty());
    }

    #[test]
    fn malformed_file_is_refused_with_its_field() {
        let file = |name: &str, data: &str| json!({"name": name, "data": data});
        for (files, field) in [
            (json!("x"), "files"),
            (json!([1]), "files[0]"),
            (json!([file("a", "aGk="), file("b", "no base64!")]), "files[1].data"),
            (json!([file("../a", "aGk=")]), "files[0].name"),
            (json!([file("a", ""), file("a", "")]), "files[1].name"),
            (json!(vec![file("a", ""); 11]), "files"),
            (json!([{"name": "a", "data": "", "path": "/etc"}]), "files[0]"),
        ] {
            assert_eq!(refused(files.clone()), field, "{files}");
        }
    }

    #[test]
    fn any_file_name_is_safe_in_a_header() {
        assert_eq!(percent_encoded("é \"x\"; y.txt"), "%C3%A9%20%22x%22%3B%20y.txt");
    }
}
