//! The files of an answer, saved where an agent can open them. All of them, or the answer is not given: it is kept at the
//! hub, and the next call tries again.

use std::fmt;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aws_lc_rs::digest::{SHA256, digest};
use countersign_client::data_dir;
use countersign_protocol::visible;
use serde_json::{Value, json};

use super::failure::Failure;
use super::session::{Remarks, Seat};
use super::terminal::out;
use super::wire::{Cued, FileNote};

/// More than the hub takes of a person.
const MOST_FILES: usize = 100;
const MOST_NAME_BYTES: usize = 200;
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Saved {
    pub path: PathBuf,
    pub name: String,
    pub media_type: Option<String>,
    pub size: u64,
    pub sha256: String,
}

impl fmt::Display for Saved {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "- {}", self.path.display())?;
        match self.media_type.as_deref() {
            None | Some("") => Ok(()),
            Some(media_type) => write!(formatter, " ({})", out::escape(media_type)),
        }
    }
}

impl Saved {
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

pub fn save(seat: &mut Seat, cued: &Cued, named: Option<&Path>) -> Result<Vec<Saved>, Failure> {
    let notes = &cued.reply.files;
    if notes.is_empty() {
        return Ok(Vec::new());
    }
    if notes.len() > MOST_FILES {
        return Err(Failure::failed(&format!(
            "the answer has {} files, more than {MOST_FILES}",
            notes.len()
        )));
    }
    let folder = folder(&cued.id, named)?;
    let names = names(notes);
    let until = Some(Instant::now() + PATIENCE);
    let mut saved = Vec::new();
    for (index, (note, name)) in notes.iter().zip(names).enumerate() {
        let fetched = seat.insist(until, Remarks::Told, |hub| hub.file(&cued.id, index));
        let body = fetched.map_err(|gave_up| unsaved(&note.name, &gave_up.error().to_string()))?;
        check(note, &body)?;
        let path = folder.join(&name);
        put(&folder, &path, &body).map_err(|error| unsaved(&note.name, &format!("{}: {error}", path.display())))?;
        let FileNote {
            media_type,
            size,
            sha256,
            ..
        } = note.clone();
        saved.push(Saved {
            path,
            name,
            media_type,
            size,
            sha256,
        });
    }
    Ok(saved)
}

fn unsaved(name: &str, why: &str) -> Failure {
    Failure::failed(&format!(
        "the file {name} of the answer cannot be saved: {why}; the answer is kept: run the same again"
    ))
}

fn folder(id: &str, named: Option<&Path>) -> Result<PathBuf, Failure> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if id.is_empty() || !id.bytes().all(is_plain) {
        return Err(Failure::failed(&format!(
            "the hub's reply makes no sense: {id} is no id"
        )));
    }
    let data = data_dir::resolve(named).map_err(|error| Failure::failed(&format!("{error:#}")))?;
    let folder = data.join("cueme/files").join(id);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| Failure::failed(&format!("cannot create {}: {error}", folder.display())))?;
    Ok(folder)
}

fn check(note: &FileNote, body: &[u8]) -> Result<(), Failure> {
    let sum: String = digest(&SHA256, body)
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if body.len() as u64 == note.size && sum == note.sha256 {
        return Ok(());
    }
    Err(unsaved(&note.name, "it did not arrive as it was sent"))
}

/// Elsewhere until it is whole, so that nobody opens half of it: beside its folder, where no file of an answer can be.
fn put(folder: &Path, path: &Path, body: &[u8]) -> io::Result<()> {
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

/// The hub checks names too; this side does not depend on it. Twice the same name would be one file, and so would two that
/// differ in case only, on some disks.
fn names(notes: &[FileNote]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (index, note) in notes.iter().enumerate() {
        let plain = plain(&note.name, index + 1);
        let mut name = plain.clone();
        let mut again = 2;
        while names.iter().any(|taken| taken.to_lowercase() == name.to_lowercase()) {
            name = format!("{again}-{plain}");
            again += 1;
        }
        names.push(name);
    }
    names
}

fn plain(name: &str, number: usize) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut plain = visible::bare(last);
    while plain.len() > MOST_NAME_BYTES {
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

    fn note(name: &str) -> FileNote {
        FileNote {
            name: name.to_owned(),
            media_type: None,
            size: 2,
            sha256: String::new(),
        }
    }

    #[test]
    fn names_stay_in_their_folder_and_apart() {
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
        let names = names(&given.map(note));
        let apart = [
            "a.png", "2-A.png", "file-3", "passwd", "x- y", "b.txt", "file-7", "3-a.png", "file-9", "file-10",
        ];
        assert_eq!(names, apart);
        assert_eq!(
            plain("photo\u{202e}gpj\u{2028}.exe", 1),
            "photogpj.exe",
            "and reads as it is"
        );
        let kept = [".env", "env", "...", " lead", ".12.part"];
        assert_eq!(super::names(&kept.map(note)), kept, "what is a name stays as it is");
        let long = plain(&"é".repeat(300), 1);
        assert!(long.len() <= MOST_NAME_BYTES && long.chars().all(|character| character == 'é'));
    }

    #[test]
    fn a_file_is_private_and_whole() {
        let folder = std::env::temp_dir();
        let path = folder.join(format!("cueme-file-{}", std::process::id()));
        put(&path, &path, b"hi").expect("saved");
        assert_eq!(fs::read(&path).expect("read"), b"hi");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        let _ = fs::remove_file(path);
    }

    #[test]
    fn what_arrives_otherwise_than_sent_is_refused() {
        let sha256 = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4".to_owned();
        let note = FileNote { sha256, ..note("a") };
        assert!(check(&note, b"hi").is_ok());
        assert!(check(&note, b"ho").is_err() && check(&note, b"hi!").is_err());
    }

    #[test]
    fn an_id_that_is_a_path_is_refused() {
        for id in ["", "../x", "a/b"] {
            assert!(folder(id, Some(Path::new("/nonexistent"))).is_err(), "{id}");
        }
    }
}
