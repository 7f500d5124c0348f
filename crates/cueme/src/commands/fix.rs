//! `cueme fix`: repairs of the surroundings that only some machines need.

use std::process::ExitCode;

const POWERSHELL: &str = "powershell_utf-8";

/// `words`: those after `fix`. 2 for a line that is not understood, 1 where there is nothing that could be repaired.
pub fn run(words: &[String]) -> ExitCode {
    if words != [POWERSHELL] {
        eprintln!("error: there is one thing to fix\nusage: cueme fix {POWERSHELL}");
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

/// Each PowerShell tells where its profile is, so a moved Documents folder and both versions are right.
#[cfg(windows)]
fn powershell() -> anyhow::Result<String> {
    use super::installer::{read, replace};
    let mut done = Vec::new();
    for shell in ["powershell", "pwsh"] {
        let asked = std::process::Command::new(shell)
            .args(["-NoProfile", "-NonInteractive", "-Command", ASK])
            .output();
        let Ok(answer) = asked else { continue };
        let path = String::from_utf8(answer.stdout)?;
        let path = std::path::Path::new(path.trim());
        if path.as_os_str().is_empty() {
            continue;
        }
        let before = read(path)?.unwrap_or_default();
        match speaking_utf8(&before) {
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

/// Its answer has to be UTF-8 itself: the path may hold a name that is not ASCII.
#[cfg(windows)]
const ASK: &str = "[Console]::OutputEncoding = [System.Text.UTF8Encoding]::new($false); $PROFILE.CurrentUserAllHosts";

#[cfg(any(windows, test))]
const LINES: &str = "# cueme: speak UTF-8 with other programs\r\n\
                     [Console]::InputEncoding = [System.Text.UTF8Encoding]::new($false)\r\n\
                     [Console]::OutputEncoding = [System.Text.UTF8Encoding]::new($false)\r\n\
                     $OutputEncoding = [System.Text.UTF8Encoding]::new($false)\r\n";

/// None where the lines are there.
#[cfg(any(windows, test))]
fn speaking_utf8(profile: &str) -> Option<String> {
    if profile.replace("\r\n", "\n").contains(&LINES.replace("\r\n", "\n")) {
        return None;
    }
    let gap = if profile.is_empty() || profile.ends_with('\n') {
        ""
    } else {
        "\r\n"
    };
    Some(format!("{profile}{gap}{LINES}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_gets_the_lines_once() {
        let added = speaking_utf8("Set-Alias ll ls").unwrap();
        assert_eq!(added, format!("Set-Alias ll ls\r\n{LINES}"));
        assert_eq!(speaking_utf8(&added), None);
        assert_eq!(speaking_utf8(&added.replace("\r\n", "\n")), None);
        assert_eq!(speaking_utf8("").as_deref(), Some(LINES));
    }
}
