//! Runs `cueme migrate`: reads the arguments, imports the mailbox and prints the summary; or moves the settings.

use std::path::PathBuf;
use std::process::ExitCode;

use super::database::Database;
use super::import::Import;
use crate::args::Flags;
use crate::commands::installer::{self, SettingsMove};
use crate::failure::Failure;
use crate::setup::settings::Settings;
use crate::terminal::out;

pub fn run(words: &[String], flags: &Flags) -> Result<ExitCode, Failure> {
    if flags.settings {
        return move_settings(words);
    }
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
    offer_to_move_settings();
    Ok(if summary.is_complete() {
        printed
    } else {
        ExitCode::FAILURE
    })
}

fn move_settings(words: &[String]) -> Result<ExitCode, Failure> {
    if !words.is_empty() {
        return Err(Failure::usage("cueme migrate --settings takes no other argument"));
    }
    let moved = installer::move_settings().map_err(|error| Failure::failed(&format!("{error:#}")))?;
    out::print(&match moved {
        SettingsMove::Unneeded(file) => format!("{} has no settings of the original cueme\n", file.display()),
        SettingsMove::Moved { file, keys, kept_as } => format!(
            "{}: removed {}; the file as it was is {}\n",
            file.display(),
            keys.join(" and "),
            kept_as.display()
        ),
    })
}

/// Settings that cannot be read are reported by the commands that need them.
fn offer_to_move_settings() {
    if let Ok(Some(file)) = installer::settings_of_the_original() {
        out::remark(&format!(
            "{} still names texts of the original cueme, which are not used; `cueme migrate --settings` takes them out",
            file.display()
        ));
    }
}

fn default_path() -> Result<PathBuf, Failure> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let home = home.ok_or_else(|| Failure::usage("HOME is not set: name the database, cueme migrate PATH"))?;
    Ok(PathBuf::from(home).join(".cue/cue.db"))
}
