//! The files that make a directory of skills installable. They are the same for every kind of skill of an app, so a
//! second skill joins the first one's plugin.

use std::path::Path;

use serde_json::{Value, json};

use super::files::PlannedFile;

const VERSION: &str = "0.1.0";

/// The manifest, and the marketplace file twice: at the root, and where installers look for it.
pub fn files(app: &str, root: &Path) -> Vec<PlannedFile> {
    let file = |path: &str, value: &Value| PlannedFile {
        path: root.join(path),
        text: format!("{value:#}\n"),
    };
    let marketplace = marketplace(app);
    vec![
        file(".claude-plugin/plugin.json", &manifest(app)),
        file("marketplace.json", &marketplace),
        file(".claude-plugin/marketplace.json", &marketplace),
    ]
}

fn name(app: &str) -> String {
    format!("{app}-people")
}

fn description(app: &str) -> String {
    format!("How the agents of {app} put decisions, tasks and news in front of people.")
}

fn manifest(app: &str) -> Value {
    json!({ "name": name(app), "description": description(app), "version": VERSION, "author": { "name": app } })
}

fn marketplace(app: &str) -> Value {
    let plugin = json!({ "name": name(app), "source": "./", "description": description(app), "version": VERSION });
    json!({ "name": name(app), "owner": { "name": app }, "plugins": [plugin] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_lists_itself() {
        let files = files("acme", Path::new("root"));
        let read = |at: usize| serde_json::from_str::<Value>(&files[at].text).unwrap();
        assert_eq!(read(0)["name"], read(1)["plugins"][0]["name"]);
        assert_eq!(read(1)["plugins"][0]["source"], "./");
        assert_eq!(files[1].text, files[2].text);
    }

    #[test]
    fn our_own_plugin_is_in_the_same_shape() {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let manifest = read(include_str!("../../../../../.claude-plugin/plugin.json"));
        let root = include_str!("../../../../../marketplace.json");
        let marketplace = read(root);
        assert_eq!(manifest["name"], marketplace["plugins"][0]["name"]);
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(marketplace["plugins"][0]["source"], "./");
        assert!(marketplace["owner"]["name"].is_string());
        assert_eq!(root, include_str!("../../../../../.claude-plugin/marketplace.json"));
    }
}
