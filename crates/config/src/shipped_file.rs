//! Tests of `packaging/hub.toml`, the configuration file that packages install.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::{Config, ConfigFile, Overrides};

const SHIPPED: &str = include_str!("../../../packaging/hub.toml");
/// Ends the comment above an example, which stands for a key or a whole table without a default.
const EXAMPLE_MARK: &str = "Not set by default.";

/// The file with all its keys active, or only those that have a default.
fn activated(with_examples: bool) -> String {
    let mut text = String::new();
    let (mut marked, mut in_example_table) = (false, false);
    for line in SHIPPED.lines() {
        if line.is_empty() || line == "#" || line.starts_with("# ") {
            marked = line.ends_with(EXAMPLE_MARK);
            continue;
        }
        let entry = line.strip_prefix('#').unwrap_or(line);
        if entry.starts_with('[') {
            in_example_table = marked;
        }
        if with_examples || !(marked || in_example_table) {
            text.push_str(entry);
            text.push('\n');
        }
        marked = false;
    }
    text
}

/// The keys that the type behind a table knows, as the refusal of an unknown key lists them.
fn known_keys(file: &Table, path: &[&str]) -> BTreeSet<String> {
    let mut probe = file.clone();
    let table = path.iter().fold(&mut probe, |table, name| {
        table.get_mut(*name).and_then(Value::as_table_mut).unwrap()
    });
    table.insert("no_such_key".to_owned(), Value::Boolean(true));
    let error = probe.try_into::<ConfigFile>().unwrap_err();
    let (_, expected) = error
        .message()
        .split_once("unknown field `no_such_key`, expected ")
        .unwrap();
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn assert_complete(file: &Table, path: &[&str], table: &Table) {
    // The names of providers are free.
    if path != ["llm", "providers"] {
        let shown: BTreeSet<String> = table.keys().cloned().collect();
        assert_eq!(shown, known_keys(file, path), "keys of [{}]", path.join("."));
    }
    for (name, value) in table {
        if let Value::Table(inner) = value {
            assert_complete(file, &[path, &[name]].concat(), inner);
        }
    }
}

/// All settings as text: those of the log, which starts before the hub, and those of the hub.
fn settings(text: &str) -> String {
    let file: ConfigFile = toml::from_str(text).unwrap();
    let log = file.log.clone();
    let config = Config {
        // The shipped file names the default address.
        listen_is_default: false,
        ..Config::resolve(file, Overrides::default()).unwrap()
    };
    format!("{log:#?}\n{config:#?}")
}

#[test]
fn the_shipped_file_shows_every_key() {
    let file: Table = toml::from_str(&activated(true)).unwrap();
    assert_complete(&file, &[], &file);
}

#[test]
fn the_shipped_file_shows_the_defaults() {
    for text in [SHIPPED, &activated(false)] {
        assert_eq!(settings(text), settings(""));
    }
}

#[test]
fn an_example_in_the_shipped_file_stands_for_a_key_without_a_default() {
    let keys = |text: &str| -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        collect_paths("", &toml::from_str(text).unwrap(), &mut paths);
        paths
    };
    let examples: Vec<String> = keys(&activated(true))
        .difference(&keys(&activated(false)))
        .cloned()
        .collect();
    assert_eq!(
        examples,
        [
            ".database_url",
            ".llm.api_key",
            ".llm.api_key_env",
            ".llm.base_url",
            ".llm.providers.local.api_key",
            ".llm.providers.local.api_key_env",
            ".llm.providers.local.base_url",
            ".public_url",
            ".runs.input_timeout_seconds",
            ".tls.cert",
            ".tls.key",
        ]
    );
}

fn collect_paths(path: &str, table: &Table, paths: &mut BTreeSet<String>) {
    for (name, value) in table {
        let path = format!("{path}.{name}");
        match value {
            Value::Table(inner) => collect_paths(&path, inner, paths),
            _ => {
                paths.insert(path);
            }
        }
    }
}
