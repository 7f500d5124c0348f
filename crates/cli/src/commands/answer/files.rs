//! Files that go with an answer: read within the limits, named as on the disk, typed by their extension.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use countersign_core::Digest;
use countersign_core::limits::{MAX_FILE_BYTES, MAX_FILES, check_files};
use countersign_core::message::FileNote;
use serde_json::{Value, json};

const UNKNOWN: &str = "application/octet-stream";

/// What agents are commonly sent; the rest is bytes.
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

/// As the resolve call takes them.
pub fn read(paths: &[PathBuf]) -> Result<Value> {
    if paths.len() > MAX_FILES {
        bail!("an answer takes {MAX_FILES} files, not {} (invalid_field)", paths.len());
    }
    let files: Vec<(FileNote, Vec<u8>)> = paths.iter().map(|path| read_one(path)).collect::<Result<_>>()?;
    let notes: Vec<FileNote> = files.iter().map(|(note, _)| note.clone()).collect();
    check_files(&notes).map_err(|rejection| anyhow::anyhow!("{rejection} (invalid_field)"))?;
    let sent = files
        .into_iter()
        .map(|(note, bytes)| json!({"name": note.name, "media_type": note.media_type, "data": STANDARD.encode(bytes)}));
    Ok(sent.collect())
}

fn read_one(path: &Path) -> Result<(FileNote, Vec<u8>)> {
    let shown = path.display();
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.with_context(|| format!("--file {shown}: give a file with a name in UTF-8 (invalid_field)"))?;
    let file = File::open(path).with_context(|| format!("--file {shown}: cannot be read"))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).with_context(|| format!("--file {shown}: cannot be read"))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        bail!("--file {shown}: keep a file within {MAX_FILE_BYTES} bytes (invalid_field)");
    }
    let note = FileNote {
        name: name.to_owned(),
        media_type: media_type(name).to_owned(),
        size: bytes.len() as u64,
        sha256: Digest::of(&bytes).to_string(),
    };
    Ok((note, bytes))
}

fn media_type(name: &str) -> &'static str {
    let Some((_, extension)) = name.rsplit_once('.') else { return UNKNOWN };
    let known = MEDIA_TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension));
    known.map_or(UNKNOWN, |(_, media_type)| media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_typed_by_its_extension() {
        assert_eq!(media_type("shot.PNG"), "image/png");
        assert_eq!(media_type("notes.tar.txt"), "text/plain");
        for name in ["Makefile", "a.", "core.dump"] {
            assert_eq!(media_type(name), UNKNOWN, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let error = read(&["/nonexistent/a.txt".into()]).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/a.txt"), "{error}");
        let many = vec![PathBuf::from("/nonexistent/a.txt"); MAX_FILES + 1];
        assert!(read(&many).unwrap_err().to_string().contains("10 files"));
        assert!(read(&["..".into()]).is_err());
    }
}
