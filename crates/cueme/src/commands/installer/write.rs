//! Reads and replaces files whole. Nobody ever finds half a file, and a link stays a link.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

/// Far more than an agent would read.
const LARGEST_FILE: u64 = 4 * 1024 * 1024;
const MOST_LINKS: usize = 40;

/// None where there is no such file.
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
    let opened = File::open(path).and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes));
    opened.with_context(|| format!("{shown} cannot be read"))?;
    if bytes.len() as u64 > LARGEST_FILE {
        bail!("{shown} is larger than {LARGEST_FILE} bytes");
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => bail!("{shown} is not UTF-8 (byte {})", error.utf8_error().valid_up_to()),
    }
}

/// Puts `text` there, with the mode and the owner of what stood there before. Directories are made; a link is followed.
pub fn replace(path: &Path, text: &str) -> Result<()> {
    let put = || -> Result<()> {
        let path = followed(path)?;
        let directory = path.parent().context("it has no directory")?;
        fs::create_dir_all(directory)?;
        let before = standing(&path)?;
        let name = path
            .file_name()
            .context("it has no name")?
            .to_string_lossy()
            .into_owned();
        // The time is in the name because process numbers come again, and a draft may have been left by a crash.
        let nanos = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos();
        let draft = directory.join(format!(".{name}.{}-{nanos}", std::process::id()));
        let written = write_through(&draft, text, before.as_ref()).and_then(|()| fs::rename(&draft, &path));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        Ok(written?)
    };
    put().with_context(|| format!("{} cannot be written", path.display()))
}

/// Whether the file went. A link was made by its person and stays; then the file it leads to is emptied.
pub fn delete(path: &Path) -> Result<bool> {
    let found = fs::symlink_metadata(path).with_context(|| format!("{} cannot be deleted", path.display()))?;
    if found.is_symlink() {
        replace(path, "")?;
        return Ok(false);
    }
    let deleted = standing(path).and_then(|_| Ok(fs::remove_file(path)?));
    deleted.with_context(|| format!("{} cannot be deleted", path.display()))?;
    Ok(true)
}

/// The directories that a deleted file leaves empty, up to the nearest of `roots`; beyond them nothing is touched.
pub fn prune(path: &Path, roots: &[&Path]) {
    if !roots.iter().any(|root| path.starts_with(root)) {
        return;
    }
    let mut directories = path
        .ancestors()
        .skip(1)
        .take_while(|directory| !roots.contains(directory));
    // One that is not empty is not removed, and ends it.
    while directories
        .next()
        .is_some_and(|directory| fs::remove_dir(directory).is_ok())
    {}
}

/// Where the links end, whether or not something is there.
fn followed(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Ok(path);
        }
        let leads_to = fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(leads_to);
    }
    bail!("its links go round in a circle")
}

fn standing(path: &Path) -> Result<Option<Metadata>> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // Renaming over a file asks nobody for its mode; its person did not want it changed.
    if found.permissions().readonly() {
        bail!("it is read-only");
    }
    Ok(Some(found))
}

/// Refuses a file that links lead out of `root` to. Whoever made the links in a project need not be whose files those are.
pub fn check_stays_in(path: &Path, root: &Path) -> Result<()> {
    let stays = || -> Result<bool> {
        if !root.exists() {
            return Ok(true);
        }
        let end = followed(path)?;
        let there = end
            .ancestors()
            .find(|place| place.exists())
            .context("it has no directory")?;
        Ok(there.canonicalize()?.starts_with(root.canonicalize()?))
    };
    let shown = path.display();
    if stays().with_context(|| format!("{shown} cannot be looked at"))? {
        return Ok(());
    }
    bail!(
        "{shown} is a link out of the project {}: nothing is written there",
        root.display()
    )
}

/// Beside the file that it takes the place of, and at no time open to more than that one was.
fn write_through(path: &Path, text: &str, before: Option<&Metadata>) -> io::Result<()> {
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
    fn a_file_is_made_with_its_directories_and_no_draft_is_left() {
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
    fn the_mode_stays() {
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
    fn links_may_lead_about_in_a_project_and_not_out_of_it() {
        use std::os::unix::fs::symlink;
        let scratch = Scratch::new();
        let project = scratch.path("project");
        let home = scratch.write(".bashrc", "theirs");
        for (link, leads_to) in [
            ("within.md", "docs/rules.md"),
            ("out.md", "../.bashrc"),
            ("new.md", "../nowhere/new.md"),
        ] {
            fs::create_dir_all(&project).unwrap();
            symlink(leads_to, project.join(link)).unwrap();
        }
        symlink("..", project.join("up")).unwrap();
        for inside in ["plain.md", "a/b/new.md", "within.md"] {
            check_stays_in(&project.join(inside), &project).unwrap();
        }
        for outside in ["out.md", "new.md", "up/.bashrc", "up/new.md"] {
            let words = format!("{:#}", check_stays_in(&project.join(outside), &project).unwrap_err());
            assert!(words.contains("link out of the project"), "{outside}: {words}");
        }
        assert_eq!(fs::read_to_string(home).unwrap(), "theirs");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_even_to_where_nothing_is_yet() {
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
    fn links_in_a_circle_are_refused() {
        let scratch = Scratch::new();
        std::os::unix::fs::symlink("b", scratch.path("a")).unwrap();
        std::os::unix::fs::symlink("a", scratch.path("b")).unwrap();
        assert!(read(&scratch.path("a")).is_err());
        let words = format!("{:#}", replace(&scratch.path("a"), "x").unwrap_err());
        assert!(words.contains("circle"), "{words}");
    }

    #[test]
    fn what_cannot_be_written_is_named_and_stays_as_it_was() {
        let scratch = Scratch::new();
        let path = scratch.write("kept.md", "theirs");
        let mut mode = fs::metadata(&path).unwrap().permissions();
        mode.set_readonly(true);
        fs::set_permissions(&path, mode).unwrap();
        for error in [replace(&path, "ours").unwrap_err(), delete(&path).unwrap_err()] {
            let words = format!("{error:#}");
            assert!(words.contains("kept.md") && words.contains("read-only"), "{words}");
        }
        assert_eq!(scratch.read("kept.md"), "theirs");
        let words = format!("{:#}", replace(&scratch.path("kept.md/below"), "x").unwrap_err());
        assert!(words.contains("cannot be written"), "{words}");
        assert_eq!(names(&scratch.path("")), ["kept.md"]);
    }

    #[test]
    fn only_text_of_a_sensible_size_is_read() {
        let scratch = Scratch::new();
        fs::write(scratch.path("latin"), b"caf\xE9").unwrap();
        fs::write(scratch.path("large"), vec![b'a'; LARGEST_FILE as usize + 1]).unwrap();
        fs::create_dir(scratch.path("directory")).unwrap();
        for (name, wanted) in [("latin", "byte 3"), ("large", "larger"), ("directory", "not a file")] {
            let words = format!("{:#}", read(&scratch.path(name)).unwrap_err());
            assert!(words.contains(wanted) && words.contains(name), "{words}");
        }
    }
}
