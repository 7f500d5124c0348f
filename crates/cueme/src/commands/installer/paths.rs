//! Where this process stands: whose home, which directory, which system.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::targets::System;

type Variable = Box<dyn Fn(&str) -> Option<String>>;

pub struct Here {
    home: PathBuf,
    directory: PathBuf,
    pub system: System,
    variable: Variable,
}

impl Here {
    pub fn now() -> Result<Self> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let home = ["HOME", "USERPROFILE"]
            .iter()
            .find_map(|name| env::var_os(name).filter(|home| !home.is_empty()));
        let home = home.context("no home directory: set HOME")?;
        let directory = env::current_dir().context("the current directory is not there")?;
        Ok(Self::new(home.into(), directory, System::now()?, Box::new(variable)))
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

    /// Directories that were here before us, whatever is in them.
    pub fn roots(&self) -> [&Path; 2] {
        [&self.home, &self.directory]
    }

    /// The project that a path, as people write it, lies in: what is relative belongs to the current directory.
    pub fn project_of(&self, text: &str) -> Result<Option<&Path>> {
        let text = self.filled_in(text)?;
        let is_home = text == "~" || text.starts_with("~/") || text.starts_with("~\\");
        Ok((!is_home && Path::new(&text).is_relative()).then_some(self.directory.as_path()))
    }

    /// A path as people write it: `~` is the home directory, `%NAME%` a variable, and what is relative starts from the
    /// current directory.
    pub fn resolve(&self, text: &str) -> Result<PathBuf> {
        let text = self.filled_in(text)?;
        let path = match text.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with(['/', '\\']) => self.home.join(&rest[1..]),
            Some(_) | None => PathBuf::from(&text),
        };
        Ok(self.directory.join(path))
    }

    fn filled_in(&self, text: &str) -> Result<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find('%') {
            let before = &rest[..start];
            let after = &rest[start + 1..];
            out.push_str(before);
            let name = after
                .split('%')
                .next()
                .filter(|name| is_name(name) && after.len() > name.len());
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

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_()".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Here {
        let variable = |name: &str| (name == "APPDATA").then(|| "/data".to_owned());
        Here::new(
            "/home/ann".into(),
            "/srv/site".into(),
            System::Linux,
            Box::new(variable),
        )
    }

    #[test]
    fn a_path_is_read_as_people_write_it() {
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
            assert_eq!(here().resolve(text).unwrap(), Path::new(path), "{text}");
        }
        assert_eq!(here().settings_file(), Path::new("/home/ann/.cue/cueme.json"));
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let words = here().resolve("%NOWHERE%/x").unwrap_err().to_string();
        assert!(words.contains("%NOWHERE%") && words.contains("not set"), "{words}");
    }
}
