//! The data directory holds every token's hash and every answer, so it must belong to one user alone.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::Finding;

const PERMISSIONS: u32 = 0o777;
const OTHERS: u32 = 0o077;

pub fn check(data: &Path) -> Vec<Finding> {
    let about = match fs::metadata(data) {
        Ok(about) if about.is_dir() => about,
        Ok(_) => {
            let message = format!("{} is not a directory", data.display());
            return vec![Finding::fail("data", message, "name another one with --data DIR")];
        }
        Err(error) => {
            let message = format!("the data directory {} does not exist: {error}", data.display());
            return vec![Finding::fail("data", message, "`countersign serve` creates it")];
        }
    };
    let mut findings = vec![directory(data, &about)];
    findings.extend(ownership(data, &about));
    findings.extend(
        ["hub.json", "hub.db", "hub.db-wal"]
            .iter()
            .filter_map(|name| private_file(&data.join(name))),
    );
    findings
}

fn directory(data: &Path, about: &Metadata) -> Finding {
    let mode = about.mode() & PERMISSIONS;
    if mode & OTHERS == 0 {
        return Finding::ok(
            "data",
            format!("the data directory {} is private ({mode:04o})", data.display()),
        );
    }
    let message = format!(
        "other users can access the data directory {} ({mode:04o})",
        data.display()
    );
    Finding::fail("data", message, "make it private with `chmod 700`")
}

/// The owner of /proc/self is the current user on Linux; the check is skipped on other systems.
fn ownership(data: &Path, about: &Metadata) -> Option<Finding> {
    let mine = fs::metadata("/proc/self").ok()?.uid();
    if about.uid() == mine {
        return None;
    }
    let message = format!(
        "the data directory {} belongs to user {}, not to {mine}",
        data.display(),
        about.uid()
    );
    Some(Finding::fail(
        "owner",
        message,
        "run as that user, or name another directory with --data DIR",
    ))
}

/// A missing file is no finding: `hub.json` exists while the hub runs, the log while the database is open.
fn private_file(path: &Path) -> Option<Finding> {
    let mode = fs::metadata(path).ok()?.mode() & PERMISSIONS;
    if mode & OTHERS == 0 {
        return Some(Finding::ok(
            "file",
            format!("{} is private ({mode:04o})", path.display()),
        ));
    }
    let message = format!("other users can access {} ({mode:04o})", path.display());
    Some(Finding::fail("file", message, "make it private with `chmod 600`"))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::super::Level;
    use super::*;

    #[test]
    fn files_open_to_other_users_are_a_failure() {
        let data = std::env::temp_dir().join(format!("countersign-doctor-{}", std::process::id()));
        fs::create_dir(&data).unwrap();
        fs::write(data.join("hub.json"), "{}").unwrap();
        let levels = |directory, file| {
            fs::set_permissions(data.join("hub.json"), Permissions::from_mode(file)).unwrap();
            fs::set_permissions(&data, Permissions::from_mode(directory)).unwrap();
            check(&data).iter().map(|finding| finding.level).collect::<Vec<_>>()
        };
        assert_eq!(levels(0o700, 0o600), [Level::Ok, Level::Ok]);
        assert_eq!(levels(0o755, 0o644), [Level::Fail, Level::Fail]);
        fs::remove_dir_all(&data).unwrap();
        assert_eq!(check(&data)[0].level, Level::Fail);
    }
}
