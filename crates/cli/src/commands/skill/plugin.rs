//! The files that make a directory of skills installable. They are the same for every kind of skill of an app, so a
//! second skill joins the first one's plugin.

use std::path::Path;

use countersign_client::screen::escape;
use serde_json::{Value, json};

use super::files::PlannedFile;
use super::settings::SkillSettings;

const VERSION: &str = "0.1.0";

/// The manifest, and the marketplace that lists the plugin.
pub fn files(app: &str, root: &Path) -> Vec<PlannedFile> {
    let file = |path: &str, value: &Value| PlannedFile {
        path: root.join(path),
        text: format!("{value:#}\n"),
    };
    vec![
        file(".claude-plugin/plugin.json", &manifest(app)),
        file(".claude-plugin/marketplace.json", &marketplace(app)),
    ]
}

/// The lines by which a user of Claude Code checks, installs and calls the skill. A relative path begins with a dot
/// there: other words are taken for a repository.
pub fn install_lines(settings: &SkillSettings, root: &Path) -> String {
    let plugin = name(&settings.app);
    let is_marked = root.is_absolute() || root.starts_with(".") || root.starts_with("..");
    let root = escape(
        &if is_marked {
            root.to_owned()
        } else {
            Path::new(".").join(root)
        }
        .to_string_lossy(),
    );
    format!(
        "Check it with: claude plugin validate {root}\nInstall it in Claude Code:\n  /plugin marketplace add {root}\n  \
         /plugin install {plugin}@{plugin}\n  /{plugin}:{}\n",
        settings.name()
    )
}

fn name(app: &str) -> String {
    format!("{app}-a2h")
}

fn description(app: &str) -> String {
    format!("How the agents of {app} put decisions, tasks and news in front of people.")
}

fn manifest(app: &str) -> Value {
    json!({ "name": name(app), "description": description(app), "version": VERSION, "author": { "name": app } })
}

fn marketplace(app: &str) -> Value {
    let description = description(app);
    let plugin = json!({ "name": name(app), "source": "./", "description": description, "version": VERSION });
    json!({ "name": name(app), "description": description, "owner": { "name": app }, "plugins": [plugin] })
}

#[cfg(test)]
mod tests {
    use countersign_protocol::a2h::Kind;

    use super::super::settings::tests::settings;
    use super::*;

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_plugin_lists_itself() {
        let files = files("acme", Path::new("root"));
        let (manifest, marketplace) = (read(&files[0].text), read(&files[1].text));
        assert_eq!(manifest["name"], "acme-a2h");
        assert_eq!(manifest["name"], marketplace["plugins"][0]["name"]);
        assert_eq!(marketplace["plugins"][0]["source"], "./");
        assert!(marketplace["description"].is_string());
        assert_eq!(files[1].path, Path::new("root/.claude-plugin/marketplace.json"));
    }

    #[test]
    fn a_relative_path_is_no_repository() {
        let settings = settings(Kind::Notify, None);
        for (root, shown) in [
            ("acme", "./acme"),
            (".claude/x", "./.claude/x"),
            ("./a", "./a"),
            ("../a", "../a"),
            ("/a", "/a"),
        ] {
            let lines = install_lines(&settings, Path::new(root));
            assert!(lines.contains(&format!("/plugin marketplace add {shown}\n")), "{lines}");
        }
    }

    #[test]
    fn our_own_plugin_is_a_folder_of_its_own() {
        let manifest = read(include_str!("../../../../../plugin/.claude-plugin/plugin.json"));
        let marketplace = read(include_str!("../../../../../.claude-plugin/marketplace.json"));
        assert_eq!(manifest["name"], marketplace["plugins"][0]["name"]);
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(manifest["version"], marketplace["plugins"][0]["version"]);
        assert_eq!(marketplace["plugins"][0]["source"], "./plugin");
        assert!(marketplace["owner"]["name"].is_string() && marketplace["description"].is_string());
    }
}
