//! Settings that the original cueme wrote to the shared `~/.cue/cueme.json`: the path of its own protocol text, and
//! runtime texts that go with it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Map, Value};

use super::atomic_file;
use super::environment::Environment;
use super::settings::{PROTOCOL_PATH, ProtoSettings, RUNTIME};
use super::targets::Target;

const PROTOCOL_FILE: &str = "protocol.md";
const PACKAGE_FILE: &str = "package.json";
const PACKAGE_NAME: &str = "cueme";

/// Whether a configured protocol text belongs to the original's package. The original writes that path by itself; the
/// user did not choose it, and it dangles once the package is removed.
pub fn is_original_text(path: &Path) -> bool {
    let in_node_modules = || path.components().any(|part| part.as_os_str() == "node_modules");
    path.ends_with(PROTOCOL_FILE) && (in_node_modules() || is_in_package(path) || !path.exists())
}

fn is_in_package(path: &Path) -> bool {
    let package = fs::read(path.with_file_name(PACKAGE_FILE)).unwrap_or_default();
    let package: Option<Map<String, Value>> = serde_json::from_slice(&package).ok();
    package.is_some_and(|package| package.get("name").and_then(Value::as_str) == Some(PACKAGE_NAME))
}

/// What `cueme migrate --settings` did.
pub enum SettingsMove {
    /// The file holds nothing of the original.
    Unneeded(PathBuf),
    /// The keys were removed, and the file as it was is kept under another name.
    Moved {
        file: PathBuf,
        keys: Vec<&'static str>,
        kept_as: PathBuf,
    },
}

/// The settings file, if it still holds settings of the original.
pub fn settings_of_the_original() -> Result<Option<PathBuf>> {
    let env = Environment::current()?;
    Ok(ProtoSettings::load(&env)?
        .is_of_the_original(&env)?
        .then(|| env.settings_file()))
}

/// Removes the original's texts from the settings. Paths and prefixes stay, because they mean the same in both.
pub fn move_settings() -> Result<SettingsMove> {
    move_settings_in(&Environment::current()?)
}

fn move_settings_in(env: &Environment) -> Result<SettingsMove> {
    let file = env.settings_file();
    let settings = ProtoSettings::load(env)?;
    if !settings.is_of_the_original(env)? {
        return Ok(SettingsMove::Unneeded(file));
    }
    let kept_as = free_name(&file);
    let before = atomic_file::read(&file)?.with_context(|| format!("there is no {}", file.display()))?;
    let mut map = settings.into_map();
    let mut keys: Vec<&str> = Vec::new();
    keys.extend(map.shift_remove(PROTOCOL_PATH).map(|_| PROTOCOL_PATH));
    keys.extend(remove_runtimes(&mut map).then_some(RUNTIME));
    atomic_file::replace(&kept_as, &before)?;
    atomic_file::replace(&file, &format!("{:#}\n", Value::Object(map)))?;
    Ok(SettingsMove::Moved { file, keys, kept_as })
}

/// Removes the runtime texts of the agents that the original knows too. Those of the user's own agents stay.
fn remove_runtimes(map: &mut Map<String, Value>) -> bool {
    let Some(Value::Object(runtimes)) = map.get_mut(RUNTIME) else {
        return false;
    };
    let before = runtimes.len();
    runtimes.retain(|agent, _| Target::of(agent).is_none());
    let is_changed = runtimes.len() < before;
    if runtimes.is_empty() {
        map.shift_remove(RUNTIME);
    }
    is_changed
}

/// An earlier copy is not overwritten.
fn free_name(file: &Path) -> PathBuf {
    let numbered = (2..).map(|number| format!("cueme.json.original.{number}"));
    std::iter::once("cueme.json.original".to_owned())
        .chain(numbered)
        .map(|name| file.with_file_name(name))
        .find(|path| path.symlink_metadata().is_err())
        .unwrap_or_else(|| file.with_file_name("cueme.json.original"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::installer::PROTOCOL;
    use crate::commands::installer::scratch::Scratch;

    #[test]
    fn the_text_of_the_original_is_recognised_wherever_its_package_is() {
        let scratch = Scratch::new();
        scratch.write("opt/cueme/package.json", r#"{"name": "cueme", "version": "0.1.24"}"#);
        scratch.write("opt/cueme/protocol.md", "# Human Agent Protocol (HAP)\n");
        scratch.write("mine/package.json", r#"{"name": "shop"}"#);
        scratch.write("mine/protocol.md", "Ask first.\n");
        for (path, expected) in [
            ("lib/node_modules/cueme/protocol.md", true),
            ("opt/cueme/protocol.md", true),
            ("removed/protocol.md", true),
            ("mine/protocol.md", false),
            ("removed/own.md", false),
        ] {
            assert_eq!(is_original_text(&scratch.path(path)), expected, "{path}");
        }
    }

    #[test]
    fn its_texts_are_not_used_and_a_note_says_so() {
        let scratch = Scratch::new();
        let env = scratch.environment();
        let json =
            r#"{"cueme.proto.protocol_path": "~/removed/protocol.md", "cueme.proto.runtime": {"claude": "24h"}}"#;
        scratch.write(".cue/cueme.json", json);
        let settings = ProtoSettings::load(&env).unwrap();
        let protocol = settings.protocol_text(&env).unwrap();
        let note = protocol.note.unwrap();
        assert!(
            protocol.text == PROTOCOL && note.contains("migrate --settings"),
            "{note}"
        );
        assert_ne!(settings.runtime("claude", &env).unwrap().as_deref(), Some("24h"));
    }

    #[test]
    fn moving_keeps_paths_and_a_copy_of_the_file() {
        let scratch = Scratch::new();
        let env = scratch.environment();
        let json = r#"{"cueme.proto.path": {"linux.claude": "~/c.md"}, "cueme.proto.runtime": {"claude": "24h", "mine": "Wait."},
            "cueme.proto.protocol_path": "/gone/node_modules/cueme/protocol.md", "cueme.language": "de"}"#;
        scratch.write(".cue/cueme.json", json);
        let SettingsMove::Moved { keys, .. } = move_settings_in(&env).unwrap() else {
            panic!("there is something to move");
        };
        assert_eq!(keys, [PROTOCOL_PATH, RUNTIME]);
        assert_eq!(scratch.read(".cue/cueme.json.original"), json);
        let moved: Map<String, Value> = serde_json::from_str(&scratch.read(".cue/cueme.json")).unwrap();
        assert_eq!(
            moved.keys().collect::<Vec<_>>(),
            ["cueme.proto.path", "cueme.proto.runtime", "cueme.language"]
        );
        assert_eq!(moved["cueme.proto.runtime"], serde_json::json!({"mine": "Wait."}));
        assert!(matches!(move_settings_in(&env).unwrap(), SettingsMove::Unneeded(_)));
    }
}
