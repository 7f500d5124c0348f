//! The configuration file named by `--config`.

use std::path::Path;

use countersign_config::{Config, ConfigError, ConfigFile, Overrides};

use super::Finding;

pub fn check(path: &Path) -> Finding {
    match read(path) {
        Ok(()) => Finding::ok("config", format!("the configuration {} is understood", path.display())),
        Err(reason) => {
            let reason = on_one_line(&reason.to_string());
            let message = format!("the configuration {} is not usable: {reason}", path.display());
            Finding::fail("config", message, "correct the file; the hub refuses to start with it")
        }
    }
}

/// Reads the file as `serve` does without flags.
fn read(path: &Path) -> Result<(), ConfigError> {
    Config::resolve(ConfigFile::read(path)?, Overrides::default()).map(|_| ())
}

/// Drops the source excerpt that the parser draws between position and reason.
fn on_one_line(reason: &str) -> String {
    let mut lines = reason.lines().filter(|line| !line.trim().is_empty());
    let place = lines.next().unwrap_or_default();
    lines
        .next_back()
        .map_or_else(|| place.to_owned(), |why| format!("{place}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parse_error_fits_on_one_line() {
        let drawn = "TOML parse error at line 1, column 6\n  |\n1 | x = [\n  |      ^\nunclosed array, expected `]`\n";
        assert_eq!(
            on_one_line(drawn),
            "TOML parse error at line 1, column 6: unclosed array, expected `]`"
        );
        assert_eq!(on_one_line("no such file"), "no such file");
    }
}
