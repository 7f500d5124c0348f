//! Makes the script and the stylesheet of all pages: one file each, of the files in `assets`, without their comments and
//! indentation.

mod bundle;
mod strip;

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

/// The parts of the one stylesheet, in the order of the cascade.
const STYLES: [&str; 14] = [
    "tokens",
    "base",
    "controls",
    "frame",
    "lists",
    "agents",
    "item",
    "runs",
    "pulse",
    "content",
    "code",
    "styleguide",
    "split",
    "devices",
];
/// The module that imports the others.
const ENTRY: &str = "app";
/// Scripts that stay files of their own: `words` waits for its dictionary, some pages have `passkey`, and `sw` is the
/// service worker.
const APART: [&str; 3] = ["words", "passkey", "sw"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=assets");
    let assets = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("assets");
    let output = env::var("OUT_DIR")?;
    let output = Path::new(&output);
    let read = |path: &str| -> Result<String, String> {
        let text = fs::read_to_string(assets.join(path)).map_err(|error| format!("{path}: {error}"))?;
        strip::strip(&text).map_err(|error| format!("{path}: {error}"))
    };
    let script = |name: &str| read(&format!("{name}.js"));
    let styles: Result<String, String> = STYLES.iter().map(|name| read(&format!("css/{name}.css"))).collect();
    fs::write(output.join("app.css"), styles?)?;
    fs::write(output.join("app.js"), bundle::bundle(ENTRY, &APART, script)?)?;
    for name in APART {
        fs::write(output.join(format!("{name}.js")), script(name)?)?;
    }
    Ok(())
}
