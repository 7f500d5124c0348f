//! docs/a2h.md works as written on a fresh hub: its commands run in order, and print what the page shows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::*;

const PAGE: &str = include_str!("../../../../docs/a2h.md");

/// A command of the page and the output shown below it.
#[derive(Debug)]
struct Example {
    command: String,
    shown: String,
}

fn examples() -> Vec<Example> {
    let mut examples = Vec::new();
    for block in PAGE.split("```console\n").skip(1) {
        let block = block.split("```").next().expect("the end of a block");
        for part in format!("\n{block}").split("\n$ ").skip(1) {
            let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
            examples.push(Example {
                command: command.to_owned(),
                shown: shown.trim().to_owned(),
            });
        }
    }
    examples
}

/// The shell of the reader: its directory, and the variables that the page names.
struct Reader {
    directory: PathBuf,
    home: PathBuf,
    data: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl Reader {
    fn run(&self, command: &str) -> String {
        let binaries = Path::new(env!("CARGO_BIN_EXE_countersign"))
            .parent()
            .expect("a directory");
        let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", command])
            .env_clear()
            .env("PATH", path)
            .env("HOME", &self.home)
            .env("COUNTERSIGN_DATA", &self.data)
            .envs(self.variables.iter().map(|(name, value)| (*name, value)))
            .current_dir(&self.directory)
            .output()
            .expect("bash");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{command}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Takes tokens and ids from the output, as a reader would copy them.
    fn copy_values(&mut self, printed: &str) {
        for word in printed.split(|c: char| c.is_whitespace() || c == '"') {
            let name = match word.get(..4) {
                Some("csa_") => "TOKEN",
                Some("csp_") => "ANN",
                Some("msg_") => "ID",
                Some(_) | None => continue,
            };
            self.variables.retain(|(known, _)| *known != name);
            self.variables.push((name, word.to_owned()));
        }
    }

    /// Submits the page's ask again, under a new key.
    fn ask_again(&mut self, key: &str) {
        let ask = fs::read_to_string(self.directory.join("ask.json")).expect("ask.json");
        fs::write(self.directory.join("again.json"), ask.replace("ship-1.4", key)).expect("written");
        let submit = r#"curl -sS $HUB/v1/messages -H "Authorization: Bearer $TOKEN" --data-binary @again.json"#;
        let printed = self.run(submit);
        self.copy_values(&printed);
    }

    fn variable(&self, name: &str) -> &str {
        let found = self.variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str()).expect(name)
    }
}

/// The keys of an object, and the values that do not depend on the hub.
fn shape(value: &Value) -> Value {
    let entries = value.as_object().expect("an object").iter();
    let kept = entries.map(|(key, value)| (key.clone(), if key == "status" { value.clone() } else { json!(null) }));
    Value::Object(kept.collect())
}

/// Compares word by word; a word that the page cuts with `…` needs to begin the same way up to its `_`.
fn assert_same_text(printed: &str, shown: &str) {
    let printed: Vec<&str> = printed.split_whitespace().collect();
    let shown: Vec<&str> = shown.split_whitespace().collect();
    assert_eq!(printed.len(), shown.len(), "{printed:?} {shown:?}");
    for (printed, shown) in printed.iter().zip(&shown) {
        let kind = |word: &str| word.split('_').next().unwrap_or_default().to_owned();
        let is_same = printed == shown || (shown.ends_with('…') && kind(printed) == kind(shown));
        assert!(is_same, "printed {printed}, the page shows {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_of_the_page_works_on_a_fresh_hub() {
    let hub = Hub::start().await;
    let mut reader = Reader {
        directory: hub.scratch().home(),
        home: hub.scratch().home(),
        data: hub.scratch().data(),
        variables: vec![("HUB", hub.url.clone())],
    };
    let examples = examples();
    assert!(examples.len() >= 8, "{examples:?}");
    for (number, Example { command, shown }) in examples.iter().enumerate() {
        if command == "cat ask.json" {
            fs::write(reader.directory.join("ask.json"), shown).expect("written");
        }
        if command.contains("$ID") {
            reader.ask_again(&format!("again-{number}"));
        }
        if command.contains("?wait=") {
            let id = reader.variable("ID");
            let ann = hub.anonymous().bearer(reader.variable("ANN"));
            let answer = json!({"resolution": "answered", "value": "approve", "comment": "go ahead"});
            ann.post(&format!("/v1/messages/{id}/resolve"), &answer)
                .await
                .expect(200);
        }
        let printed = reader.run(command);
        reader.copy_values(&printed);
        match serde_json::from_str::<Value>(&printed) {
            Ok(printed) if command.starts_with("curl") => {
                assert_eq!(printed.get("error"), None, "{command}");
                if let Ok(shown) = serde_json::from_str::<Value>(shown) {
                    assert_eq!(shape(&printed), shape(&shown), "{command}");
                }
            }
            Ok(_) | Err(_) => assert_same_text(&printed, shown),
        }
    }
}
