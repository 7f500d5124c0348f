//! The files of an answer, saved where an agent can open them. If one cannot be saved, the answer is not printed: it
//! stays at the hub, and the next call tries again.

use std::fmt;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aws_lc_rs::digest::{SHA256, digest};
use countersign_client::data_dir;
use countersign_protocol::escape;
use serde_json::{Value, json};

use super::failure::Failure;
use super::session::{HubSession, OutageNotices};
use super::terminal::out;
use super::wire::{CueView, ReplyFile};

/// Above the limit that the hub sets for an answer.
const MAX_FILES: usize = 100;
const MAX_NAME_BYTES: usize = 200;
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default, PartialEq)]
pub struct SavedFile {
    pub path: PathBuf,
    pub name: String,
    pub media_type: Option<String>,
    pub size: u64,
    pub sha256: String,
}

impl fmt::Display for SavedFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "- {}", self.path.display())?;
        match self.media_type.as_deref() {
            None | Some("") => Ok(()),
            Some(media_type) => write!(formatter, " ({})", out::escape(media_type)),
        }
    }
}

impl SavedFile {
    pub fn as_json(&self) -> Value {
        json!({
            "path": self.path.to_string_lossy(),
            "name": self.name,
            "media_type": self.media_type,
            "size": self.size,
            "sha256": self.sha256,
        })
    }
}

pub fn save(session: &mut HubSession, cue: &CueView, data_flag: Option<&Path>) -> Result<Vec<SavedFile>, Failure> {
    let files = &cue.reply.files;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    if files.len() > MAX_FILES {
        return Err(Failure::failed(&format!(
            "the answer has {} files, more than {MAX_FILES}",
            files.len()
        )));
    }
    let folder = folder(&cue.id, data_flag)?;
    let names = unique_names(files);
    let until = Some(Instant::now() + DOWNLOAD_TIMEOUT);
    let mut saved = Vec::new();
    for (index, (file, name)) in files.iter().zip(names).enumerate() {
        let fetched = session.call_with_retry(until, OutageNotices::Printed, |hub| hub.download_file(&cue.id, index));
        let body = fetched.map_err(|retry_error| save_error(&file.name, &retry_error.into_error().to_string()))?;
        verify(file, &body)?;
        let path = folder.join(&name);
        write_atomically(&folder, &path, &body)
            .map_err(|error| save_error(&file.name, &format!("{}: {error}", path.display())))?;
        let ReplyFile {
            media_type,
            size,
            sha256,
            ..
        } = file.clone();
        saved.push(SavedFile {
            path,
            name,
            media_type,
            size,
            sha256,
        });
    }
    Ok(saved)
}

fn save_error(name: &str, why: &str) -> Failure {
    Failure::failed(&format!(
        "the file {name} of the answer cannot be saved: {why}; the answer is kept: run the same command again"
    ))
}

fn folder(id: &str, data_flag: Option<&Path>) -> Result<PathBuf, Failure> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if id.is_empty() || !id.bytes().all(is_plain) {
        return Err(Failure::failed(&format!(
            "unexpected reply from the hub: {id} is not a message id"
        )));
    }
    let data = data_dir::resolve(data_flag).map_err(|error| Failure::failed(&format!("{error:#}")))?;
    let folder = data.join("cueme/files").join(id);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| Failure::failed(&format!("cannot create {}: {error}", folder.display())))?;
    Ok(folder)
}

fn verify(file: &ReplyFile, body: &[u8]) -> Result<(), Failure> {
    let checksum: String = digest(&SHA256, body)
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if body.len() as u64 == file.size && checksum == file.sha256 {
        return Ok(());
    }
    Err(save_error(&file.name, "its size or checksum is wrong"))
}

/// Writes a draft and renames it, so that no reader sees half a file. The draft lies beside the folder, outside the
/// names that an answer can use.
fn write_atomically(folder: &Path, path: &Path, body: &[u8]) -> io::Result<()> {
    let draft = folder.with_added_extension(format!("{}.part", std::process::id()));
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(body)?;
    drop(file);
    fs::rename(&draft, path)
}

/// Safe and distinct file names. The hub checks names too, but this side does not depend on it. Names that differ
/// only in case count as equal, because some file systems treat them so.
fn unique_names(files: &[ReplyFile]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let safe = safe_name(&file.name, index + 1);
        let mut name = safe.clone();
        let mut count = 2;
        while names.iter().any(|taken| taken.to_lowercase() == name.to_lowercase()) {
            name = format!("{count}-{safe}");
            count += 1;
        }
        names.push(name);
    }
    names
}

fn safe_name(name: &str, number: usize) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut plain = escape::bare(last);
    while plain.len() > MAX_NAME_BYTES {
        plain.pop();
    }
    if plain.trim().is_empty() || matches!(plain.as_str(), "." | "..") {
        format!("file-{number}")
    } else {
        plain
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(name: &str) -> ReplyFile {
        ReplyFile {
            name: name.to_owned(),
            media_type: None,
            size: 2,
            sha256: String::new(),
        }
    }

    #[test]
    fn names_are_distinct_and_stay_in_their_folder() {
        let given = [
            "a.png",
            "../../A.png",
            "..",
            "/etc/passwd",
            "x\n- y",
            "C:\\b.txt",
            "",
            "a.png",
            ".",
            " \t",
        ];
        let names = unique_names(&given.map(file));
        let expected = [
            "a.png", "2-A.png", "file-3", "passwd", "x- y", "b.txt", "file-7", "3-a.png", "file-9", "file-10",
        ];
        assert_eq!(names, expected);
        assert_eq!(
            safe_name("photo\u{202e}gpj\u{2028}.exe", 1),
            "photogpj.exe",
            "invisible characters are removed"
        );
        let kept = [".env", "env", "...", " lead", ".12.part"];
        assert_eq!(unique_names(&kept.map(file)), kept, "usable names do not change");
        let long = safe_name(&"é".repeat(300), 1);
        assert!(long.len() <= MAX_NAME_BYTES && long.chars().all(|character| character == 'é'));
    }

    #[test]
    fn a_file_is_private_and_whole() {
        let folder = std::env::temp_dir();
        let path = folder.join(format!("cueme-file-{}", std::process::id()));
        write_atomically(&path, &path, b"hi").expect("saved");
        assert_eq!(fs::read(&path).expect("read"), b"hi");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        let _ = fs::remove_file(path);
    }

    #[test]
    fn a_wrong_size_or_checksum_is_refused() {
        let sha256 = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4".to_owned();
        let file = ReplyFile { sha256, ..file("a") };
        assert!(verify(&file, b"hi").is_ok());
        assert!(verify(&file, b"ho").is_err() && verify(&file, b"hi!").is_err());
    }

    #[test]
    fn an_id_that_is_a_path_is_refused() {
        for id in ["", "../x", "a/b"] {
            assert!(folder(id, Some(Path::new("/nonexistent"))).is_err(), "{id}");
        }
    }
}
