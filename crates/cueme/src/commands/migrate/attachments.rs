//! The files of an answer. A file that cannot be read is reported and left out; the answer is imported without it.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use countersign_protocol::escape;
use rustix::fs::OFlags;
use serde::Serialize;

use super::rows::FileRow;

/// The hub's limits for the files of one answer.
const MAX_FILES: usize = 10;
const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;
const MAX_TOTAL_BYTES: u64 = 20 * 1024 * 1024;
const MAX_NAME_BYTES: usize = 190;
/// Files beyond this number are not read at all.
pub const MAX_LISTED_FILES: usize = 100;

#[derive(Debug, PartialEq, Serialize)]
pub struct MailboxFile {
    pub name: String,
    pub media_type: Option<String>,
    pub data: String,
}

#[derive(Debug, Default)]
pub struct Attachments {
    pub files: Vec<MailboxFile>,
    bytes: u64,
    /// The files that were left out, each with the reason.
    pub left_out: Vec<String>,
}

impl Attachments {
    /// `home` is the directory of the mailbox.
    pub fn read(home: &Path, rows: &[FileRow], images: &[(Option<String>, String)]) -> Self {
        let mut attachments = Self::default();
        for row in rows {
            match read(home, &row.file) {
                Ok(body) => attachments.add(&row.file, row.mime_type.clone(), &body),
                Err(why) => attachments.left_out.push(format!("{} {why}", row.file)),
            }
        }
        for (index, (media_type, data)) in images.iter().take(MAX_LISTED_FILES).enumerate() {
            let name = image_name(index + 1, media_type.as_deref());
            match STANDARD.decode(data.trim()) {
                Ok(body) => attachments.add(&name, media_type.clone(), &body),
                Err(_) => attachments.left_out.push(format!("{name} is not readable")),
            }
        }
        attachments
    }

    fn add(&mut self, file: &str, media_type: Option<String>, body: &[u8]) {
        let size = body.len() as u64;
        if self.files.len() == MAX_FILES || self.bytes + size > MAX_TOTAL_BYTES || size > MAX_FILE_BYTES {
            let limits = format!("{MAX_FILES} files, of 8 MiB each and 20 MiB together");
            self.left_out
                .push(format!("{file} is more than the hub takes with an answer: {limits}"));
            return;
        }
        self.bytes += size;
        let media_type = media_type.filter(|name| name.len() <= 200 && !name.chars().any(char::is_control));
        self.files.push(MailboxFile {
            name: self.unique_name(file),
            media_type,
            data: STANDARD.encode(body),
        });
    }

    /// The last part of the file's path, with a number in front if an earlier file has the same name.
    fn unique_name(&self, file: &str) -> String {
        let last = file.rsplit(['/', '\\']).next().unwrap_or_default();
        let mut plain = escape::bare(last);
        while plain.len() > MAX_NAME_BYTES {
            plain.pop();
        }
        if matches!(plain.as_str(), "" | "." | "..") {
            plain = "file".to_owned();
        }
        let is_free = |name: &str| self.files.iter().all(|taken| taken.name != name);
        let mut names = (2..).map(|again| format!("{again}-{plain}"));
        if is_free(&plain) {
            plain
        } else {
            names.find(|name| is_free(name)).unwrap_or(plain)
        }
    }
}

fn image_name(number: usize, media_type: Option<&str>) -> String {
    let kind = media_type
        .and_then(|media_type| media_type.strip_prefix("image/"))
        .unwrap_or("bin");
    let kind: String = kind.chars().filter(char::is_ascii_alphanumeric).take(10).collect();
    format!("image-{number}.{kind}")
}

/// The directory beside the database in which a mailbox keeps its files.
const FILES_DIRECTORY: &str = "files";

/// Refuses paths and symlinks that lead out of the mailbox's `files` directory: an untrusted database must not pull
/// other files of this home directory into an answer.
fn read(home: &Path, file: &str) -> Result<Vec<u8>, String> {
    let relative = PathBuf::from(file.trim_start_matches('/'));
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) || !relative.starts_with(FILES_DIRECTORY)
    {
        return Err("is no path in the mailbox's own directory `files`".to_owned());
    }
    let describe = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => "is missing".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    let (home, path) = (
        home.canonicalize().map_err(describe)?,
        home.join(relative).canonicalize().map_err(describe)?,
    );
    if !path.starts_with(home.join(FILES_DIRECTORY)) {
        return Err("leads out of the mailbox's own directory `files`".to_owned());
    }
    // A symlink or FIFO that replaced the file since the check is neither followed nor waited for.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.cast_signed())
        .open(path)
        .map_err(describe)?;
    if !opened.metadata().map_err(describe)?.is_file() {
        return Err("is no file".to_owned());
    }
    let mut body = Vec::new();
    opened
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut body)
        .map_err(describe)?;
    Ok(body)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn row(file: &str) -> FileRow {
        FileRow {
            file: file.to_owned(),
            mime_type: Some("text/plain".to_owned()),
        }
    }

    #[test]
    fn only_files_in_the_mailboxs_files_directory_are_imported() {
        let home = std::env::temp_dir().join(format!("cueme-mailbox-{}", std::process::id()));
        fs::create_dir_all(home.join("files/more")).expect("made");
        fs::create_dir_all(home.join(".ssh")).expect("made");
        fs::write(home.join("files/a.txt"), "hi").expect("written");
        fs::write(home.join("files/more/\u{202e}b.txt"), "hi").expect("written");
        fs::write(home.join(".ssh/id_rsa"), "PRIVATE KEY").expect("written");
        symlink("../.ssh/id_rsa", home.join("files/link")).expect("linked");
        symlink("../.ssh", home.join("files/keys")).expect("linked");
        symlink("a.txt", home.join("files/same")).expect("linked");
        let taken = ["files/a.txt", "/files/a.txt", "files/same", "files/more/\u{202e}b.txt"];
        let left = [
            ".ssh/id_rsa",
            "files/../.ssh/id_rsa",
            "files/link",
            "files/keys/id_rsa",
            "files",
            "files/gone.png",
        ];
        let rows: Vec<FileRow> = taken.into_iter().chain(left).map(row).collect();
        let attachments = Attachments::read(&home, &rows, &[(Some("image/png".to_owned()), "aGk=".to_owned())]);
        let names: Vec<&str> = attachments.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a.txt", "2-a.txt", "same", "b.txt", "image-1.png"]);
        assert!(attachments.files.iter().all(|file| file.data == "aGk="));
        assert_eq!(attachments.left_out.len(), left.len(), "{:?}", attachments.left_out);
        assert_eq!(attachments.left_out[5], "files/gone.png is missing");

        fs::remove_dir_all(home.join("files")).expect("gone");
        symlink(".ssh", home.join("files")).expect("linked");
        let linked = Attachments::read(&home, &[row("files/id_rsa")], &[]);
        let _ = fs::remove_dir_all(home);
        assert!(
            linked.files.is_empty() && linked.left_out[0].contains("leads out"),
            "{:?}",
            linked.left_out
        );
    }

    #[test]
    fn files_over_the_hubs_limits_are_left_out_and_reported() {
        let mut attachments = Attachments::default();
        attachments.add("big.bin", None, &vec![0; 8 * 1024 * 1024 + 1]);
        for number in 0..11 {
            attachments.add(&format!("{number}"), None, b"");
        }
        assert_eq!((attachments.files.len(), attachments.left_out.len()), (10, 2));
    }
}
