//! The `cueme.proto.*` keys of `~/.cue/cueme.json`. What is not said there is built in, so a settings file of another
//! version, or an empty one, serves as well.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::paths::Here;
use super::targets::{System, TARGETS, Target};
use super::{PROTOCOL, blocks, write};
use crate::setup::config::Config;

const PATH: &str = "cueme.proto.path";
const PREFIX: &str = "cueme.proto.prefix";
const RUNTIME: &str = "cueme.proto.runtime";
const PROTOCOL_PATH: &str = "cueme.proto.protocol_path";
pub const KEYS: [&str; 4] = [PATH, PREFIX, RUNTIME, PROTOCOL_PATH];

#[derive(Debug)]
pub struct Settings {
    file: PathBuf,
    map: Map<String, Value>,
}

/// The text to install, and what its person should know about it.
pub struct Words {
    pub text: String,
    pub note: Option<String>,
}

impl Settings {
    pub fn load(here: &Here) -> Result<Self> {
        let file = here.settings_file();
        let map = Config::read(&file)?.raw;
        Ok(Self { file, map })
    }

    /// Every agent that is known, by name.
    pub fn agents(&self) -> Result<BTreeSet<String>> {
        let mut agents: BTreeSet<String> = TARGETS.iter().map(|target| target.agent.to_owned()).collect();
        agents.extend(self.table(PREFIX)?.into_iter().flat_map(|table| table.keys().cloned()));
        let places = self.table(PATH)?.into_iter().flat_map(|table| table.keys());
        agents.extend(
            places
                .filter_map(|key| key.split_once('.'))
                .map(|(_, agent)| agent.to_owned()),
        );
        agents.retain(|agent| !agent.is_empty());
        Ok(agents)
    }

    pub fn path(&self, agent: &str, here: &Here) -> Result<PathBuf> {
        here.resolve(&self.named_path(agent, here)?)
    }

    /// The same, to be written to. Links in one's own home are one's own; those in a project came with it, and must stay in it.
    pub fn target(&self, agent: &str, here: &Here) -> Result<PathBuf> {
        let named = self.named_path(agent, here)?;
        let path = here.resolve(&named)?;
        if let Some(project) = here.project_of(&named)? {
            write::check_stays_in(&path, project)?;
        }
        Ok(path)
    }

    fn named_path(&self, agent: &str, here: &Here) -> Result<String> {
        let key = format!("{}.{agent}", here.system.name());
        let built_in = Target::of(agent).map(|target| target.path(here.system).to_owned());
        let configured = match self.entry(PATH, &key)? {
            None => built_in,
            Some(Value::String(path)) => Some(path.clone()),
            Some(_) => bail!("{}: {PATH}: {key:?} must be a text", self.file.display()),
        };
        let Some(path) = configured.filter(|path| !path.trim().is_empty()) else {
            let known = self.agents()?.into_iter().collect::<Vec<_>>().join(", ");
            let file = self.file.display();
            let key = key.escape_debug();
            bail!("target path not configured: {key}; known are {known}; others are named in {PATH} of {file}");
        };
        Ok(path)
    }

    /// What the file of an agent has to begin with. Refused for an agent that nobody said anything about: some read no
    /// file without its front matter.
    pub fn prefix(&self, agent: &str) -> Result<String> {
        let built_in = Target::of(agent).map(|target| target.prefix.join("\n"));
        let Some(prefix) = self.lines(PREFIX, agent)?.or(built_in) else {
            bail!(
                "prefix not configured: add {agent:?}: [] to {PREFIX} in {}",
                self.file.display()
            );
        };
        unmarked(&prefix, PREFIX)?;
        Ok(prefix)
    }

    /// Those that may stand in its file already.
    pub fn prefixes(&self, agent: &str) -> Result<Vec<String>> {
        let built_in = Target::of(agent).map(|target| target.prefix.join("\n"));
        Ok(self.lines(PREFIX, agent)?.into_iter().chain(built_in).collect())
    }

    pub fn runtime(&self, agent: &str) -> Result<Option<String>> {
        let built_in = Target::of(agent).map(|target| target.runtime.join("\n"));
        let runtime = self
            .lines(RUNTIME, agent)?
            .or(built_in)
            .filter(|runtime| !runtime.trim().is_empty());
        unmarked(runtime.as_deref().unwrap_or_default(), RUNTIME)?;
        Ok(runtime)
    }

    /// The built-in words, unless other ones are named.
    pub fn words(&self, here: &Here) -> Result<Words> {
        let built_in = |note| Words {
            text: PROTOCOL.to_owned(),
            note,
        };
        let path = match self.map.get(PROTOCOL_PATH) {
            None | Some(Value::Null) => return Ok(built_in(None)),
            Some(Value::String(path)) if path.trim().is_empty() => return Ok(built_in(None)),
            Some(Value::String(path)) => here.resolve(path)?,
            Some(_) => bail!("{}: {PROTOCOL_PATH} must be a text", self.file.display()),
        };
        if is_of_a_package(&path) {
            let file = self.file.display();
            let path = path.display();
            let note = format!(
                "{PROTOCOL_PATH} in {file} names {path}, which came with another cueme; the built-in text is used"
            );
            return Ok(built_in(Some(note)));
        }
        let text = write::read(&path)?.with_context(|| format!("{PROTOCOL_PATH}: there is no {}", path.display()))?;
        if text.trim().is_empty() {
            bail!("{PROTOCOL_PATH}: {} is empty", path.display());
        }
        unmarked(&text, &path.display().to_string())?;
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        Ok(Words { text, note: None })
    }

    fn table(&self, key: &str) -> Result<Option<&Map<String, Value>>> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(table)) => Ok(Some(table)),
            Some(_) => bail!("{}: {key} must be an object", self.file.display()),
        }
    }

    fn entry(&self, key: &str, name: &str) -> Result<Option<&Value>> {
        Ok(self
            .table(key)?
            .and_then(|table| table.get(name))
            .filter(|value| !value.is_null()))
    }

    /// A text, or a list of its lines.
    fn lines(&self, key: &str, agent: &str) -> Result<Option<String>> {
        let text = match self.entry(key, agent)? {
            None => return Ok(None),
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Array(lines)) => lines
                .iter()
                .map(Value::as_str)
                .collect::<Option<Vec<_>>>()
                .map(|lines| lines.join("\n")),
            Some(Value::Bool(_) | Value::Number(_) | Value::Object(_) | Value::Null) => None,
        };
        let Some(text) = text else {
            bail!(
                "{}: {key}: {agent:?} must be a text or a list of lines",
                self.file.display()
            );
        };
        Ok(Some(text.replace("\r\n", "\n").trim_end_matches('\n').to_owned()))
    }
}

/// Makes the file with everything that is built in, for its person to change. Never over another; says whether it was made.
pub fn create(file: &Path) -> Result<bool> {
    if file.symlink_metadata().is_ok() {
        return Ok(false);
    }
    write::replace(file, &format!("{:#}\n", template()))?;
    Ok(true)
}

fn template() -> Value {
    let paths = System::ALL.iter().flat_map(|system| {
        TARGETS.iter().map(|target| {
            (
                format!("{}.{}", system.name(), target.agent),
                target.path(*system).into(),
            )
        })
    });
    let prefixes = TARGETS
        .iter()
        .map(|target| (target.agent.to_owned(), target.prefix.into()));
    let runtimes = TARGETS.iter().filter(|target| !target.runtime.is_empty());
    let runtimes = runtimes.map(|target| (target.agent.to_owned(), target.runtime.into()));
    json!({
        PATH: paths.collect::<Map<String, Value>>(),
        PREFIX: prefixes.collect::<Map<String, Value>>(),
        RUNTIME: runtimes.collect::<Map<String, Value>>(),
    })
}

/// A marker inside a block would end it early, and the next `apply` would find half of it.
fn unmarked(text: &str, place: &str) -> Result<()> {
    match blocks::first_marker(text) {
        Some(line) => bail!("{place}: line {line} is a marker of a managed block; take it out"),
        None => Ok(()),
    }
}

/// Settings made by the original name the text in its own package. Nobody chose that, and it goes away with the package.
fn is_of_a_package(path: &Path) -> bool {
    path.ends_with("protocol.md") && path.components().any(|part| part.as_os_str() == "node_modules")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::installer::scratch::Scratch;

    fn settings(scratch: &Scratch, json: &str) -> Result<Settings> {
        scratch.write(".cue/cueme.json", json);
        Settings::load(&scratch.here())
    }

    #[track_caller]
    fn refused<T>(result: Result<T>, wanted: &[&str]) {
        let words = format!("{:#}", result.err().expect("a refusal"));
        assert!(
            wanted.iter().all(|word| words.contains(word)) && !words.contains('\n'),
            "{words}"
        );
    }

    #[test]
    fn what_is_made_says_what_is_built_in() {
        let scratch = Scratch::new();
        let here = scratch.here();
        let built_in = Settings::load(&here).unwrap();
        assert!(create(&here.settings_file()).unwrap());
        assert!(!create(&here.settings_file()).unwrap(), "never over another");
        let made = Settings::load(&here).unwrap();
        assert_eq!(made.map.keys().collect::<Vec<_>>(), [PATH, PREFIX, RUNTIME]);
        assert_eq!(made.table(PATH).unwrap().unwrap().len(), 21);
        for target in &TARGETS {
            let agent = target.agent;
            assert_eq!(made.path(agent, &here).unwrap(), built_in.path(agent, &here).unwrap());
            assert_eq!(made.prefix(agent).unwrap(), built_in.prefix(agent).unwrap());
            assert_eq!(made.runtime(agent).unwrap(), built_in.runtime(agent).unwrap());
        }
        assert_eq!(made.agents().unwrap(), built_in.agents().unwrap());
        assert!(made.words(&here).unwrap().text == PROTOCOL);
    }

    #[test]
    fn the_persons_own_words_come_first() {
        let scratch = Scratch::new();
        let here = scratch.here();
        let own = settings(
            &scratch,
            r#"{"cueme.proto.path": {"linux.claude": "~/%RULES%/c.md", "linux.mine": "m.md", "windows.theirs": "x", "linux.kiro": ""},
                "cueme.proto.prefix": {"mine": "one\r\ntwo\r\n", "only": [], "vscode": ["---", "---"]},
                "cueme.proto.runtime": {"claude": [], "mine": ["a", "b"]}, "cueme.language": "de"}"#,
        )
        .unwrap();
        assert_eq!(own.path("claude", &here).unwrap(), scratch.path("rules/c.md"));
        assert_eq!(own.path("mine", &here).unwrap(), scratch.path("project/m.md"));
        assert_eq!(own.path("codex", &here).unwrap(), scratch.path(".codex/AGENTS.md"));
        refused(
            own.path("theirs", &here),
            &["target path not configured: linux.theirs;", "claude", "cueme.json"],
        );
        refused(own.path("kiro", &here), &["target path not configured"]);
        assert_eq!(
            (
                own.prefix("mine").unwrap().as_str(),
                own.prefix("only").unwrap().as_str()
            ),
            ("one\ntwo", "")
        );
        refused(own.prefix("theirs"), &["prefix not configured", "\"theirs\""]);
        assert_eq!(
            own.runtime("claude").unwrap(),
            None,
            "an empty list takes the built-in one away"
        );
        assert_eq!(own.runtime("mine").unwrap().as_deref(), Some("a\nb"));
        assert_eq!(
            own.prefixes("vscode").unwrap(),
            ["---\n---", "---\napplyTo: \"**\"\n---"]
        );
        let agents = own.agents().unwrap();
        assert!(
            ["mine", "only", "theirs", "claude"]
                .iter()
                .all(|agent| agents.contains(*agent)),
            "{agents:?}"
        );
    }

    #[test]
    fn settings_that_cannot_be_read_are_refused_in_one_line() {
        let scratch = Scratch::new();
        let here = scratch.here();
        refused(settings(&scratch, "{"), &["cueme.json", "not JSON"]);
        refused(settings(&scratch, "[]"), &["cueme.json", "object"]);
        let read = |json: &str| settings(&scratch, json).unwrap();
        refused(
            read(r#"{"cueme.proto.path": []}"#).path("claude", &here),
            &[PATH, "object"],
        );
        refused(
            read(r#"{"cueme.proto.path": {"linux.claude": 1}}"#).path("claude", &here),
            &["linux.claude", "text"],
        );
        refused(
            read(r#"{"cueme.proto.prefix": {"claude": [1]}}"#).prefix("claude"),
            &[PREFIX, "list of lines"],
        );
        refused(
            read(r#"{"cueme.proto.runtime": {"claude": true}}"#).runtime("claude"),
            &[RUNTIME, "list of lines"],
        );
        refused(
            read(r#"{"cueme.proto.protocol_path": 1}"#).words(&here),
            &[PROTOCOL_PATH, "text"],
        );
        let marked = read(r#"{"cueme.proto.runtime": {"claude": ["a", "<!-- HUMAN_AGENT_RUNTIME_END -->"]}}"#);
        refused(marked.runtime("claude"), &[RUNTIME, "line 2", "marker"]);
    }

    #[test]
    fn other_words_are_used_when_the_person_names_them() {
        let scratch = Scratch::new();
        let here = scratch.here();
        let named = settings(&scratch, r#"{"cueme.proto.protocol_path": "~/own.md"}"#).unwrap();
        refused(named.words(&here), &["there is no", "own.md"]);
        scratch.write("own.md", " \n");
        refused(named.words(&here), &["own.md is empty"]);
        scratch.write("own.md", "a\n<!-- HUMAN_AGENT_PROTO_END -->\n");
        refused(named.words(&here), &["own.md", "line 2"]);
        scratch.write("own.md", "\u{feff}mine\r\n");
        let words = named.words(&here).unwrap();
        assert_eq!((words.text.as_str(), words.note), ("mine\n", None));
    }

    #[test]
    fn the_text_of_the_originals_package_is_not_installed() {
        let scratch = Scratch::new();
        let json = r#"{"cueme.proto.protocol_path": "/usr/lib/node_modules/cueme/protocol.md"}"#;
        let words = settings(&scratch, json).unwrap().words(&scratch.here()).unwrap();
        assert!(words.text == PROTOCOL && words.note.is_some_and(|note| note.contains("node_modules")));
    }
}
