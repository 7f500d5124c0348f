//! The inputs of a command: files, and standard input as `-`.

use std::fs::File;
use std::io::{self, Read};

use anyhow::{Context, Result, bail};
use countersign_protocol::json;
use serde_json::{Map, Value};

/// Reads each source once; standard input can be read by one flag only.
#[derive(Default)]
pub struct Inputs {
    stdin_taken_by: Option<&'static str>,
}

impl Inputs {
    /// `flag` names the source in errors.
    pub fn bytes(&mut self, flag: &'static str, source: &str, limit: u64) -> Result<Vec<u8>> {
        if source != "-" {
            let file = File::open(source).with_context(|| format!("{flag} {source}: cannot be read"))?;
            return bounded(file, limit).with_context(|| format!("{flag} {source}"));
        }
        if let Some(other) = self.stdin_taken_by.replace(flag) {
            bail!("{other} and {flag} cannot both read standard input: put one of them into a file");
        }
        stdin(limit).with_context(|| flag.to_owned())
    }

    pub fn text(&mut self, flag: &'static str, source: &str, limit: u64) -> Result<String> {
        let bytes = self.bytes(flag, source, limit)?;
        String::from_utf8(bytes)
            .ok()
            .with_context(|| format!("{flag} {source}: is not UTF-8 text"))
    }

    pub fn object(&mut self, flag: &'static str, source: &str, limit: u64) -> Result<Map<String, Value>> {
        let bytes = self.bytes(flag, source, limit)?;
        match json::parse(&bytes).with_context(|| format!("{flag} {source}"))? {
            Value::Object(object) => Ok(object),
            _ => bail!("{flag} {source}: must hold a JSON object"),
        }
    }
}

pub fn stdin(limit: u64) -> Result<Vec<u8>> {
    bounded(io::stdin().lock(), limit).context("standard input")
}

/// Reads at most `limit` bytes and leaves the rest.
pub fn beginning_of_stdin(limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut bytes)
        .context("standard input cannot be read")?;
    Ok(bytes)
}

fn bounded(source: impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .context("it cannot be read")?;
    if bytes.len() as u64 > limit {
        bail!("it is longer than {limit} bytes");
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_source_is_read_up_to_its_limit() {
        let error = bounded(io::repeat(b'x'), 10).unwrap_err().to_string();
        assert_eq!(error, "it is longer than 10 bytes");
        assert_eq!(bounded(&b"0123456789"[..], 10).unwrap().len(), 10);
    }

    #[test]
    fn standard_input_has_one_reader() {
        let mut inputs = Inputs {
            stdin_taken_by: Some("--state"),
        };
        let error = inputs.bytes("--body-file", "-", 1).unwrap_err().to_string();
        assert!(error.starts_with("--state and --body-file cannot both"), "{error}");
    }

    #[test]
    fn a_missing_file_is_named_with_its_flag() {
        let error = format!(
            "{:#}",
            Inputs::default()
                .text("--body-file", "/nonexistent/body", 1)
                .unwrap_err()
        );
        assert!(
            error.starts_with("--body-file /nonexistent/body: cannot be read: "),
            "{error}"
        );
    }
}
