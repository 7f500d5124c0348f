//! `cueme fix`: repairs for known issues of some machines.

use std::process::ExitCode;

const POWERSHELL: &str = "powershell_utf-8";

/// `words` are the arguments after `fix`. Exits with 2 for a usage error, with 1 if there is nothing to repair.
pub fn run(words: &[String]) -> ExitCode {
    if words != [POWERSHELL] {
        eprintln!("error: name the issue to fix\nUsage: cueme fix {POWERSHELL}");
        return ExitCode::from(2);
    }
    match powershell() {
        Ok(done) => {
            println!("{done}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(windows))]
fn powershell() -> anyhow::Result<String> {
    anyhow::bail!(
        "{POWERSHELL} is for PowerShell on Windows; this system speaks UTF-8 already, so there is nothing to fix"
    )
}

/// Asks each PowerShell for the path of its profile, so that both versions and a moved Documents folder work.
#[cfg(windows)]
fn powershell() -> anyhow::Result<String> {
    use super::installer::{read, replace};
    let mut done = Vec::new();
    for shell in ["powershell", "pwsh"] {
        let output = std::process::Command::new(shell)
            .args(["-NoProfile", "-NonInteractive", "-Command", PROFILE_QUERY])
            .output();
        let Ok(output) = output else { continue };
        let path = String::from_utf8(output.stdout)?;
        let path = std::path::Path::new(path.trim());
        if path.as_os_str().is_empty() {
            continue;
        }
        let before = read(path)?.unwrap_or_default();
        match with_utf8_lines(&before) {
            Some(text) => {
                replace(path, &text)?;
                done.push(format!("ok: added to {}; open a new window", path.display()));
            }
            None => done.push(format!("ok: {} has it already", path.display())),
        }
    }
    anyhow::ensure!(
        !done.is_empty(),
        "no PowerShell was found: neither powershell nor pwsh could be asked for its profile"
    );
    Ok(done.join("\n"))
}

/// Switches its own output to UTF-8 first: the path may contain non-ASCII names.
#[cfg(windows)]
const PROFILE_QUERY: &str =
    "[Console]::OutputEncoding = [System.Text.UTF8Encoding]::new($false); $PROFILE.CurrentUserAllHosts";

#[cfg(any(windows, test))]
const PROFILE_LINES: &str = "# cueme: speak UTF-8 with other programs\r\n\
                     [Console]::InputEncoding = [System.Text.UTF8Encoding]::new($false)\r\n\
                     [Console]::OutputEncoding = [System.Text.UTF8Encoding]::new($false)\r\n\
                     $OutputEncoding = [System.Text.UTF8Encoding]::new($false)\r\n";

/// The profile with the lines added; `None` if it has them already.
#[cfg(any(windows, test))]
fn with_utf8_lines(profile: &str) -> Option<String> {
    if profile
        .replace("\r\n", "\n")
        .contains(&PROFILE_LINES.replace("\r\n", "\n"))
    {
        return None;
    }
    let gap = if profile.is_empty() || profile.ends_with('\n') {
        ""
    } else {
        "\r\n"
    };
    Some(format!("{profile}{gap}{PROFILE_LINES}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_gets_the_lines_once() {
        let added = with_utf8_lines("Set-Alias ll ls").unwrap();
        assert_eq!(added, format!("Set-Alias ll ls\r\n{PROFILE_LINES}"));
        assert_eq!(with_utf8_lines(&added), None);
        assert_eq!(with_utf8_lines(&added.replace("\r\n", "\n")), None);
        assert_eq!(with_utf8_lines("").as_deref(), Some(PROFILE_LINES));
    }
}
