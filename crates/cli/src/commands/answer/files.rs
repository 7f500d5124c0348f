//! Files attached to an answer: size-limited, with their names on disk and a media type by extension.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use countersign_core::limits::{MAX_FILE_BYTES, MAX_FILES, check_files};
use countersign_core::message::FileNote;
use countersign_core::{Digest, Rejection};
use serde_json::{Value, json};

const UNKNOWN: &str = "application/octet-stream";

/// Common file types; all others are plain text or bytes.
const MEDIA_TYPES: [(&str, &str); 17] = [
    ("csv", "text/csv"),
    ("diff", "text/x-diff"),
    ("gif", "image/gif"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("log", "text/plain"),
    ("md", "text/markdown"),
    ("patch", "text/x-diff"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("txt", "text/plain"),
    ("webp", "image/webp"),
    ("zip", "application/zip"),
];

/// Returns the files as the resolve call expects them.
pub fn read(paths: &[PathBuf]) -> Result<Value> {
    if paths.len() > MAX_FILES {
        bail!(
            "an answer takes at most {MAX_FILES} files, not {} (invalid_field)",
            paths.len()
        );
    }
    let files: Vec<(FileNote, Vec<u8>)> = paths.iter().map(|path| read_one(path)).collect::<Result<_>>()?;
    let notes: Vec<FileNote> = files.iter().map(|(note, _)| note.clone()).collect();
    check_files(&notes).map_err(|rejection| anyhow!("{} (invalid_field)", named(&rejection, paths)))?;
    let sent = files
        .into_iter()
        .map(|(note, bytes)| json!({"name": note.name, "media_type": note.media_type, "data": STANDARD.encode(bytes)}));
    Ok(sent.collect())
}

/// Names the path in the error: the hub refers to files by index only.
fn named(rejection: &Rejection, paths: &[PathBuf]) -> String {
    let Rejection::InvalidField { field, message } = rejection else {
        return rejection.to_string();
    };
    let index = field.strip_prefix("files[").and_then(|rest| rest.split(']').next());
    match index
        .and_then(|index| index.parse::<usize>().ok())
        .and_then(|index| paths.get(index))
    {
        Some(path) => format!("--file {}: {message}", path.display()),
        None => format!("--file: {message}"),
    }
}

fn read_one(path: &Path) -> Result<(FileNote, Vec<u8>)> {
    let shown = path.display();
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.with_context(|| format!("--file {shown}: give a file with a name in UTF-8 (invalid_field)"))?;
    let file = File::open(path).with_context(|| format!("--file {shown}: cannot be read"))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("--file {shown}: cannot be read"))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        bail!("--file {shown}: keep a file within {MAX_FILE_BYTES} bytes (invalid_field)");
    }
    let note = FileNote {
        name: name.to_owned(),
        media_type: media_type(name, &bytes).to_owned(),
        size: bytes.len() as u64,
        sha256: Digest::of(&bytes).to_string(),
    };
    Ok((note, bytes))
}

/// By extension; without a known one, UTF-8 text is `text/plain`.
fn media_type(name: &str, bytes: &[u8]) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let known = extension.and_then(|extension| {
        MEDIA_TYPES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(extension))
            .map(|(_, media_type)| *media_type)
    });
    let is_text = || std::str::from_utf8(bytes).is_ok_and(|text| !text.is_empty() && !text.contains('\0'));
    known.unwrap_or_else(|| if is_text() { "text/plain" } else { UNKNOWN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_typed_by_its_extension() {
        assert_eq!(media_type("shot.PNG", b"x"), "image/png");
        assert_eq!(media_type("notes.tar.txt", b"\xff"), "text/plain");
        for name in ["Makefile", "a.", "run.sh", ".env"] {
            assert_eq!(media_type(name, "grüße\n".as_bytes()), "text/plain", "{name}");
            for bytes in [&b"\xff\xfe"[..], b"a\0b", b""] {
                assert_eq!(media_type(name, bytes), UNKNOWN, "{name}");
            }
        }
    }

    #[test]
    fn errors_name_the_file_as_given() {
        let paths = ["a/one.txt", "b/one.txt"].map(PathBuf::from);
        let rejection = Rejection::field("files[1].name", "two files have this name; rename one");
        assert_eq!(
            named(&rejection, &paths),
            "--file b/one.txt: two files have this name; rename one"
        );
        assert_eq!(
            named(&Rejection::field("files", "too much"), &paths),
            "--file: too much"
        );
    }

    #[test]
    fn an_unreadable_file_is_named() {
        let error = read(&["/nonexistent/a.txt".into()]).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/a.txt"), "{error}");
        let many = vec![PathBuf::from("/nonexistent/a.txt"); MAX_FILES + 1];
        assert!(read(&many).unwrap_err().to_string().contains("10 files"));
        assert!(read(&["..".into()]).is_err());
    }
}
