//! A form with files, as browsers send it. It is read as it comes: what is too large is dropped on the way, and what was
//! typed beside it is kept all the same.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, header};
use countersign_core::Rejection;
use countersign_core::limits::{MAX_FILE_BYTES, MAX_FILES, MAX_FILES_BYTES, check_files};
use countersign_hub::Hub;
use countersign_hub::attachments::Attached;
use countersign_hub::body;
use countersign_hub::problem::Problem;
use countersign_hub::room::Hold;
use http_body::Body as _;
use multer::{Constraints, Multipart, SizeLimit};

use super::form::{Fields, LARGEST_FORM, LARGEST_LONG_FORM, check_csrf, check_origin};
use super::format::size;
use super::page::Failure;
use super::signed_in::Visitor;

/// So much is read, and what does not fit thrown away, only to say which file is too large.
const MOST_READ: u64 = 64 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(180);
/// The one field of a form that holds files.
pub const FILES: &str = "files";
const MOST_PARTS: usize = 1100;
/// So much of the name of a file is shown, and so many files that are too large are named.
const MOST_NAME_CHARS: usize = 200;
const MOST_NAMED: usize = 10;

/// A form of somebody who is signed in, before its body is read: how much of it may come depends on what it is for.
pub struct Unread {
    pub visitor: Visitor,
    headers: HeaderMap,
    body: Body,
}

/// What was in it.
pub struct Sent {
    pub visitor: Visitor,
    /// The names of the files are among them.
    pub fields: Fields,
    pub files: Attached,
    /// What is wrong with the files.
    pub faults: Vec<String>,
    /// For as long as the files are held.
    pub hold: Option<Hold>,
}

impl FromRequest<Arc<Hub>> for Unread {
    type Rejection = Failure;

    async fn from_request(request: Request, hub: &Arc<Hub>) -> Result<Self, Failure> {
        let (mut parts, body) = request.into_parts();
        let visitor = Visitor::from_request_parts(&mut parts, hub).await?;
        check_origin(&parts.headers)?;
        Ok(Self {
            visitor,
            headers: parts.headers,
            body,
        })
    }
}

/// What may be in it besides a short text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Takes {
    pub files: bool,
    pub long_text: bool,
}

impl Unread {
    /// Whether it may hold files, or more text than most forms.
    pub fn is_special(&self) -> bool {
        let length = self
            .headers
            .get(header::CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse().ok());
        self.boundary().is_some() || length.is_some_and(|length: usize| length > LARGEST_FORM)
    }

    fn boundary(&self) -> Option<String> {
        let kind = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        multer::parse_boundary(kind).ok()
    }

    pub async fn read(self, hub: &Hub, takes: Takes) -> Result<Sent, Failure> {
        let mut hold = None;
        let most = if takes.long_text {
            LARGEST_LONG_FORM
        } else {
            LARGEST_FORM
        };
        let (fields, files, faults) = match self.boundary() {
            None => (
                Fields::read_within(self.body, most).await?,
                Attached::default(),
                Vec::new(),
            ),
            Some(boundary) => {
                hold = hub
                    .room
                    .take(self.visitor.actor().as_str(), self.held_at_most(takes.files))
                    .await?;
                let reading = read_parts(self.body, boundary, takes.files);
                let parts = tokio::time::timeout(PATIENCE, reading)
                    .await
                    .map_err(|_| Problem::TimedOut)??;
                let faults = parts.faults();
                (Fields::of(parts.typed), parts.files, faults)
            }
        };
        check_csrf(&self.headers, &fields, &self.visitor)?;
        Ok(Sent {
            visitor: self.visitor,
            fields,
            files,
            faults,
            hold,
        })
    }

    /// What is too large is not kept.
    fn held_at_most(&self, takes_files: bool) -> usize {
        let most = if takes_files { MAX_FILES_BYTES } else { 0 } + LARGEST_FORM as u64;
        let sent = self.body.size_hint().upper().unwrap_or(u64::MAX);
        usize::try_from(sent.min(most)).unwrap_or(usize::MAX)
    }
}

#[derive(Default)]
struct Parts {
    typed: Vec<(String, String)>,
    typed_bytes: usize,
    /// As they came, until all are here.
    came: Vec<Came>,
    files: Attached,
    /// Of the files that are kept.
    file_bytes: u64,
    /// The first of them, by name.
    too_large: Vec<String>,
    too_many: bool,
}

struct Came {
    name: String,
    media_type: Option<String>,
    body: Vec<u8>,
}

async fn read_parts(body: Body, boundary: String, takes_files: bool) -> Result<Parts, Problem> {
    let most = if takes_files { MOST_READ } else { LARGEST_FORM as u64 };
    let limits = Constraints::new().size_limit(
        SizeLimit::new()
            .whole_stream(most)
            .per_field(LARGEST_FORM as u64)
            .for_field(FILES, MOST_READ),
    );
    let mut form = Multipart::with_constraints(body.into_data_stream(), boundary, limits);
    let mut parts = Parts::default();
    let mut count = 0;
    while let Some(field) = form.next_field().await.map_err(|error| broken(&error))? {
        count += 1;
        if count > MOST_PARTS {
            return Err(Problem::invalid("form", format!("send at most {MOST_PARTS} parts")));
        }
        let name = field.name().unwrap_or_default().to_owned();
        match field.file_name().map(file_name) {
            // As browsers send it when no file was chosen.
            Some(file) if file.is_empty() => {}
            Some(file) => parts.take_file(&name, file, field).await?,
            None => parts.take_typed(name, field).await?,
        }
    }
    let came = std::mem::take(&mut parts.came);
    let bytes = usize::try_from(parts.file_bytes).unwrap_or(usize::MAX);
    parts.files = body::work(bytes, move || attached(came)).await?;
    Ok(parts)
}

fn attached(came: Vec<Came>) -> Attached {
    let mut files = Attached::default();
    came.into_iter()
        .for_each(|Came { name, media_type, body }| files.add(name, media_type, body));
    files
}

/// As the browser had it. What is far too long for a name is refused later on, and need not be kept whole until then.
fn file_name(sent: &str) -> String {
    let name: String = sent.chars().take(MOST_NAME_CHARS + 1).collect();
    let name = name.replace("%22", "\"");
    if name.chars().count() > MOST_NAME_CHARS {
        format!("{name}…")
    } else {
        name
    }
}

impl Parts {
    async fn take_typed(&mut self, name: String, field: multer::Field<'_>) -> Result<(), Problem> {
        let text = field.text().await.map_err(|error| broken(&error))?;
        self.typed_bytes += name.len() + text.len();
        if self.typed_bytes > LARGEST_FORM {
            return Err(Problem::invalid(
                "form",
                format!("write less than {}", size(LARGEST_FORM as u64)),
            ));
        }
        self.typed.push((name, text));
        Ok(())
    }

    async fn take_file(&mut self, field_name: &str, name: String, mut field: multer::Field<'_>) -> Result<(), Problem> {
        let media_type = field.content_type().map(ToString::to_string);
        let mut body = Vec::new();
        let is_one_too_many = field_name != FILES || self.came.len() >= MAX_FILES;
        let mut is_too_large = false;
        while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error))? {
            let together = body.len() as u64 + chunk.len() as u64;
            is_too_large |= together > MAX_FILE_BYTES || self.file_bytes + together > MAX_FILES_BYTES;
            if is_too_large || is_one_too_many {
                body = Vec::new();
            } else {
                body.extend_from_slice(&chunk);
            }
        }
        if field_name == FILES && !is_one_too_many && self.too_large.len() < MOST_NAMED {
            self.typed.push((FILES.to_owned(), name.clone()));
        }
        match (is_one_too_many, is_too_large) {
            (true, _) => self.too_many |= field_name == FILES,
            (false, true) if self.too_large.len() < MOST_NAMED => self.too_large.push(name),
            (false, true) => self.too_many = true,
            (false, false) => {
                self.file_bytes += body.len() as u64;
                self.came.push(Came { name, media_type, body });
            }
        }
        Ok(())
    }

    fn faults(&self) -> Vec<String> {
        let large = self.too_large.iter().map(|name| {
            let each = size(MAX_FILE_BYTES);
            let together = size(MAX_FILES_BYTES);
            format!("{name} is too large: a file may have {each}, and all of them {together} together")
        });
        let many = self.too_many.then(|| format!("attach at most {MAX_FILES} files"));
        large.chain(many).chain(self.name_fault()).collect()
    }

    /// What the core says about a file by its place is said by its name.
    fn name_fault(&self) -> Option<String> {
        let Err(Rejection::InvalidField { field, message }) = check_files(&self.files.notes) else {
            return None;
        };
        let place = field
            .strip_prefix("files[")
            .and_then(|rest| rest.split_once(']')?.0.parse::<usize>().ok());
        let note = place.and_then(|place| self.files.notes.get(place));
        Some(note.map_or_else(|| message.clone(), |note| format!("{}: {message}", note.name)))
    }
}

fn broken(error: &multer::Error) -> Problem {
    match error {
        multer::Error::StreamSizeExceeded { limit } | multer::Error::FieldSizeExceeded { limit, .. } => {
            Problem::invalid("form", format!("send less than {}", size(*limit)))
        }
        _ => Problem::Validation {
            field: None,
            message: "the form broke off; send it again".to_owned(),
        },
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

    async fn parts(sent: &[Vec<u8>], takes_files: bool) -> Result<Parts, Problem> {
        let body = [sent.concat(), b"--b--\r\n".to_vec()].concat();
        read_parts(Body::from(body), "b".to_owned(), takes_files).await
    }

    fn file(name: &str, body: &[u8]) -> Vec<u8> {
        part(&format!("name=\"files\"; filename=\"{name}\""), body)
    }

    #[tokio::test]
    async fn what_is_too_large_is_named_and_what_was_typed_stays() {
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
    async fn too_many_and_odd_names_are_told() {
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
    async fn a_page_does_not_grow_with_what_is_wrong_in_a_form() {
        let large = vec![b'x'; MAX_FILE_BYTES as usize];
        let mut many: Vec<_> = (0..3).map(|nth| file(&nth.to_string(), &large)).collect();
        many.extend((0..500).map(|nth| file(&format!("{nth}.txt"), b"x")));
        let told = parts(&many, true).await.expect("it is read");
        assert!(
            told.faults().len() <= 3 * MOST_NAMED && told.typed.len() <= 3 * MOST_NAMED,
            "{:?}",
            told.faults()
        );
        let long = parts(&[file(&"n".repeat(1024 * 1024), b"x")], true)
            .await
            .expect("it is read");
        let faults = long.faults();
        assert!(faults.len() == 1 && faults[0].len() < 1000, "{faults:?}");
        assert!(long.typed.iter().all(|(_, name)| name.len() < 1000));
        let parts = parts(&vec![part("name=\"a\"", b""); MOST_PARTS + 1], true).await;
        assert!(matches!(parts, Err(Problem::InvalidField { .. })));
    }

    #[tokio::test]
    async fn only_where_files_are_taken_may_much_be_sent() {
        let sent = [file("a", &vec![0; LARGEST_FORM + 1])];
        assert!(parts(&sent, false).await.is_err());
        assert!(parts(&sent, true).await.is_ok());
        let typed = [part("name=\"comment\"", &vec![b'x'; LARGEST_FORM + 1])];
        assert!(
            parts(&typed, true).await.is_err(),
            "words are bounded wherever they come"
        );
    }
}
