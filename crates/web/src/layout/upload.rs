//! Multipart forms with files. The body is read as a stream: files that are too large are discarded while reading, and
//! the typed fields are kept.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, header};
use countersign_core::Rejection;
use countersign_core::limits::{MAX_FILE_BYTES, MAX_FILES, MAX_FILES_BYTES, check_files};
use countersign_hub::Hub;
use countersign_hub::http::attachments::AttachedFiles;
use countersign_hub::http::body;
use countersign_hub::limits::memory_budget::MemoryPermit;
use countersign_hub::problem::Problem;
use http_body::Body as _;
use multer::{Constraints, Multipart, SizeLimit};

use super::form::{FormFields, MAX_FORM_BYTES, MAX_LONG_FORM_BYTES, check_csrf, check_origin};
use super::formatting::size;
use super::page::PageError;
use super::signed_in_user::SignedInUser;
use crate::language::say;

/// Bytes read at most. More than the file limits allow is read and discarded, to be able to name the file that is too
/// large.
const MAX_READ_BYTES: u64 = 64 * 1024 * 1024;
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(180);
/// The form field that holds files.
pub const FILES: &str = "files";
const MAX_PARTS: usize = 1100;
/// Characters of a file name that are shown.
const MAX_NAME_CHARS: usize = 200;
/// Files that are named when they are too large.
const MAX_NAMED_FILES: usize = 10;

/// A form of a signed-in user before its body is read. The size limit depends on the message that the form answers.
pub struct UnreadForm {
    pub user: SignedInUser,
    headers: HeaderMap,
    body: Body,
}

/// The form after its body was read.
pub struct SubmittedForm {
    pub user: SignedInUser,
    /// Includes the names of the files.
    pub fields: FormFields,
    pub files: AttachedFiles,
    /// Errors in the files.
    pub faults: Vec<String>,
    /// Memory permit, held as long as the files are.
    pub permit: Option<MemoryPermit>,
}

impl FromRequest<Arc<Hub>> for UnreadForm {
    type Rejection = PageError;

    async fn from_request(request: Request, hub: &Arc<Hub>) -> Result<Self, PageError> {
        let (mut parts, body) = request.into_parts();
        let user = SignedInUser::from_request_parts(&mut parts, hub).await?;
        check_origin(&parts.headers)?;
        Ok(Self {
            user,
            headers: parts.headers,
            body,
        })
    }
}

/// Input that is accepted besides a short text.
#[derive(Debug, Clone, Copy, Default)]
pub struct AcceptedInput {
    pub files: bool,
    pub long_text: bool,
}

impl UnreadForm {
    /// True if the form may contain files or a long text.
    pub fn may_be_large(&self) -> bool {
        let length = self
            .headers
            .get(header::CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse().ok());
        self.boundary().is_some() || length.is_some_and(|length: usize| length > MAX_FORM_BYTES)
    }

    fn boundary(&self) -> Option<String> {
        let kind = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        multer::parse_boundary(kind).ok()
    }

    pub async fn read(self, hub: &Hub, accepted: AcceptedInput) -> Result<SubmittedForm, PageError> {
        let mut permit = None;
        let max_bytes = if accepted.long_text {
            MAX_LONG_FORM_BYTES
        } else {
            MAX_FORM_BYTES
        };
        let (fields, files, faults) = match self.boundary() {
            None => (
                FormFields::read_within(self.body, max_bytes).await?,
                AttachedFiles::default(),
                Vec::new(),
            ),
            Some(boundary) => {
                permit = hub
                    .limits
                    .memory
                    .acquire(self.user.actor().as_str(), self.max_memory(accepted.files))
                    .await?;
                let reading = read_parts(self.body, boundary, accepted.files);
                let parts = tokio::time::timeout(UPLOAD_TIMEOUT, reading)
                    .await
                    .map_err(|_| Problem::TimedOut)??;
                let faults = parts.faults();
                (FormFields::of(parts.typed), parts.files, faults)
            }
        };
        check_csrf(&self.headers, &fields, &self.user)?;
        Ok(SubmittedForm {
            user: self.user,
            fields,
            files,
            faults,
            permit,
        })
    }

    /// Upper bound of the memory for this form; files that are too large are not kept.
    fn max_memory(&self, accepts_files: bool) -> usize {
        let max_bytes = if accepts_files { MAX_FILES_BYTES } else { 0 } + MAX_FORM_BYTES as u64;
        let sent = self.body.size_hint().upper().unwrap_or(u64::MAX);
        usize::try_from(sent.min(max_bytes)).unwrap_or(usize::MAX)
    }
}

#[derive(Default)]
struct FormParts {
    typed: Vec<(String, String)>,
    typed_bytes: usize,
    /// Files in the order of arrival, until the form is complete.
    received: Vec<ReceivedFile>,
    files: AttachedFiles,
    /// Total size of the kept files.
    file_bytes: u64,
    /// Names of the first files that were too large.
    too_large: Vec<String>,
    too_many: bool,
}

struct ReceivedFile {
    name: String,
    media_type: Option<String>,
    body: Vec<u8>,
}

async fn read_parts(body: Body, boundary: String, accepts_files: bool) -> Result<FormParts, Problem> {
    let max_bytes = if accepts_files {
        MAX_READ_BYTES
    } else {
        MAX_FORM_BYTES as u64
    };
    let limits = Constraints::new().size_limit(
        SizeLimit::new()
            .whole_stream(max_bytes)
            .per_field(MAX_FORM_BYTES as u64)
            .for_field(FILES, MAX_READ_BYTES),
    );
    let mut form = Multipart::with_constraints(body.into_data_stream(), boundary, limits);
    let mut parts = FormParts::default();
    let mut count = 0;
    while let Some(field) = form.next_field().await.map_err(|error| multipart_problem(&error))? {
        count += 1;
        if count > MAX_PARTS {
            return Err(Problem::invalid(
                "form",
                say!("send at most {count} form fields", count = MAX_PARTS),
            ));
        }
        let name = field.name().unwrap_or_default().to_owned();
        match field.file_name().map(file_name) {
            // Browsers send an empty name if no file was chosen.
            Some(file) if file.is_empty() => {}
            Some(file) => parts.take_file(&name, file, field).await?,
            None => parts.take_typed(name, field).await?,
        }
    }
    let received = std::mem::take(&mut parts.received);
    let bytes = usize::try_from(parts.file_bytes).unwrap_or(usize::MAX);
    parts.files = body::offload_if_large(bytes, move || attached(received)).await?;
    Ok(parts)
}

fn attached(received: Vec<ReceivedFile>) -> AttachedFiles {
    let mut files = AttachedFiles::default();
    received
        .into_iter()
        .for_each(|ReceivedFile { name, media_type, body }| files.add(name, media_type, body));
    files
}

/// The file name as the user's browser has it. A name that is too long is cut here and refused later.
fn file_name(sent: &str) -> String {
    let name: String = sent.chars().take(MAX_NAME_CHARS + 1).collect();
    let name = name.replace("%22", "\"");
    if name.chars().count() > MAX_NAME_CHARS {
        format!("{name}…")
    } else {
        name
    }
}

impl FormParts {
    async fn take_typed(&mut self, name: String, field: multer::Field<'_>) -> Result<(), Problem> {
        let text = field.text().await.map_err(|error| multipart_problem(&error))?;
        self.typed_bytes += name.len() + text.len();
        if self.typed_bytes > MAX_FORM_BYTES {
            return Err(Problem::invalid(
                "form",
                say!(
                    "the text must be shorter than {size}",
                    size = size(MAX_FORM_BYTES as u64)
                ),
            ));
        }
        self.typed.push((name, text));
        Ok(())
    }

    async fn take_file(&mut self, field_name: &str, name: String, mut field: multer::Field<'_>) -> Result<(), Problem> {
        let media_type = field.content_type().map(ToString::to_string);
        let mut body = Vec::new();
        let is_one_too_many = field_name != FILES || self.received.len() >= MAX_FILES;
        let mut is_too_large = false;
        while let Some(chunk) = field.chunk().await.map_err(|error| multipart_problem(&error))? {
            let together = body.len() as u64 + chunk.len() as u64;
            is_too_large |= together > MAX_FILE_BYTES || self.file_bytes + together > MAX_FILES_BYTES;
            if is_too_large || is_one_too_many {
                body = Vec::new();
            } else {
                body.extend_from_slice(&chunk);
            }
        }
        if field_name == FILES && !is_one_too_many && self.too_large.len() < MAX_NAMED_FILES {
            self.typed.push((FILES.to_owned(), name.clone()));
        }
        match (is_one_too_many, is_too_large) {
            (true, _) => self.too_many |= field_name == FILES,
            (false, true) if self.too_large.len() < MAX_NAMED_FILES => self.too_large.push(name),
            (false, true) => self.too_many = true,
            (false, false) => {
                self.file_bytes += body.len() as u64;
                self.received.push(ReceivedFile { name, media_type, body });
            }
        }
        Ok(())
    }

    fn faults(&self) -> Vec<String> {
        let large = self.too_large.iter().map(|name| {
            let each = size(MAX_FILE_BYTES);
            let together = size(MAX_FILES_BYTES);
            say!(
                "{name} is too large: each file may have {each}, and all files together {together}",
                name = name,
                each = each,
                together = together
            )
        });
        let many = self
            .too_many
            .then(|| say!("attach at most {count} files", count = MAX_FILES));
        large.chain(many).chain(self.name_fault()).collect()
    }

    /// The core reports a file by its index; this message has its name instead.
    fn name_fault(&self) -> Option<String> {
        let Err(Rejection::InvalidField { field, message }) = check_files(&self.files.notes) else {
            return None;
        };
        let index = field
            .strip_prefix("files[")
            .and_then(|rest| rest.split_once(']')?.0.parse::<usize>().ok());
        let note = index.and_then(|index| self.files.notes.get(index));
        Some(note.map_or_else(|| message.clone(), |note| format!("{}: {message}", note.name)))
    }
}

fn multipart_problem(error: &multer::Error) -> Problem {
    match error {
        multer::Error::StreamSizeExceeded { limit } | multer::Error::FieldSizeExceeded { limit, .. } => {
            Problem::invalid(
                "form",
                say!("the form must be smaller than {size}", size = size(*limit)),
            )
        }
        _ => Problem::malformed("the upload was cut off; send the form again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(head: &str, body: &[u8]) -> Vec<u8> {
        [
            b"--b\r\ncontent-disposition: form-data; ",
            head.as_bytes(),
            b"\r\n\r\n",
            body,
            b"\r\n",
        ]
        .concat()
    }

    async fn parts(sent: &[Vec<u8>], accepts_files: bool) -> Result<FormParts, Problem> {
        let body = [sent.concat(), b"--b--\r\n".to_vec()].concat();
        read_parts(Body::from(body), "b".to_owned(), accepts_files).await
    }

    fn file(name: &str, body: &[u8]) -> Vec<u8> {
        part(&format!("name=\"files\"; filename=\"{name}\""), body)
    }

    #[tokio::test]
    async fn too_large_file_is_named_and_typed_text_is_kept() {
        let large = vec![b'x'; MAX_FILE_BYTES as usize + 1];
        let sent = [
            file("big.bin", &large),
            file("n%22 1.txt", b"hi"),
            file("", b""),
            part("name=\"typed\"", b"so"),
        ];
        let parts = parts(&sent, true).await.expect("it is read");
        assert_eq!(parts.files.bodies, [b"hi"]);
        assert_eq!(parts.files.notes[0].name, "n\" 1.txt");
        let faults = parts.faults();
        assert!(
            faults.len() == 1 && faults[0].starts_with("big.bin is too large"),
            "{faults:?}"
        );
        assert!(
            parts.typed.contains(&("typed".to_owned(), "so".to_owned())),
            "{:?}",
            parts.typed
        );
    }

    #[tokio::test]
    async fn too_many_files_and_duplicate_names_are_reported() {
        let many: Vec<_> = (0..=MAX_FILES).map(|nth| file(&nth.to_string(), b"")).collect();
        assert_eq!(
            parts(&many, true).await.expect("it is read").faults(),
            ["attach at most 10 files"]
        );
        let twice = parts(&[file("a", b""), file("a", b"")], true)
            .await
            .expect("it is read")
            .faults();
        assert!(twice[0].starts_with("a: two files have this name"), "{twice:?}");
    }

    #[tokio::test]
    async fn number_and_length_of_file_errors_are_limited() {
        let large = vec![b'x'; MAX_FILE_BYTES as usize];
        let mut many: Vec<_> = (0..3).map(|nth| file(&nth.to_string(), &large)).collect();
        many.extend((0..500).map(|nth| file(&format!("{nth}.txt"), b"x")));
        let crowded = parts(&many, true).await.expect("it is read");
        assert!(
            crowded.faults().len() <= 3 * MAX_NAMED_FILES && crowded.typed.len() <= 3 * MAX_NAMED_FILES,
            "{:?}",
            crowded.faults()
        );
        let long = parts(&[file(&"n".repeat(1024 * 1024), b"x")], true)
            .await
            .expect("it is read");
        let faults = long.faults();
        assert!(faults.len() == 1 && faults[0].len() < 1000, "{faults:?}");
        assert!(long.typed.iter().all(|(_, name)| name.len() < 1000));
        let parts = parts(&vec![part("name=\"a\"", b""); MAX_PARTS + 1], true).await;
        assert!(matches!(parts, Err(Problem::InvalidField { .. })));
    }

    #[tokio::test]
    async fn large_form_is_accepted_only_if_files_are_accepted() {
        let sent = [file("a", &vec![0; MAX_FORM_BYTES + 1])];
        assert!(parts(&sent, false).await.is_err());
        assert!(parts(&sent, true).await.is_ok());
        let typed = [part("name=\"comment\"", &vec![b'x'; MAX_FORM_BYTES + 1])];
        assert!(parts(&typed, true).await.is_err(), "text is always limited");
    }
}
