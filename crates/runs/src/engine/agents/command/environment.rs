//! The environment of a command. An allow list, because a deny list cannot name every secret.

use std::ffi::{OsStr, OsString};

const NEEDED: [&str; 10] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR", "LANG", "LANGUAGE",
];
/// Prefix of the locale variables.
const LOCALE: &[u8] = b"LC_";

/// Keeps the variables a program needs for paths and locale. Variables that hold model keys are removed under any name.
pub fn inherited<'a>(
    all: impl Iterator<Item = (OsString, OsString)>,
    keys: impl Iterator<Item = &'a str>,
) -> Vec<(OsString, OsString)> {
    let keys: Vec<&str> = keys.collect();
    let is_key = |name: &OsStr| keys.iter().any(|key| *key == name);
    all.filter(|(name, _)| is_needed(name) && !is_key(name)).collect()
}

fn is_needed(name: &OsStr) -> bool {
    NEEDED.iter().any(|needed| *needed == name) || name.as_encoded_bytes().starts_with(LOCALE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allowed_variables_are_inherited() {
        let all = [
            "PATH",
            "LC_ALL",
            "COUNTERSIGN_TOKEN",
            "DATABASE_URL",
            "AWS_SECRET_ACCESS_KEY",
            "SSH_AUTH_SOCK",
            "NOTIFY_SOCKET",
            "PATHS",
            "path",
            "LC",
            "HOME",
            "LC_KEY",
        ];
        let all = all.map(|name| (OsString::from(name), OsString::from("x")));
        let names = inherited(all.into_iter(), ["LC_KEY", "OPENAI_API_KEY"].into_iter());
        let names: Vec<OsString> = names.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["PATH", "LC_ALL", "HOME"]);
    }
}
