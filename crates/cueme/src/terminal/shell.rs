//! The shell that an agent runs in, named as by the original cueme.

pub fn current() -> &'static str {
    detect(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}

fn detect(variable: impl Fn(&str) -> Option<String>) -> &'static str {
    let Some(shell) = variable("SHELL") else {
        let is_wsl = variable("WSL_DISTRO_NAME")
            .or_else(|| variable("WSL_INTEROP"))
            .is_some();
        return if is_wsl { "bash" } else { "unknown" };
    };
    let shell = shell.to_lowercase();
    match shell.rsplit('/').next() {
        Some("zsh") => "zsh",
        Some("bash") => "bash",
        Some("fish") => "fish",
        Some("nu") => "nushell",
        Some(_) | None => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_recognized_by_the_last_part_of_their_path() {
        let shell = |path: &str| detect(|name| (name == "SHELL").then(|| path.to_owned()));
        for (path, name) in [
            ("/bin/zsh", "zsh"),
            ("bash", "bash"),
            ("/opt/homebrew/bin/Fish", "fish"),
            ("/usr/bin/nu", "nushell"),
            ("/bin/sh", "unknown"),
            ("/bin/bash5", "unknown"),
        ] {
            assert_eq!(shell(path), name, "{path}");
        }
        assert_eq!(detect(|_| None), "unknown");
        assert_eq!(detect(|name| (name == "WSL_INTEROP").then(|| "x".to_owned())), "bash");
    }
}
