//! Runs `cueme migrate`: reads the arguments, imports the mailbox and prints the summary.

use std::path::PathBuf;
use std::process::ExitCode;

use super::database::Database;
use super::import::Import;
use crate::args::Flags;
use crate::failure::Failure;
use crate::setup::settings::Settings;
use crate::terminal::out;

pub fn run(words: &[String], flags: &Flags) -> Result<ExitCode, Failure> {
    let path = match words {
        [] => default_path()?,
        [path] if !path.is_empty() => PathBuf::from(path),
        _ => {
            return Err(Failure::usage(
                "cueme migrate [PATH]: give one database, or nothing for ~/.cue/cue.db",
            ));
        }
    };
    let path = if path.is_dir() { path.join("cue.db") } else { path };
    let settings = Settings::gather(flags)?;
    let database = Database::open(&path)?;
    let summary = Import::new(&database, &path, &settings).run()?;
    let text = if settings.json {
        format!("{}\n", summary.as_json())
    } else {
        summary.to_string()
    };
    let printed = out::print(&text)?;
    Ok(if summary.is_complete() {
        printed
    } else {
        ExitCode::FAILURE
    })
}

fn default_path() -> Result<PathBuf, Failure> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let home = home.ok_or_else(|| Failure::usage("HOME is not set: name the database, cueme migrate PATH"))?;
    Ok(PathBuf::from(home).join(".cue/cue.db"))
}
