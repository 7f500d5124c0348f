//! Checks at startup that the command exists and is executable, before an answer depends on it.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::args::ExecArgs;

pub fn check(exec: &ExecArgs) -> Result<()> {
    let program = exec.words.first().context("--exec names no command")?;
    check_in(program, &env::var_os("PATH").unwrap_or_default())
}

/// Follows the rules of `execvp`: a name with a slash is a path, any other is looked up in PATH.
fn check_in(program: &OsStr, search_path: &OsStr) -> Result<()> {
    let shown = program.display();
    if program.as_bytes().contains(&b'/') {
        let path = Path::new(program);
        if !path.exists() {
            bail!("--exec {shown}: there is no such file; check the path");
        }
        if !is_executable(path) {
            bail!("--exec {shown}: it cannot be executed; give a program, or make it one with chmod +x");
        }
        return Ok(());
    }
    if env::split_paths(search_path).any(|place| is_executable(&place.join(program))) {
        return Ok(());
    }
    bail!("--exec {shown}: no such command in PATH; give its path, such as ./{shown}")
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal_text(program: &str) -> String {
        check_in(program.as_ref(), "/nonexistent:/bin:/usr/bin".as_ref())
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_command_is_found_as_the_system_finds_it() {
        assert_eq!(refusal_text("sh"), "");
        assert_eq!(refusal_text("/bin/sh"), "");
        assert!(refusal_text("no-such-command").contains("PATH"));
        assert!(refusal_text("/nonexistent/command").contains("no such file"));
        assert!(refusal_text("/etc/passwd").contains("chmod +x"));
        assert!(refusal_text("/bin/").contains("cannot be executed"));
        assert!(refusal_text("").contains("PATH"));
    }
}
