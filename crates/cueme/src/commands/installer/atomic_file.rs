//! Reads and replaces whole files. A write is atomic, and a symlink stays a symlink.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

/// Far more than an agent would read.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
const MAX_SYMLINKS: usize = 40;

/// Returns `None` if the file does not exist.
pub fn read(path: &Path) -> Result<Option<String>> {
    let shown = path.display();
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("{shown} cannot be read")),
    };
    if !found.is_file() {
        bail!("{shown} is not a file");
    }
    let mut bytes = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
    opened.with_context(|| format!("{shown} cannot be read"))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        bail!("{shown} is larger than {MAX_FILE_BYTES} bytes");
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => bail!("{shown} is not UTF-8 (byte {})", error.utf8_error().valid_up_to()),
    }
}

/// Replaces the file atomically and keeps its mode and owner. Missing directories are created; a symlink is followed.
pub fn replace(path: &Path, text: &str) -> Result<()> {
    let write = || -> Result<()> {
        let path = follow_links(path)?;
        let directory = path.parent().context("it has no directory")?;
        fs::create_dir_all(directory)?;
        let before = writable_metadata(&path)?;
        let name = path
            .file_name()
            .context("it has no name")?
            .to_string_lossy()
            .into_owned();
        // The name contains the time, because process ids are reused and a crash may have left a draft behind.
        #[expect(clippy::disallowed_methods, reason = "the time only makes a name unique")]
        let nanos = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos();
        let draft = directory.join(format!(".{name}.{}-{nanos}", std::process::id()));
        let written = write_draft(&draft, text, before.as_ref()).and_then(|()| fs::rename(&draft, &path));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        Ok(written?)
    };
    write().with_context(|| format!("{} cannot be written", path.display()))
}

/// Returns whether the file was deleted. A symlink is the user's own and stays; its target is emptied instead.
pub fn delete(path: &Path) -> Result<bool> {
    let found = fs::symlink_metadata(path).with_context(|| format!("{} cannot be deleted", path.display()))?;
    if found.is_symlink() {
        replace(path, "")?;
        return Ok(false);
    }
    let deleted = writable_metadata(path).and_then(|_| Ok(fs::remove_file(path)?));
    deleted.with_context(|| format!("{} cannot be deleted", path.display()))?;
    Ok(true)
}

/// Removes the directories that a deleted file leaves empty, up to the nearest of `roots`. Paths outside `roots` are
/// kept.
pub fn remove_empty_parents(path: &Path, roots: &[&Path]) {
    if !roots.iter().any(|root| path.starts_with(root)) {
        return;
    }
    let mut directories = path
        .ancestors()
        .skip(1)
        .take_while(|directory| !roots.contains(directory));
    // `remove_dir` fails on a directory that is not empty, which ends the loop.
    while directories
        .next()
        .is_some_and(|directory| fs::remove_dir(directory).is_ok())
    {}
}

/// The path at the end of the symlinks; the file may be missing.
fn follow_links(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_SYMLINKS {
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    bail!("its links go round in a circle")
}

fn writable_metadata(path: &Path) -> Result<Option<Metadata>> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // A rename replaces a read-only file too, so its mode is checked first.
    if found.permissions().readonly() {
        bail!("it is read-only");
    }
    Ok(Some(found))
}

/// Refuses a path whose symlinks lead out of `root`: the author of a project could aim them at the user's other files.
pub fn check_within(path: &Path, root: &Path) -> Result<()> {
    let is_inside = || -> Result<bool> {
        if !root.exists() {
            return Ok(true);
        }
        let end = follow_links(path)?;
        let existing = end
            .ancestors()
            .find(|ancestor| ancestor.exists())
            .context("it has no directory")?;
        Ok(existing.canonicalize()?.starts_with(root.canonicalize()?))
    };
    let shown = path.display();
    if is_inside().with_context(|| format!("{shown} cannot be checked"))? {
        return Ok(());
    }
    bail!(
        "{shown} is a link out of the project {}: nothing is written there",
        root.display()
    )
}

/// Writes the draft beside the file that it replaces, never with wider permissions than that file.
fn write_draft(path: &Path, text: &str, before: Option<&Metadata>) -> io::Result<()> {
    let mut file = if before.is_some() {
        create_private(path)?
    } else {
        File::create_new(path)?
    };
    file.write_all(text.as_bytes())?;
    if let Some(before) = before {
        keep_owner(path, &file.metadata()?, before)?;
        file.set_permissions(before.permissions())?;
    }
    file.sync_all()
}

#[cfg(unix)]
fn create_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

#[cfg(not(unix))]
fn create_private(path: &Path) -> io::Result<File> {
    File::create_new(path)
}

#[cfg(unix)]
fn keep_owner(path: &Path, now: &Metadata, before: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, chown};
    if (now.uid(), now.gid()) == (before.uid(), before.gid()) {
        return Ok(());
    }
    chown(path, Some(before.uid()), Some(before.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_path: &Path, _now: &Metadata, _before: &Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::installer::scratch::Scratch;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("a directory");
        entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_file_is_created_with_its_directories_and_no_draft_is_left() {
        let scratch = Scratch::new();
        let path = scratch.path("a/b/rules.md");
        assert_eq!(read(&path).unwrap(), None);
        replace(&path, "one").unwrap();
        replace(&path, "two").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("two"));
        assert_eq!(names(path.parent().unwrap()), ["rules.md"]);
    }

    #[cfg(unix)]
    #[test]
    fn the_file_mode_is_kept() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = Scratch::new();
        let path = scratch.write("rules.md", "one");
        for mode in [0o600, 0o664] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            replace(&path, "two").unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_draft_is_private_until_it_is_done() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = Scratch::new();
        let draft = scratch.path("draft");
        let mode = create_private(&draft).unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_may_not_lead_out_of_a_project() {
        use std::os::unix::fs::symlink;
        let scratch = Scratch::new();
        let project = scratch.path("project");
        let home = scratch.write(".bashrc", "theirs");
        for (link, target) in [
            ("within.md", "docs/rules.md"),
            ("out.md", "../.bashrc"),
            ("new.md", "../nowhere/new.md"),
        ] {
            fs::create_dir_all(&project).unwrap();
            symlink(target, project.join(link)).unwrap();
        }
        symlink("..", project.join("up")).unwrap();
        for inside in ["plain.md", "a/b/new.md", "within.md"] {
            check_within(&project.join(inside), &project).unwrap();
        }
        for outside in ["out.md", "new.md", "up/.bashrc", "up/new.md"] {
            let message = format!("{:#}", check_within(&project.join(outside), &project).unwrap_err());
            assert!(message.contains("link out of the project"), "{outside}: {message}");
        }
        assert_eq!(fs::read_to_string(home).unwrap(), "theirs");
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_to_a_missing_file_is_followed() {
        use std::os::unix::fs::symlink;
        let scratch = Scratch::new();
        let link = scratch.path("link.md");
        let second = scratch.path("second.md");
        symlink("second.md", &link).unwrap();
        symlink("dotfiles/rules.md", &second).unwrap();
        replace(&link, "new").unwrap();
        assert_eq!(scratch.read("dotfiles/rules.md"), "new");
        assert!(!delete(&link).unwrap(), "a link is not deleted");
        assert_eq!(scratch.read("dotfiles/rules.md"), "");
        assert!(link.is_symlink() && second.is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn circular_symlinks_are_refused() {
        let scratch = Scratch::new();
        std::os::unix::fs::symlink("b", scratch.path("a")).unwrap();
        std::os::unix::fs::symlink("a", scratch.path("b")).unwrap();
        assert!(read(&scratch.path("a")).is_err());
        let message = format!("{:#}", replace(&scratch.path("a"), "x").unwrap_err());
        assert!(message.contains("circle"), "{message}");
    }

    #[test]
    fn a_read_only_file_is_named_and_kept() {
        let scratch = Scratch::new();
        let path = scratch.write("kept.md", "theirs");
        let mut mode = fs::metadata(&path).unwrap().permissions();
        mode.set_readonly(true);
        fs::set_permissions(&path, mode).unwrap();
        for error in [replace(&path, "ours").unwrap_err(), delete(&path).unwrap_err()] {
            let message = format!("{error:#}");
            assert!(
                message.contains("kept.md") && message.contains("read-only"),
                "{message}"
            );
        }
        assert_eq!(scratch.read("kept.md"), "theirs");
        let message = format!("{:#}", replace(&scratch.path("kept.md/below"), "x").unwrap_err());
        assert!(message.contains("cannot be written"), "{message}");
        assert_eq!(names(&scratch.path("")), ["kept.md"]);
    }

    #[test]
    fn binary_and_oversized_files_are_refused() {
        let scratch = Scratch::new();
        fs::write(scratch.path("latin"), b"caf\xE9").unwrap();
        fs::write(scratch.path("large"), vec![b'a'; MAX_FILE_BYTES as usize + 1]).unwrap();
        fs::create_dir(scratch.path("directory")).unwrap();
        for (name, expected) in [("latin", "byte 3"), ("large", "larger"), ("directory", "not a file")] {
            let message = format!("{:#}", read(&scratch.path(name)).unwrap_err());
            assert!(message.contains(expected) && message.contains(name), "{message}");
        }
    }
}
