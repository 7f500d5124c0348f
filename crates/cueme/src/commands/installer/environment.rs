//! The environment of this process: home directory, current directory, operating system and variables.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::targets::System;

type Variable = Box<dyn Fn(&str) -> Option<String>>;

pub struct Environment {
    home: PathBuf,
    directory: PathBuf,
    pub system: System,
    variable: Variable,
}

impl Environment {
    pub fn current() -> Result<Self> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let home = ["HOME", "USERPROFILE"]
            .iter()
            .find_map(|name| env::var_os(name).filter(|home| !home.is_empty()));
        let home = home.context("no home directory: set HOME")?;
        let directory = env::current_dir().context("the current directory is not there")?;
        Ok(Self::new(
            home.into(),
            directory,
            System::current()?,
            Box::new(variable),
        ))
    }

    pub fn new(home: PathBuf, directory: PathBuf, system: System, variable: Variable) -> Self {
        Self {
            home: directory.join(home),
            directory,
            system,
            variable,
        }
    }

    pub fn settings_file(&self) -> PathBuf {
        self.home.join(".cue").join("cueme.json")
    }

    /// Directories that are never removed, even when empty.
    pub fn roots(&self) -> [&Path; 2] {
        [&self.home, &self.directory]
    }

    /// The project of a path as users write it: a relative path belongs to the current directory.
    pub fn project_of(&self, text: &str) -> Result<Option<&Path>> {
        let text = self.expand_variables(text)?;
        let is_home = text == "~" || text.starts_with("~/") || text.starts_with("~\\");
        Ok((!is_home && Path::new(&text).is_relative()).then_some(self.directory.as_path()))
    }

    /// Resolves a path as users write it: `~` is the home directory, `%NAME%` a variable, and a relative path starts at
    /// the current directory.
    pub fn resolve(&self, text: &str) -> Result<PathBuf> {
        let text = self.expand_variables(text)?;
        let path = match text.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with(['/', '\\']) => self.home.join(&rest[1..]),
            Some(_) | None => PathBuf::from(&text),
        };
        Ok(self.directory.join(path))
    }

    fn expand_variables(&self, text: &str) -> Result<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find('%') {
            let before = &rest[..start];
            let after = &rest[start + 1..];
            out.push_str(before);
            let name = after
                .split('%')
                .next()
                .filter(|name| is_variable_name(name) && after.len() > name.len());
            // A lone % is an ordinary character of a file name.
            let Some(name) = name else {
                out.push('%');
                rest = after;
                continue;
            };
            let Some(value) = (self.variable)(name) else {
                bail!("the path {text:?} needs %{name}%, which is not set")
            };
            out.push_str(&value);
            rest = &after[name.len() + 1..];
        }
        Ok(out + rest)
    }
}

fn is_variable_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_()".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        let variable = |name: &str| (name == "APPDATA").then(|| "/data".to_owned());
        Environment::new(
            "/home/ann".into(),
            "/srv/site".into(),
            System::Linux,
            Box::new(variable),
        )
    }

    #[test]
    fn home_and_variables_in_a_path_are_resolved() {
        for (text, path) in [
            ("~", "/home/ann"),
            ("~/.claude/CLAUDE.md", "/home/ann/.claude/CLAUDE.md"),
            ("~ann/x", "/srv/site/~ann/x"),
            ("/etc/x~", "/etc/x~"),
            (".cursor/rules/x.mdc", "/srv/site/.cursor/rules/x.mdc"),
            ("%APPDATA%/Code/x", "/data/Code/x"),
            ("/a/%APPDATA%%APPDATA%", "/a//data/data"),
            ("/100%", "/100%"),
            ("/50% of %APPDATA%", "/50% of /data"),
            ("/%%", "/%%"),
        ] {
            assert_eq!(environment().resolve(text).unwrap(), Path::new(path), "{text}");
        }
        assert_eq!(environment().settings_file(), Path::new("/home/ann/.cue/cueme.json"));
    }

    #[test]
    fn an_unset_variable_is_named_in_the_error() {
        let message = environment().resolve("%NOWHERE%/x").unwrap_err().to_string();
        assert!(
            message.contains("%NOWHERE%") && message.contains("not set"),
            "{message}"
        );
    }
}
